/**
 * An outbox in PostgreSQL.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { postgresDialect } from "../sql/dialect.ts";
import { assertInTransaction, isSqlSession } from "../sql/given_session.ts";
import { assertOutboxOptions, type SqlOutboxOptions } from "../sql/outbox_options.ts";
import { SqlOutboxStore } from "../sql/outbox_store.ts";
import type { PostgresHandle } from "./drivers.ts";
import { postgresSession } from "./session.ts";

/** An outbox in PostgreSQL. */
export type PostgresOutboxStore = SqlOutboxStore<PostgresHandle>;

/**
 * An outbox in PostgreSQL: a message is written in the transaction of the work it tells of, and a relay publishes it later. Any number of
 * replicas share the table. Leases run by the database's clock.
 *
 * `add` takes what the driver calls a transaction, or the session of one; of a connection reserved from `postgres` the driver does not
 * tell whether a transaction is open, so it takes `postgresSession(reserved, { inTransaction: true })`. The store's own statements, which
 * are the relay's, run on the handle given here: a root or a pool, not a connection somebody's transaction is open on.
 *
 * Price: a row more in the transaction, and as much of the table as the message is long, until it is purged.
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 * @throws {TypeError} the handle is neither of `postgres` nor of `pg`
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { postgresOutboxStore } from "@acemq/amqp/postgres";
 *
 * // Any object with the methods of the driver; in a program: `postgres("postgres://…")`.
 * const sql = { unsafe: () => Promise.reject(new Error("the database is away")), begin: () => Promise.reject() };
 * const outbox = postgresOutboxStore(sql);
 * await assert.rejects(outbox.stats(), { code: "ACEMQ_STORE" });
 * ```
 */
export function postgresOutboxStore(
  handle: PostgresHandle | SqlSession,
  options: SqlOutboxOptions = {},
): PostgresOutboxStore {
  assertOutboxOptions(options);
  const { clock } = options;
  const session = isSqlSession(handle) ? handle : postgresSession(handle, clock === undefined ? {} : { clock });
  const sessionOf = (tx: PostgresHandle | SqlSession, { outside }: { readonly outside: boolean }): SqlSession => {
    const given = isSqlSession(tx) ? tx : postgresSession(tx);
    return outside ? given : assertInTransaction(given);
  };
  return new SqlOutboxStore({ session, dialect: postgresDialect(), sessionOf }, options);
}
