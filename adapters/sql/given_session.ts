/**
 * A transaction as the caller hands it in: a session, or a driver's own handle.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";

/** Whether a value is a session and no handle of a driver, some of which have methods of the same names. */
export function isSqlSession(value: unknown): value is SqlSession {
  return hasMembers(value) && "query" in value && "transaction" in value && "inTransaction" in value &&
    !("prepare" in value);
}

/** Whether a value can be a handle at all. What is put in its place may be a URL with a password: it is told by its kind alone. */
export function hasMembers(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** Refuses a session on which no transaction is open: what is written there would be committed by itself. */
export function assertInTransaction(session: SqlSession): SqlSession {
  if (session.inTransaction === true) return session;
  const found = session.inTransaction === false
    ? "no transaction is open on it"
    : "its driver does not tell whether a transaction is open; say so by 'postgresSession(handle, { inTransaction: true })'";
  throw new TypeError(`Cannot use the handle as a transaction: ${found}`);
}
