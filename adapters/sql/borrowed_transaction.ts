/**
 * Somebody else's open transaction: the caller begins and ends it.
 *
 * @module
 */

import type { SqlResult, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
import { assertSqlValues } from "./values.ts";

/** Runs one statement in the transaction. */
export type RunStatement = (text: string, params: readonly SqlValue[]) => Promise<SqlResult>;

/** A session whose statements run in the transaction of a query builder. */
export class BorrowedTransaction implements SqlSession {
  readonly inTransaction = true;
  readonly #run: RunStatement;

  constructor(run: RunStatement) {
    this.#run = run;
  }

  async query(text: string, params: readonly SqlValue[] = []): Promise<SqlResult> {
    assertSqlValues(params);
    return await this.#run(text, params);
  }

  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    return await work(this);
  }
}
