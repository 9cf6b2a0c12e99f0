/**
 * A SQL session over a SQLite handle.
 *
 * @module
 */

import { type Clock, systemClock } from "../../src/clock.ts";
import { assertFiniteNumber } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { ConnectionSession, TransactionSession } from "../sql/connection_session.ts";
import { sqliteConnection, type SqliteDatabase } from "./database.ts";

/** How a session uses its handle. */
export interface SqliteSessionOptions {
  /**
   * How long a statement waits for a lock of another process, milliseconds. The wait does not block the event loop, which SQLite's own
   * `busy_timeout` does: keep that one short. @default {5_000}
   */
  readonly busyTimeoutMs?: number;
  /** Waits run by it. @default {systemClock()} */
  readonly clock?: Clock;
}

const KINDS: Readonly<OptionKinds<SqliteSessionOptions>> = { busyTimeoutMs: "checked", clock: "object" };

/**
 * A session over an open handle of `node:sqlite`, or one that has the same methods. The caller opens and closes it.
 *
 * One handle is one connection, so statements and transactions take turns, over all sessions of the handle: a statement of another task
 * never joins an open transaction. A transaction begun by hand (`db.exec("BEGIN")`) is waited for, too.
 *
 * Price: SQLite's calls are synchronous; each blocks the event loop for as long as it runs.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { DatabaseSync } from "node:sqlite";
 * import { sqliteSession } from "@acemq/amqp/sqlite";
 *
 * const session = sqliteSession(new DatabaseSync(":memory:"));
 * await session.query("CREATE TABLE orders (id TEXT)");
 * await session.transaction(async (tx) => {
 *   await tx.query("INSERT INTO orders VALUES (?)", ["A-19"]);
 * });
 * assert.equal((await session.query("SELECT id FROM orders")).rows[0]?.id, "A-19");
 * ```
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 */
export function sqliteSession(database: SqliteDatabase, options: SqliteSessionOptions = {}): SqlSession {
  assertOptions("a session", options, KINDS);
  const { busyTimeoutMs = 5_000, clock = systemClock() } = options;
  assertFiniteNumber("busyTimeoutMs", busyTimeoutMs, 0);
  return new ConnectionSession(sqliteConnection(database), { clock, busyTimeoutMs });
}

/** The transaction that is open on a handle right now; the caller knows that it is the caller's. */
export function openSqliteTransaction(database: SqliteDatabase): SqlSession {
  return new TransactionSession(sqliteConnection(database));
}
