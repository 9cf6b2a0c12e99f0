/**
 * A database of one test that several processes share: a SQLite file, or a schema of PostgreSQL.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import { postgresSession } from "../../adapters/postgres/mod.ts";
import { sqliteSession } from "../../adapters/sqlite/mod.ts";
import { randomUuid } from "../../src/clock.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { POSTGRES_URL } from "./services.ts";

/** A database that processes can share. */
export type SharedDatabaseKind = "SQLite" | "PostgreSQL";

/** What a process has of it. */
export interface SharedDatabase {
  readonly kind: SharedDatabaseKind;
  readonly session: SqlSession;
  /** Another way to it, as another handle or another connection is; closed with it. */
  readonly another: () => SqlSession;
  /** The name of a table there. */
  readonly table: (name: string) => string;
  /** How the first parameter is written. */
  readonly parameter: "?" | "$1";
  /** SQL for an instant of a column in seconds since 1970. */
  readonly seconds: (column: string) => string;
  readonly close: () => Promise<void>;
}

/** A database that was made for a test; another process opens it by `address`. */
export interface MadeDatabase extends SharedDatabase {
  readonly address: string;
  /** Waits until the database knows that a process is gone, and has undone what that had not committed. */
  readonly isRidOf: (pid: number) => Promise<boolean>;
}

/** Makes one, empty; closing removes it. */
export async function makeSharedDatabase(kind: SharedDatabaseKind): Promise<MadeDatabase> {
  const folder = kind === "SQLite" ? mkdtempSync(join(tmpdir(), "acemq-shared-")) : undefined;
  const schema = `acemq_${randomUuid().replaceAll("-", "")}`;
  const address = folder === undefined ? schema : join(folder, "shared.sqlite");
  const database = openSharedDatabase(address);
  const { session } = database;
  await session.query(folder === undefined ? `CREATE SCHEMA ${schema}` : "PRAGMA journal_mode = WAL");
  const close = async (): Promise<void> => {
    if (folder === undefined) await session.query(`DROP SCHEMA ${schema} CASCADE`);
    await database.close();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  };
  // A file's locks end with the process that had them.
  const isRidOf = async (pid: number): Promise<boolean> => {
    const ask = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1";
    return kind === "SQLite" || (await session.query(ask, [applicationName(pid)])).rows.length === 0;
  };
  return { ...database, address, isRidOf, close };
}

/** Opens what {@linkcode makeSharedDatabase} made, here or in another process. */
export function openSharedDatabase(address: string): SharedDatabase {
  return address.endsWith(".sqlite") ? openFile(address) : openSchema(address);
}

function openFile(address: string): SharedDatabase {
  const handles: DatabaseSync[] = [];
  const another = (): SqlSession => {
    const handle = new DatabaseSync(address, { timeout: 0 });
    handles.push(handle);
    return sqliteSession(handle);
  };
  return {
    kind: "SQLite",
    session: another(),
    another,
    table: (name) => name,
    parameter: "?",
    seconds: (column) => `(julianday(${column}) - 2440587.5) * 86400`,
    close: async () => handles.forEach((handle) => handle.close()),
  };
}

function openSchema(address: string): SharedDatabase {
  const connection = { application_name: applicationName(process.pid) };
  const sql = postgres(POSTGRES_URL, { max: 4, onnotice: () => {}, connection });
  const session = postgresSession(sql);
  return {
    kind: "PostgreSQL",
    session,
    another: () => session,
    table: (name) => `${address}.${name}`,
    parameter: "$1",
    seconds: (column) => `extract(epoch FROM ${column})::float8`,
    close: () => sql.end({ timeout: 5 }),
  };
}

function applicationName(pid: number): string {
  return `acemq-test-${pid}`;
}
