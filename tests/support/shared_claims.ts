/**
 * Claims that several processes share, with a table of effects beside them: whoever works leaves a row there.
 *
 * @module
 */
import { postgresIdempotencyStore } from "../../adapters/postgres/mod.ts";
import {
  type SqlIdempotencyOptions,
  type SqlIdempotencyStore,
  sqliteIdempotencyStore,
} from "../../adapters/sqlite/mod.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import {
  makeSharedDatabase,
  openSharedDatabase,
  type SharedDatabase,
  type SharedDatabaseKind,
} from "./shared_database.ts";

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
export async function makeSharedClaims(kind: SharedDatabaseKind): Promise<MadeClaims> {
  const database = await makeSharedDatabase(kind);
  const claims = claimsIn(database, {});
  await claims.store.createSchemaIfAbsent();
  await database.session.query(`CREATE TABLE ${database.table("effects")} (id VARCHAR(255) NOT NULL)`);
  return { ...claims, address: database.address };
}

/** Opens what {@linkcode makeSharedClaims} made, here or in another process. */
export function openSharedClaims(address: string, options: SqlIdempotencyOptions = {}): SharedClaims {
  return claimsIn(openSharedDatabase(address), options);
}

function claimsIn(database: SharedDatabase, options: SqlIdempotencyOptions): SharedClaims {
  const { kind, session, table, parameter, seconds, close } = database;
  const [effects, claims] = [table("effects"), table("acemq_idempotency")];
  const make = kind === "SQLite" ? sqliteIdempotencyStore : postgresIdempotencyStore;
  return {
    session,
    store: make(session, { ...options, table: claims }),
    work: async (on, id) => void await on.query(`INSERT INTO ${effects} (id) VALUES (${parameter})`, [id]),
    effects: async () =>
      (await session.query(`SELECT id FROM ${effects} ORDER BY id`)).rows.map(({ id }) => String(id)),
    leaseEnd: async (id) => {
      const ask = `SELECT ${
        seconds("expires_at")
      } AS at FROM ${claims} WHERE message_id = ${parameter} AND state = 'CLAIMED'`;
      const { rows: [row] } = await session.query(ask, [id]);
      return row === undefined ? undefined : 1_000 * Number(row["at"]);
    },
    close,
  };
}
