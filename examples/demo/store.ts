/**
 * Where the flow remembers what it has handled.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { IdempotencyStore } from "@acemq/amqp";
import { postgresIdempotencyStore } from "@acemq/amqp/postgres";
import { sqliteIdempotencyStore } from "@acemq/amqp/sqlite";

/** A store, and what belongs to it. */
export interface DemoStore {
  readonly title: string;
  readonly seen: IdempotencyStore;
  /** Closes the database, and removes what nobody asked to keep. */
  close(): Promise<void>;
}

/** What the command line says about it. */
export interface StoreChoice {
  /** Undefined for a temporary file. */
  readonly sqlitePath: string | undefined;
  readonly postgresUrl: URL | undefined;
}

/** A service waits a second; a demonstration has less. */
const IN_PROGRESS_DELAY_MS = 100;

/** The orders of every run have the same ids, so each run remembers them in a table of its own. */
function options(): { readonly table: string; readonly inProgressDelayMs: number } {
  return { table: `acemq_demo_${randomUUID().slice(0, 8)}`, inProgressDelayMs: IN_PROGRESS_DELAY_MS };
}

export async function openStore({ sqlitePath, postgresUrl }: StoreChoice): Promise<DemoStore> {
  if (postgresUrl !== undefined) return await postgresStore(postgresUrl);
  if (sqlitePath !== undefined) return await sqliteStore(sqlitePath, `the SQLite file ${sqlitePath}`);
  const folder = mkdtempSync(join(tmpdir(), "acemq-demo-"));
  const store = await sqliteStore(join(folder, "orders.sqlite"), "a SQLite file");
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
  return { ...store, close };
}

/** In a file that was named, the table stays, to be looked at. */
async function sqliteStore(path: string, place: string): Promise<DemoStore> {
  const database = openFile(path);
  const wanted = options();
  const seen = sqliteIdempotencyStore(database, wanted);
  await seen.createSchemaIfAbsent();
  return { title: `the table ${wanted.table} of ${place}`, seen, close: async () => database.close() };
}

function openFile(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return database;
  } catch (error) {
    throw new Error(`Cannot use the SQLite file ${path}: ${reasonOf(error)}`);
  }
}

async function postgresStore(url: URL): Promise<DemoStore> {
  // Only who asks for PostgreSQL needs its driver.
  const { default: postgres } = await import("postgres");
  const sql = postgres(url.href, { onnotice: () => {} });
  const wanted = options();
  const seen = postgresIdempotencyStore(sql, wanted);
  const end = (): Promise<void> => sql.end({ timeout: 5 });
  try {
    await seen.createSchemaIfAbsent();
  } catch (error) {
    await end();
    throw new Error(`Cannot use PostgreSQL at ${url.host}: ${reasonOf(error)}`);
  }
  const close = async (): Promise<void> => {
    await sql.unsafe(`DROP TABLE ${wanted.table}`);
    await end();
  };
  return { title: `the table ${wanted.table} of PostgreSQL at ${url.host}`, seen, close };
}

/** A store keeps the words of the driver in its cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}
