/**
 * A session over a transaction of Knex.
 *
 * @module
 */

import type { SqlResult, SqlSession } from "../../src/ports/sql_session.ts";
import { BorrowedTransaction } from "./borrowed_transaction.ts";

/** The part of Knex's `Transaction` used here. */
export interface KnexTransaction {
  /** True in a transaction. */
  readonly isTransaction?: boolean | undefined;
  /** Runs SQL with question marks for placeholders. */
  raw(text: string, bindings: never): PromiseLike<unknown>;
}

/**
 * A session over the `trx` of `knex.transaction(async (trx) => …)` on PostgreSQL: what runs on it is committed or rolled back with it.
 *
 * @throws {TypeError} a `knex` that is no transaction
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { knexSession } from "@acemq/amqp/sql";
 *
 * assert.throws(() => knexSession({ isTransaction: false, raw: () => Promise.reject() }), TypeError);
 * ```
 */
export function knexSession(trx: KnexTransaction): SqlSession {
  if (trx?.isTransaction !== true) {
    throw new TypeError("Cannot make a session of Knex: the 'trx' of an open transaction is wanted");
  }
  return new BorrowedTransaction(async (text, params) => {
    const bindings = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => params[Number(number) - 1]);
    // Knex writes the placeholders itself, in the order of its question marks.
    const asKnexWants = text.replaceAll("?", "\\?").replaceAll(/\$\d+/g, "?");
    return resultOf(await trx.raw(asKnexWants, bindings as never));
  });
}

function resultOf(result: unknown): SqlResult {
  const { rows, rowCount } = result as { readonly rows: SqlResult["rows"]; readonly rowCount: number | null };
  return { rows, changes: rowCount ?? 0 };
}
