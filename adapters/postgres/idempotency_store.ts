/**
 * Claims in PostgreSQL.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { postgresDialect } from "../sql/dialect.ts";
import { assertInTransaction, isSqlSession } from "../sql/given_session.ts";
import { assertIdempotencyOptions, type SqlIdempotencyOptions } from "../sql/idempotency_options.ts";
import { SqlIdempotencyStore } from "../sql/idempotency_store.ts";
import type { PostgresHandle } from "./drivers.ts";
import { postgresSession } from "./session.ts";

/** A store of claims in PostgreSQL. */
export type PostgresIdempotencyStore = SqlIdempotencyStore<PostgresHandle>;

/**
 * A store of claims in PostgreSQL: any number of replicas share it, in any language. Leases run by the database's clock.
 *
 * Price: a claim and a confirmation are a statement each, committed by itself.
 *
 * @throws {RangeError} an option out of range
 * @throws {TypeError} the handle is neither of `postgres` nor of `pg`; an option that there is not, or of another type
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { postgresIdempotencyStore } from "@acemq/amqp/postgres";
 *
 * // Any object with the methods of the driver; in a program: `postgres("postgres://…")`.
 * const sql = { unsafe: () => Promise.reject(new Error("the database is away")), begin: () => Promise.reject() };
 * const seen = postgresIdempotencyStore(sql);
 * await assert.rejects(seen.tryClaim("6f1d"), { code: "ACEMQ_STORE" });
 * ```
 */
export function postgresIdempotencyStore(
  handle: PostgresHandle | SqlSession,
  options: SqlIdempotencyOptions = {},
): PostgresIdempotencyStore {
  assertIdempotencyOptions(options);
  const { clock } = options;
  const session = isSqlSession(handle) ? handle : postgresSession(handle, clock === undefined ? {} : { clock });
  const sessionOf = (tx: PostgresHandle | SqlSession): SqlSession =>
    assertInTransaction(isSqlSession(tx) ? tx : postgresSession(tx));
  return new SqlIdempotencyStore({ session, dialect: postgresDialect(), sessionOf }, options);
}
