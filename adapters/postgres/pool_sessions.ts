/**
 * Sessions on handles that give every transaction a connection of its own: `postgres(…)` and a pool of `pg`.
 *
 * @module
 */

import { StoreError } from "../../src/errors.ts";
import type { SqlResult, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
import { ConnectionSession, TransactionSession } from "../sql/connection_session.ts";
import type { WaitOptions } from "../sql/turns.ts";
import { assertSqlValues } from "../sql/values.ts";
import type { PgPool, PgPoolClient, PostgresJsRoot } from "./drivers.ts";
import { assertCommitted, pgConnection, runPg } from "./pg_connection.ts";
import { giveBack, handedOut } from "./pg_pool_client.ts";
import { postgresJsConnection, runPostgresJs } from "./postgres_js_connection.ts";

/** On the root of postgres.js. */
export class PostgresJsSession implements SqlSession {
  readonly inTransaction = false;
  readonly #sql: PostgresJsRoot;

  constructor(sql: PostgresJsRoot) {
    this.#sql = sql;
  }

  async query(text: string, params: readonly SqlValue[] = []): Promise<SqlResult> {
    assertSqlValues(params);
    return await runPostgresJs(this.#sql, text, params);
  }

  /**
   * The driver ends a transaction with a prepared `commit`, unless it was told `prepare: false`. Behind a pooler in transaction mode that
   * statement may be unknown to the connection: the driver tries it again in the transaction that has failed over it, which the database
   * rolls back without an error. So what was done is committed before, and what the driver ends is an empty transaction.
   */
  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    const outcome: { committed?: { readonly result: T }; tx?: TransactionSession; isOver?: boolean } = {};
    const begun = this.#sql.begin(async (sql) => {
      const connection = postgresJsConnection(sql);
      const run = async (text: string, params: readonly SqlValue[]): Promise<SqlResult> => {
        if (outcome.isOver === true) throw new StoreError("Cannot go on with the transaction: its connection is lost");
        return await connection.run(text, params).catch((error) => {
          if (isLost(error)) outcome.isOver = true;
          throw error;
        });
      };
      const tx = outcome.tx = new TransactionSession({ ...connection, run });
      try {
        const result = await work(tx);
        if (outcome.isOver !== true) {
          assertCommitted((await sql.unsafe("COMMIT AND CHAIN")).command);
          outcome.committed = { result };
        }
      } catch (error) {
        if (isLost(error)) outcome.isOver = true;
        if (outcome.isOver !== true) throw error;
      } finally {
        tx.end();
      }
      // The driver has rejected; it would end the transaction on the connection that is lost, and throw past every promise over it.
      if (outcome.isOver === true) await new Promise(() => {});
    });
    await begun.catch((error) => {
      outcome.isOver = true;
      outcome.tx?.end();
      if (outcome.committed === undefined) throw error;
    });
    // Begun and not rejected, so it is there.
    return (outcome.committed as { readonly result: T }).result;
  }
}

/** On a pool of `pg`. */
export class PgPoolSession implements SqlSession {
  readonly inTransaction = false;
  readonly #pool: PgPool;
  readonly #wait: WaitOptions;

  constructor(pool: PgPool, wait: WaitOptions) {
    this.#pool = pool;
    this.#wait = wait;
  }

  async query(text: string, params: readonly SqlValue[] = []): Promise<SqlResult> {
    assertSqlValues(params);
    return await runPg(this.#pool, text, params);
  }

  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    const client = await handedOut(this.#pool);
    let isSound = false;
    try {
      const result = await new ConnectionSession(pgConnection(client), this.#wait).transaction(work);
      isSound = true;
      return result;
    } finally {
      giveBack(client, { isSpent: !isSound && !isIdle(client) });
    }
  }
}

/** Whether an error says that the connection is gone, or is about to be: PostgreSQL ends it after whatever it calls fatal. */
function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  if (severity === "FATAL" || severity === "PANIC") return true;
  return typeof code === "string" && /^(?:CONNECT|E[A-Z]+$)/.test(code);
}

/** A client that could not be rolled back must not go back to the pool with a transaction open. */
function isIdle(client: PgPoolClient): boolean {
  return client.getTransactionStatus?.() === "I";
}
