/**
 * What ends a pass before its queue is read through: between two messages, and within one.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";

/** What a caller and a connection may end a pass by. */
export interface PassBounds {
  /** The caller's own. */
  readonly signal?: AbortSignal | undefined;
  /** The connection begins to close. */
  readonly closing: AbortSignal;
  readonly deadlineMs?: number | undefined;
}

/** The ends of one pass, which begins when this is made. */
export class PassEnds {
  /** Aborts when no further message is to be begun because somebody says so. */
  readonly cancelled: AbortSignal;
  /** Aborts when no further message is to be begun, also because the time is up. */
  readonly between: AbortSignal;
  /** Aborts when the caller's own code is not waited for any longer: a close of the connection alone leaves it its budget. */
  readonly within: AbortSignal;
  readonly #deadline = new AbortController();
  readonly #abandoned = new AbortController();
  readonly #over = new AbortController();

  constructor(clock: Clock, { signal, closing, deadlineMs }: PassBounds) {
    const callers = signal === undefined ? [] : [signal];
    this.cancelled = AbortSignal.any([...callers, closing]);
    this.between = AbortSignal.any([...callers, closing, this.#deadline.signal]);
    this.within = AbortSignal.any([...callers, this.#abandoned.signal, this.#deadline.signal]);
    if (deadlineMs === undefined) return;
    clock.delay(deadlineMs, { signal: this.#over.signal }).then(() => this.#deadline.abort(), () => {});
  }

  /** Why it ends, once one of them has aborted. */
  get reason(): "cancelled" | "deadline" {
    return this.cancelled.aborted ? "cancelled" : "deadline";
  }

  /** The drain budget has ended. */
  abandon(): void {
    this.#abandoned.abort();
  }

  /** The pass is over: nothing is left of it. */
  over(): void {
    this.#over.abort();
  }
}
