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
import { sqliteOutboxStore } from "../../adapters/sqlite/mod.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { OutboxStore } from "../../src/ports/outbox_store.ts";

export const POSTGRES_URL: string = process.env["ACEMQ_POSTGRES_URL"] ??
  "postgres://acemq:acemq@127.0.0.1:5432/acemq";

/** An outbox of its own, and what is done with it. */
export interface BenchOutbox {
  /** Made for the relay. */
  readonly store: OutboxStore;
  /** Commits one message, as another process would: the relay's store hears nothing of it. */
  readonly addElsewhere: (outbound: Outbound) => Promise<void>;
  /** Commits one message by the relay's store. */
  readonly addHere: (outbound: Outbound) => Promise<void>;
  /** Empties the table, and writes these. */
  readonly fill: (outbounds: readonly Outbound[]) => Promise<void>;
}

/** A database that any number of outboxes are made in. */
export interface BenchDatabase {
  readonly title: string;
  readonly open: (table: string) => Promise<BenchOutbox>;
  readonly close: () => Promise<void>;
}

/** Rows of one statement. */
const CHUNK = 1_000;

/** In a schema of its own. */
export async function postgresDatabase(): Promise<BenchDatabase> {
  const schema = `acemq_bench_${process.pid}`;
  const sql = postgres(POSTGRES_URL, { max: 6, onnotice: () => {}, connection: { search_path: schema } });
  await sql.unsafe(`CREATE SCHEMA ${schema}`);
  return {
    title: "PostgreSQL",
    open: async (table) => {
      const store = postgresOutboxStore(sql, { table });
      const elsewhere = postgresOutboxStore(sql, { table });
      await store.createSchemaIfAbsent();
      const write = (by: typeof store) => async (outbound: Outbound): Promise<void> => {
        await sql.begin((tx) => by.add(tx, outbound));
      };
      const fill = async (outbounds: readonly Outbound[]): Promise<void> => {
        await sql.unsafe(`TRUNCATE ${table}`);
        await inChunks(outbounds, (chunk) => store.addAll(sql, chunk, { outsideTransaction: true }));
      };
      return { store, addHere: write(store), addElsewhere: write(elsewhere), fill };
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
  const handles: DatabaseSync[] = [];
  const handle = (): DatabaseSync => {
    const database = new DatabaseSync(join(folder, "outbox.sqlite"));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    handles.push(database);
    return database;
  };
  return {
    title: "SQLite",
    open: async (table) => {
      const callers = handle();
      const store = sqliteOutboxStore(handle(), { table });
      const elsewhere = sqliteOutboxStore(handle(), { table });
      await store.createSchemaIfAbsent();
      const write = (by: typeof store) => async (outbound: Outbound): Promise<void> => {
        callers.exec("BEGIN IMMEDIATE");
        await by.add(callers, outbound);
        callers.exec("COMMIT");
      };
      const fill = async (outbounds: readonly Outbound[]): Promise<void> => {
        callers.exec(`DELETE FROM ${table}`);
        await inChunks(outbounds, (chunk) => store.addAll(callers, chunk, { outsideTransaction: true }));
      };
      return { store, addHere: write(store), addElsewhere: write(elsewhere), fill };
    },
    close: () => {
      for (const database of handles) database.close();
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

async function inChunks(
  outbounds: readonly Outbound[],
  write: (chunk: readonly Outbound[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < outbounds.length; from += CHUNK) await write(outbounds.slice(from, from + CHUNK));
}
