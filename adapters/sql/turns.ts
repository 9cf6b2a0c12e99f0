/**
 * One connection, one transaction: whoever uses it takes turns.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { StoreError } from "../../src/errors.ts";
import { endWait } from "../../src/internal/abort.ts";

/** The same symbol in every copy of the library that a process may have loaded. */
const TURNS = Symbol.for("@acemq/amqp/sql/turns");

/** How long is waited for others. */
export interface WaitOptions {
  readonly clock: Clock;
  /** How long a statement waits for a lock of another process, and for a transaction of another task. Milliseconds. */
  readonly busyTimeoutMs: number;
}

/** Turns on one connection: a statement waits until the transaction before it has ended. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isInTransaction = false;

  /** The turns of a handle: kept on it, so that all sessions over it share them. */
  static of(handle: object): Turns {
    const kept = (handle as { readonly [TURNS]?: Turns })[TURNS];
    if (kept !== undefined) return kept;
    const turns = new Turns();
    // A frozen handle cannot keep it: then it is of this session alone.
    if (Object.isExtensible(handle)) Object.defineProperty(handle, TURNS, { value: turns });
    return turns;
  }

  /** Whether nobody has a turn or waits for one. */
  get isFree(): boolean {
    return this.#waiting === 0;
  }

  /** Whether the transaction that is open on the handle was begun through here. */
  get isInTransaction(): boolean {
    return this.#isInTransaction;
  }

  /**
   * Runs `action` when everything before it has ended. Whoever waits too long goes without: inside a transaction, a statement on the
   * session of the connection would otherwise wait for its own end.
   */
  async take<T>(action: () => Promise<T>, wait: WaitOptions): Promise<T> {
    const isFree = this.#waiting++ === 0;
    const turn = { hasBegun: false, isGivenUp: false };
    const begin = async (): Promise<T | undefined> => {
      if (turn.isGivenUp) return undefined;
      turn.hasBegun = true;
      return await action();
    };
    const taken = this.#last.then(begin).finally(() => this.#waiting--);
    this.#last = taken.catch(() => {});
    if (!isFree) await this.#patience(turn, taken, wait);
    // It has begun, so it is what the action gave.
    return await taken as T;
  }

  /** The same for a transaction. */
  async takeTransaction<T>(action: () => Promise<T>, wait: WaitOptions): Promise<T> {
    return await this.take(async () => {
      this.#isInTransaction = true;
      try {
        return await action();
      } finally {
        this.#isInTransaction = false;
      }
    }, wait);
  }

  async #patience(
    turn: { readonly hasBegun: boolean; isGivenUp: boolean },
    taken: Promise<unknown>,
    { clock, busyTimeoutMs }: WaitOptions,
  ): Promise<void> {
    const timer = new AbortController();
    const timeout = clock.delay(busyTimeoutMs, { signal: timer.signal }).then(() => true, () => false);
    const isOver = await Promise.race([timeout, taken.then(() => false, () => false)]);
    endWait(timer);
    if (!isOver || turn.hasBegun) return;
    turn.isGivenUp = true;
    throw new StoreError(
      `Cannot use the database: a transaction on the same handle is still open after ${busyTimeoutMs} ms`,
    );
  }
}
