/**
 * Sessions on handles that give every transaction a connection of its own: `postgres(…)` and a pool of `pg`.
 *
 * @module
 */

import type { SqlResult, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
import { ConnectionSession, TransactionSession } from "../sql/connection_session.ts";
import type { WaitOptions } from "../sql/turns.ts";
import { assertSqlValues } from "../sql/values.ts";
import type { PgPool, PgPoolClient, PostgresJsRoot } from "./drivers.ts";
import { pgConnection, runPg } from "./pg_connection.ts";
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

  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    const outcome: { result?: T } = {};
    await this.#sql.begin(async (sql) => {
      const tx = new TransactionSession(postgresJsConnection(sql));
      try {
        outcome.result = await work(tx);
      } finally {
        tx.end();
      }
    });
    return outcome.result as T;
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
    const client = await this.#pool.connect();
    let isSound = false;
    try {
      const result = await new ConnectionSession(pgConnection(client), this.#wait).transaction(work);
      isSound = true;
      return result;
    } finally {
      client.release(!isSound && !isIdle(client));
    }
  }
}

/** A client that could not be rolled back must not go back to the pool with a transaction open. */
function isIdle(client: PgPoolClient): boolean {
  return client.getTransactionStatus?.() === "I";
}
