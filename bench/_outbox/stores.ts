/**
 * The databases that rows wait in.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import { postgresOutboxStore } from "../../adapters/postgres/mod.ts";
import { sqliteOutboxStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { OutboxStore } from "../../src/ports/outbox_store.ts";

export const POSTGRES_URL: string = process.env["ACEMQ_POSTGRES_URL"] ??
  "postgres://acemq:acemq@127.0.0.1:5432/acemq";

/** An outbox of its own, and what is done with it. */
export interface BenchOutbox {
  /** Made for the relay. */
  readonly store: OutboxStore;
  /** Commits a message in a transaction of its own. */
  readonly add: (outbound: Outbound) => Promise<void>;
  /** The same by a store of its own, as another process would; undefined where nobody tells the relay of that. */
  readonly addElsewhere?: (outbound: Outbound) => Promise<void>;
  /** Empties the table, and writes these. */
  readonly fill: (outbounds: readonly Outbound[]) => Promise<void>;
}

/** A database that any number of outboxes are made in. */
export interface BenchDatabase {
  readonly title: string;
  /** Where another process finds it: see {@linkcode storeAt}. */
  readonly address: string;
  readonly open: (table: string) => Promise<BenchOutbox>;
  readonly close: () => Promise<void>;
}

/** Rows of one statement. */
const CHUNK = 1_000;

/** In a schema of its own. */
export async function postgresDatabase(): Promise<BenchDatabase> {
  const schema = `acemq_bench_${process.pid}`;
  const sql = inSchema(schema);
  await sql.unsafe(`CREATE SCHEMA ${schema}`);
  return {
    title: "PostgreSQL",
    address: `postgres:${schema}`,
    open: async (table) => {
      const store = postgresOutboxStore(sql, { table });
      await store.createSchemaIfAbsent();
      const elsewhere = postgresOutboxStore(sql, { table });
      const addBy = (by: typeof store) => async (outbound: Outbound): Promise<void> =>
        void await sql.begin((tx) => by.add(tx, outbound));
      const fill = async (outbounds: readonly Outbound[]): Promise<void> => {
        await sql.unsafe(`TRUNCATE ${table}`);
        await inChunks(outbounds, (chunk) => store.addAll(sql, chunk, { outsideTransaction: true }));
      };
      return { store, add: addBy(store), addElsewhere: addBy(elsewhere), fill };
    },
    close: async () => {
      await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
      await sql.end();
    },
  };
}

/** In a file with WAL and `synchronous = NORMAL`. */
export function sqliteDatabase(): BenchDatabase {
  const folder = mkdtempSync(join(tmpdir(), "acemq-bench-"));
  const path = join(folder, "outbox.sqlite");
  const handles: DatabaseSync[] = [];
  const handle = (): DatabaseSync => {
    const database = fileAt(path);
    handles.push(database);
    return database;
  };
  return {
    title: "SQLite",
    address: `sqlite:${path}`,
    open: async (table) => {
      const callers = handle();
      const store = sqliteOutboxStore(handle(), { table });
      await store.createSchemaIfAbsent();
      const session = sqliteSession(callers);
      const add = (outbound: Outbound): Promise<void> => session.transaction((tx) => store.add(tx, outbound));
      const fill = async (outbounds: readonly Outbound[]): Promise<void> => {
        callers.exec(`DELETE FROM ${table}`);
        await inChunks(outbounds, (chunk) => store.addAll(callers, chunk, { outsideTransaction: true }));
      };
      return { store, add, fill };
    },
    close: () => {
      for (const database of handles) database.close();
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

/** The outbox of a table, opened by another process; `close` it before the table goes. */
export function storeAt(address: string, table: string): { readonly store: OutboxStore; close(): Promise<void> } {
  const [kind, where = ""] = address.split(/:(.*)/s);
  if (kind === "postgres") {
    const sql = inSchema(where);
    return { store: postgresOutboxStore(sql, { table }), close: () => sql.end() };
  }
  const database = fileAt(where);
  return { store: sqliteOutboxStore(database, { table }), close: async () => database.close() };
}

function inSchema(schema: string): postgres.Sql {
  return postgres(POSTGRES_URL, { max: 6, onnotice: () => {}, connection: { search_path: schema } });
}

function fileAt(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  return database;
}

async function inChunks(
  outbounds: readonly Outbound[],
  write: (chunk: readonly Outbound[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < outbounds.length; from += CHUNK) await write(outbounds.slice(from, from + CHUNK));
}
