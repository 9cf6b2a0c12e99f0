/**
 * An outbox that several processes share, with a table of orders beside it: whoever announces an order leaves it there.
 *
 * @module
 */
import { postgresOutboxStore } from "../../adapters/postgres/mod.ts";
import { sqliteOutboxStore, type SqlOutboxStore } from "../../adapters/sqlite/mod.ts";
import { HEADER_ID } from "../../src/message/header_names.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import {
  type MadeDatabase,
  makeSharedDatabase,
  openSharedDatabase,
  type SharedDatabase,
  type SharedDatabaseKind,
} from "./shared_database.ts";

/** What a process has of it. */
export interface SharedOutbox {
  readonly session: SqlSession;
  /** Its own statements go another way than those of `session`. */
  readonly store: Pick<SqlOutboxStore<SqlSession>, keyof SqlOutboxStore<SqlSession>>;
  /** Leaves an order on the session of a transaction, within it. */
  readonly order: (tx: SqlSession, id: string) => Promise<void>;
  /** Every order, sorted. */
  readonly orders: () => Promise<readonly string[]>;
  /** Rows that are not published and that a relay has had in hand since. */
  readonly inHand: () => Promise<readonly string[]>;
  /** Updates of rows so far, on PostgreSQL: a little late. */
  readonly updates: () => Promise<number>;
  /** When the last lease ends, milliseconds since 1970; undefined when nobody has one. */
  readonly leaseEnd: () => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

/** An outbox that was made for a test; another process opens it by `address`. */
export interface MadeOutbox extends SharedOutbox, Pick<MadeDatabase, "address" | "isRidOf"> {}

/** Makes one, empty; closing removes it. */
export async function makeSharedOutbox(kind: SharedDatabaseKind): Promise<MadeOutbox> {
  const database = await makeSharedDatabase(kind);
  const outbox = outboxIn(database);
  await outbox.store.createSchemaIfAbsent();
  await database.session.query(`CREATE TABLE ${database.table("orders")} (id VARCHAR(64) PRIMARY KEY)`);
  return { ...outbox, address: database.address, isRidOf: database.isRidOf };
}

/** Opens what {@linkcode makeSharedOutbox} made, here or in another process. */
export function openSharedOutbox(address: string): SharedOutbox {
  return outboxIn(openSharedDatabase(address));
}

function outboxIn(database: SharedDatabase): SharedOutbox {
  const { kind, session, table, parameter, seconds, close } = database;
  const [orders, outbox] = [table("orders"), table("acemq_outbox")];
  const make = kind === "SQLite" ? sqliteOutboxStore : postgresOutboxStore;
  const idsOf = async (text: string): Promise<readonly string[]> =>
    (await session.query(text)).rows.map(({ id }) => String(id)).sort();
  return {
    session,
    store: make(database.another(), { table: outbox }),
    order: async (tx, id) => void await tx.query(`INSERT INTO ${orders} (id) VALUES (${parameter})`, [id]),
    orders: () => idsOf(`SELECT id FROM ${orders}`),
    inHand: () => idsOf(`SELECT id FROM ${outbox} WHERE published_at IS NULL AND locked_by IS NOT NULL`),
    updates: async () => {
      const ask = "SELECT n_tup_upd::float8 AS n FROM pg_stat_user_tables WHERE relid = $1::regclass";
      return Number((await session.query(ask, [outbox])).rows[0]?.["n"]);
    },
    leaseEnd: async () => {
      const ask = `SELECT max(${seconds("locked_until")}) AS at FROM ${outbox} WHERE published_at IS NULL`;
      const { rows: [row] } = await session.query(ask);
      return row === undefined || row["at"] === null ? undefined : 1_000 * Number(row["at"]);
    },
    close,
  };
}

/** The announcement of an order. */
export function announcement(id: string, queue: string, body: Uint8Array = new TextEncoder().encode(id)): Outbound {
  return {
    exchange: "",
    routingKey: queue,
    body,
    contentType: "text/plain",
    messageId: id,
    headers: { [HEADER_ID]: id },
    persistent: true,
    mandatory: true,
  };
}
