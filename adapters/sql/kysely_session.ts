/**
 * A session over a transaction of Kysely.
 *
 * @module
 */

import type { SqlResult, SqlSession } from "../../src/ports/sql_session.ts";
import { BorrowedTransaction } from "./borrowed_transaction.ts";

/** The part of Kysely's `Transaction` used here. */
export interface KyselyTransaction {
  /** True in a transaction. */
  readonly isTransaction: boolean;
  /** What runs compiled queries. */
  getExecutor(): {
    executeQuery(
      query: never,
    ): Promise<{ readonly rows: readonly unknown[]; readonly numAffectedRows?: bigint | undefined }>;
  };
}

/**
 * A session over the `trx` of `db.transaction().execute(async (trx) => …)`: what runs on it is committed or rolled back with it.
 * Statements are handed on as they are; Kysely's plugins may rename columns, but not ours.
 *
 * @throws {TypeError} a `Kysely` that is no transaction
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { kyselySession } from "@acemq/amqp/sql";
 *
 * assert.throws(() => kyselySession({ isTransaction: false, getExecutor: () => ({ executeQuery: () => Promise.reject() }) }), TypeError);
 * ```
 */
export function kyselySession(trx: KyselyTransaction): SqlSession {
  if (trx?.isTransaction !== true) {
    throw new TypeError("Cannot make a session of Kysely: the 'trx' of an open transaction is wanted");
  }
  return new BorrowedTransaction(async (text, params) => {
    const result = await trx.getExecutor().executeQuery(rawQuery(text, params) as never);
    const rows = result.rows as SqlResult["rows"];
    return { rows, changes: result.numAffectedRows === undefined ? rows.length : Number(result.numAffectedRows) };
  });
}

/** What `CompiledQuery.raw` makes. */
function rawQuery(text: string, params: readonly unknown[]): object {
  return {
    sql: text,
    parameters: params,
    query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
    queryId: { queryId: "acemq" },
  };
}
