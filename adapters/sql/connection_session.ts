/**
 * A session on one connection, on which a transaction is a state of the connection: a SQLite handle, a client of `pg`.
 *
 * Statements and transactions take turns. What is called on the session of a transaction belongs to it; what is called on the
 * session of the connection never joins somebody's open transaction, but waits for its end.
 *
 * @module
 */

import { StoreError } from "../../src/errors.ts";
import type { SqlResult, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
import { Turns, type WaitOptions } from "./turns.ts";
import { assertSqlValues } from "./values.ts";

/** One connection of a driver. */
export interface SqlConnection {
  /** What the caller handed in. */
  readonly handle: object;
  /** The statement that begins a transaction. */
  readonly begin: string;
  /** Whether a transaction is open; undefined when the driver does not tell. */
  isInTransaction(): boolean | undefined;
  /** Ends the open transaction; rejects when it was not committed. */
  commit(): Promise<void>;
  /** Runs one statement; rejects with the driver's error. */
  run(text: string, params: readonly SqlValue[]): Promise<SqlResult>;
  /** The same at once, where the driver is synchronous: nobody can come in between. Throws the driver's error. */
  runNow?(text: string, params: readonly SqlValue[]): SqlResult;
  /** Whether an error says that somebody else holds a lock, and that trying again helps. */
  isBusy(error: unknown): boolean;
}

/** The first wait for a lock, and the longest one. */
const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 100;

/** See the module. */
export class ConnectionSession implements SqlSession {
  readonly #connection: SqlConnection;
  readonly #wait: WaitOptions;
  readonly #turns: Turns;

  constructor(connection: SqlConnection, wait: WaitOptions) {
    this.#connection = connection;
    this.#wait = wait;
    this.#turns = Turns.of(connection.handle);
  }

  /** Of a transaction that was begun through a session the handle does not tell whose it is: its own session does. */
  get inTransaction(): boolean | undefined {
    return this.#turns.isInTransaction ? false : this.#connection.isInTransaction();
  }

  async query(text: string, params: readonly SqlValue[] = []): Promise<SqlResult> {
    assertSqlValues(params);
    return this.#atOnce(text, params) ?? await this.#turns.take(async () => {
      await this.#othersEnd();
      return await this.#patiently(() => this.#connection.run(text, params));
    }, this.#wait);
  }

  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    return await this.#turns.takeTransaction(async () => {
      await this.#othersEnd();
      await this.#patiently(() => this.#connection.run(this.#connection.begin, []));
      const tx = new TransactionSession(this.#connection);
      try {
        const result = await work(tx);
        await this.#patiently(() => this.#connection.commit());
        return result;
      } catch (error) {
        // A database that ended the transaction by itself, or is gone, has nothing to roll back; the first error is the one to tell.
        if (this.#connection.isInTransaction() !== false) await this.#connection.run("ROLLBACK", []).catch(() => {});
        throw error;
      } finally {
        tx.end();
      }
    }, this.#wait);
  }

  /** Needs no turn where it is free: undefined where somebody has it, or a lock has to be waited for. */
  #atOnce(text: string, params: readonly SqlValue[]): SqlResult | undefined {
    if (this.#connection.runNow === undefined || !this.#turns.isFree) return undefined;
    if (this.#connection.isInTransaction() !== false) return undefined;
    try {
      return this.#connection.runNow(text, params);
    } catch (error) {
      if (!this.#connection.isBusy(error)) throw error;
      return undefined;
    }
  }

  /** Waits until a transaction that was begun past this session has ended. */
  async #othersEnd(): Promise<void> {
    await this.#until((waitedMs) => {
      if (this.#connection.isInTransaction() !== true) return { value: undefined };
      if (waitedMs < this.#wait.busyTimeoutMs) return undefined;
      throw new StoreError(
        `Cannot use the database: a transaction that somebody began on the same handle is still open after ${waitedMs} ms`,
      );
    });
  }

  async #patiently<T>(action: () => Promise<T>): Promise<T> {
    return await this.#until(async (waitedMs) => {
      try {
        return { value: await action() };
      } catch (error) {
        if (!this.#connection.isBusy(error) || waitedMs >= this.#wait.busyTimeoutMs) throw error;
        return undefined;
      }
    });
  }

  /** Tries at growing intervals until there is a value. */
  async #until<T>(
    attempt: (waitedMs: number) => { readonly value: T } | undefined | Promise<{ readonly value: T } | undefined>,
  ): Promise<T> {
    const { clock } = this.#wait;
    const started = clock.elapsed();
    for (let waitMs = FIRST_WAIT_MS;; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const found = await attempt(Math.round(clock.elapsed() - started));
      if (found !== undefined) return found.value;
      await clock.delay(waitMs);
    }
  }
}

/** A transaction that is open on a connection: everything runs at once and belongs to it. */
export class TransactionSession implements SqlSession {
  readonly #connection: SqlConnection;
  #isOver = false;

  constructor(connection: SqlConnection) {
    this.#connection = connection;
  }

  get inTransaction(): boolean {
    return !this.#isOver && this.#connection.isInTransaction() !== false;
  }

  async query(text: string, params: readonly SqlValue[] = []): Promise<SqlResult> {
    assertSqlValues(params);
    this.#assertOpen();
    return await this.#connection.run(text, params);
  }

  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    this.#assertOpen();
    return await work(this);
  }

  /** The transaction has ended: what comes now would be outside of it. */
  end(): void {
    this.#isOver = true;
  }

  #assertOpen(): void {
    if (!this.#isOver) return;
    throw new TypeError("Cannot use the session of a transaction: the transaction has ended");
  }
}
