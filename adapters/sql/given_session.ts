/**
 * A transaction as the caller hands it in: a session, or a driver's own handle.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";

/** Whether a value is a session and no handle of a driver, some of which have methods of the same names. */
export function isSqlSession(value: object): value is SqlSession {
  return "query" in value && "transaction" in value && "inTransaction" in value && !("prepare" in value);
}

/** Refuses a session on which no transaction is open: what is written there would be committed by itself. */
export function assertInTransaction(session: SqlSession): SqlSession {
  if (session.inTransaction === true) return session;
  const found = session.inTransaction === false
    ? "no transaction is open on it"
    : "its driver does not tell whether a transaction is open; say so by 'postgresSession(handle, { inTransaction: true })'";
  throw new TypeError(`Cannot use the handle as a transaction: ${found}`);
}
