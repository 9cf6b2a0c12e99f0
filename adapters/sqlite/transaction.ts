/**
 * The transaction a caller hands in.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { assertInTransaction, isSqlSession } from "../sql/given_session.ts";
import { Turns } from "../sql/turns.ts";
import { assertSqliteDatabase, type SqliteDatabase } from "./database.ts";
import { openSqliteTransaction } from "./session.ts";

/** The session of a transaction that is open on a handle. */
export function sqliteTransaction(tx: SqliteDatabase | SqlSession): SqlSession {
  if (isSqlSession(tx)) return assertInTransaction(tx);
  assertSqliteDatabase(tx);
  if (Turns.of(tx).isInTransaction) {
    throw new TypeError(
      "Cannot use the handle as a transaction: a session began the one that is open; hand in the session its work was given",
    );
  }
  return assertInTransaction(openSqliteTransaction(tx));
}
