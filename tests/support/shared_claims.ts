/**
 * Claims that several processes share, with a table of effects beside them: whoever works leaves a row there.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import { postgresIdempotencyStore, postgresSession } from "../../adapters/postgres/mod.ts";
import {
  type SqlIdempotencyOptions,
  type SqlIdempotencyStore,
  sqliteIdempotencyStore,
  sqliteSession,
} from "../../adapters/sqlite/mod.ts";
import { randomUuid } from "../../src/clock.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { POSTGRES_URL } from "./services.ts";

/** A database that processes can share. */
export type SharedDatabase = "SQLite" | "PostgreSQL";

/** What a process has of them. */
export interface SharedClaims {
  readonly session: SqlSession;
  readonly store: Pick<SqlIdempotencyStore<never>, keyof SqlIdempotencyStore<never>>;
  /** Leaves a row; on the session of a transaction, within it. */
  readonly work: (session: SqlSession, id: string) => Promise<void>;
  /** Every row that was left, in order. */
  readonly effects: () => Promise<readonly string[]>;
  /** When a claim ends, milliseconds since 1970; undefined when nobody has one. */
  readonly leaseEnd: (id: string) => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

/** Claims that were made for a test; another process opens them by `address`. */
export interface MadeClaims extends SharedClaims {
  readonly address: string;
}

/** Makes them, empty; closing removes them. */
export async function makeSharedClaims(database: SharedDatabase): Promise<MadeClaims> {
  const folder = database === "SQLite" ? mkdtempSync(join(tmpdir(), "acemq-claims-")) : undefined;
  const schema = `acemq_${randomUuid().replaceAll("-", "")}`;
  const address = folder === undefined ? schema : join(folder, "claims.sqlite");
  const claims = openSharedClaims(address);
  const { session, store } = claims;
  await session.query(folder === undefined ? `CREATE SCHEMA ${schema}` : "PRAGMA journal_mode = WAL");
  await store.createSchemaIfAbsent();
  await session.query(`CREATE TABLE ${tableOf(address, "effects")} (id VARCHAR(255) NOT NULL)`);
  const close = async (): Promise<void> => {
    if (folder === undefined) await session.query(`DROP SCHEMA ${schema} CASCADE`);
    await claims.close();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  };
  return { ...claims, address, close };
}

/** Opens what {@linkcode makeSharedClaims} made, here or in another process. */
export function openSharedClaims(address: string, options: SqlIdempotencyOptions = {}): SharedClaims {
  const table = tableOf(address, "acemq_idempotency");
  if (isFile(address)) {
    const database = new DatabaseSync(address, { timeout: 0 });
    const session = sqliteSession(database);
    const store = sqliteIdempotencyStore(session, { ...options, table });
    const close = async (): Promise<void> => database.close();
    return { session, store, ...asking(address, session, "?"), close };
  }
  const sql = postgres(POSTGRES_URL, { max: 4, onnotice: () => {} });
  const session = postgresSession(sql);
  const store = postgresIdempotencyStore(session, { ...options, table });
  return { session, store, ...asking(address, session, "$1"), close: () => sql.end({ timeout: 5 }) };
}

function asking(
  address: string,
  session: SqlSession,
  parameter: string,
): Omit<SharedClaims, "session" | "store" | "close"> {
  const effects = tableOf(address, "effects");
  const claims = tableOf(address, "acemq_idempotency");
  const seconds = isFile(address)
    ? "(julianday(expires_at) - 2440587.5) * 86400"
    : "extract(epoch FROM expires_at)::float8";
  return {
    work: async (on, id) => void await on.query(`INSERT INTO ${effects} (id) VALUES (${parameter})`, [id]),
    effects: async () =>
      (await session.query(`SELECT id FROM ${effects} ORDER BY id`)).rows.map(({ id }) => String(id)),
    leaseEnd: async (id) => {
      const ask = `SELECT ${seconds} AS at FROM ${claims} WHERE message_id = ${parameter} AND state = 'CLAIMED'`;
      const { rows: [row] } = await session.query(ask, [id]);
      return row === undefined ? undefined : 1_000 * Number(row["at"]);
    },
  };
}

function isFile(address: string): boolean {
  return address.endsWith(".sqlite");
}

function tableOf(address: string, name: string): string {
  return isFile(address) ? name : `${address}.${name}`;
}
