/**
 * A SQL session over a handle of a PostgreSQL driver.
 *
 * @module
 */

import { type Clock, systemClock } from "../../src/clock.ts";
import { assertFiniteNumber } from "../../src/internal/assert_option.ts";
import { assertOptions, describeKind, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { ConnectionSession, type SqlConnection, TransactionSession } from "../sql/connection_session.ts";
import type { WaitOptions } from "../sql/turns.ts";
import { isPgClient, isPgPool, isPostgresJs, isPostgresJsRoot, type PostgresHandle } from "./drivers.ts";
import { pgConnection } from "./pg_connection.ts";
import { PgPoolSession, PostgresJsSession } from "./pool_sessions.ts";
import { postgresJsConnection } from "./postgres_js_connection.ts";

/** How a session uses its handle. */
export interface PostgresSessionOptions {
  /**
   * Whether a transaction is open on the handle. Needed only where the driver does not tell: a connection reserved from postgres.js,
   * and a client of `pg` before 8.18.
   */
  readonly inTransaction?: boolean;
  /** How long a statement waits for a transaction of another task on the same connection, milliseconds. @default {5_000} */
  readonly busyTimeoutMs?: number;
  /** Waits run by it. @default {systemClock()} */
  readonly clock?: Clock;
}

const KINDS: Readonly<OptionKinds<PostgresSessionOptions>> = {
  inTransaction: "boolean",
  busyTimeoutMs: "checked",
  clock: "object",
};

/**
 * A session over a handle of `postgres` (postgres.js) or `pg`: the root or a pool, a client, or a transaction that is open. The caller
 * opens and closes it.
 *
 * The handle is the transaction: given the `sql` inside `sql.begin`, or a client between `BEGIN` and `COMMIT`, statements belong to that
 * transaction. Statements are not prepared, so a pooler in transaction mode may stand in between.
 *
 * @throws {TypeError} the handle is of neither driver; an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { postgresSession } from "@acemq/amqp/postgres";
 *
 * // Any object with the methods of the driver; in a program: `postgres("postgres://…")`.
 * const sql = { unsafe: () => Promise.resolve(Object.assign([{ one: 1 }], { count: 1, command: "SELECT" })), begin: () => Promise.reject() };
 * assert.deepEqual(await postgresSession(sql).query("SELECT 1 AS one"), { rows: [{ one: 1 }], changes: 1 });
 * ```
 */
export function postgresSession(handle: PostgresHandle, options: PostgresSessionOptions = {}): SqlSession {
  assertOptions("a session", options, KINDS);
  const { busyTimeoutMs = 5_000, clock = systemClock(), inTransaction } = options;
  assertFiniteNumber("busyTimeoutMs", busyTimeoutMs, 0);
  const wait = { busyTimeoutMs, clock };
  if (isPostgresJs(handle)) {
    return isPostgresJsRoot(handle)
      ? new PostgresJsSession(handle)
      : sessionOn(postgresJsConnection(handle), wait, inTransaction);
  }
  if (isPgPool(handle)) return new PgPoolSession(handle, wait);
  if (!isPgClient(handle)) {
    throw new TypeError(
      `Cannot use the database handle: an open one of 'postgres' or 'pg' is wanted, found ${describeKind(handle)}`,
    );
  }
  return sessionOn(pgConnection(handle), wait, inTransaction);
}

/** A transaction that is open is the session; whether there is one, the caller's word counts before the driver's. */
function sessionOn(connection: SqlConnection, wait: WaitOptions, inTransaction: boolean | undefined): SqlSession {
  const isOpen = inTransaction ?? connection.isInTransaction();
  return isOpen === true ? new TransactionSession(connection) : new ConnectionSession(connection, wait);
}
