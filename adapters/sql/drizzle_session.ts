/**
 * A session over a transaction of Drizzle on PostgreSQL.
 *
 * @module
 */

import type { SqlResult, SqlSession } from "../../src/ports/sql_session.ts";
import { BorrowedTransaction } from "./borrowed_transaction.ts";

/** The part of Drizzle's `PgTransaction` used here. */
export interface DrizzleTransaction {
  /** Only a transaction has it. */
  rollback(): unknown;
  /** Where Drizzle keeps what is its own. */
  readonly _: { readonly session: unknown };
}

/** What Drizzle's session prepares and runs statements with. */
interface DrizzleSession {
  prepareQuery(
    query: { readonly sql: string; readonly params: readonly unknown[] },
    fields: undefined,
    name: undefined,
    isResponseInArrayMode: boolean,
  ): { execute(): Promise<unknown> };
}

/**
 * A session over the `tx` of `db.transaction(async (tx) => …)`, with `drizzle-orm/postgres-js` or `drizzle-orm/node-postgres`: what runs
 * on it is committed or rolled back with it.
 *
 * @throws {TypeError} a database that is no transaction
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { drizzleSession } from "@acemq/amqp/sql";
 *
 * assert.throws(() => drizzleSession({ _: { session: undefined } } as never), TypeError);
 * ```
 */
export function drizzleSession(tx: DrizzleTransaction): SqlSession {
  const session = tx?._?.session;
  if (typeof tx?.rollback !== "function" || !isDrizzleSession(session)) {
    throw new TypeError("Cannot make a session of Drizzle: the 'tx' of an open transaction on PostgreSQL is wanted");
  }
  return new BorrowedTransaction(async (text, params) => {
    const prepared = session.prepareQuery({ sql: text, params }, undefined, undefined, false);
    return resultOf(await prepared.execute());
  });
}

function isDrizzleSession(value: unknown): value is DrizzleSession {
  return typeof value === "object" && value !== null && "prepareQuery" in value &&
    typeof value.prepareQuery === "function";
}

/** With postgres.js it is the rows and a count, with `pg` an object that has both. */
function resultOf(result: unknown): SqlResult {
  if (Array.isArray(result)) {
    const { count } = result as { readonly count?: number | null };
    return { rows: [...result] as SqlResult["rows"], changes: count ?? 0 };
  }
  const { rows, rowCount } = result as { readonly rows: SqlResult["rows"]; readonly rowCount: number | null };
  return { rows, changes: rowCount ?? 0 };
}
