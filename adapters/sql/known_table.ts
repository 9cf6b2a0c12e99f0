/**
 * What a store has found out about its table. Each session finds out by itself.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";

/**
 * See the module. A transaction never waits for what another session has asked: that one may be waiting for the connection that the
 * transaction has. And a transaction that has failed spoils nobody else's look.
 */
export class KnownTable<T> {
  readonly #own: SqlSession;
  readonly #look: (session: SqlSession) => Promise<T>;
  #known: { readonly table: T } | undefined;
  /** On the store's own session: those that come meanwhile share it. */
  #looking: Promise<T> | undefined;

  constructor(own: SqlSession, look: (session: SqlSession) => Promise<T>) {
    this.#own = own;
    this.#look = look;
  }

  /** What is known by now. */
  get now(): T | undefined {
    return this.#known?.table;
  }

  /** What is known; otherwise what this session finds. Rejects as the look does, and the next one looks again. */
  on(session: SqlSession = this.#own): Promise<T> {
    if (this.#known !== undefined) return Promise.resolve(this.#known.table);
    if (session !== this.#own) return this.#find(session);
    return this.#looking ??= this.#find(session).finally(() => this.#looking = undefined);
  }

  /** A statement has failed: the table may be another one by now, or none. */
  forget(): void {
    this.#known = undefined;
  }

  async #find(session: SqlSession): Promise<T> {
    const table = await this.#look(session);
    this.#known = { table };
    return table;
  }
}
