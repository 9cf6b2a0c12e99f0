/**
 * Deadlines that are all equally long: one timer serves any number of them.
 *
 * @module
 */

import type { Clock } from "../clock.ts";

/** One pending deadline. */
export interface Deadline {
  readonly dueMs: number;
  readonly expire: () => void;
}

/** Deadlines of one fixed length, kept in the order they were set, which is the order they fall due. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #lengthMs: number;
  readonly #pending = new Set<Deadline>();
  #timer: AbortController | undefined;

  constructor(clock: Clock, lengthMs: number) {
    this.#clock = clock;
    this.#lengthMs = lengthMs;
  }

  /** Sets a deadline; `expire` is called when it falls due before it was {@linkcode Deadlines.clear cleared}. */
  set(expire: () => void): Deadline {
    const deadline = { dueMs: this.#clock.elapsed() + this.#lengthMs, expire };
    this.#pending.add(deadline);
    if (this.#timer === undefined) this.#arm();
    return deadline;
  }

  /** Takes a deadline back. */
  clear(deadline: Deadline): void {
    this.#pending.delete(deadline);
  }

  /** Stops the timer, unless a deadline is pending: that one still falls due. */
  close(): void {
    if (this.#pending.size === 0) this.#timer?.abort();
  }

  #arm(): void {
    const [head] = this.#pending;
    if (head === undefined) return;
    const timer = new AbortController();
    this.#timer = timer;
    this.#clock.delay(Math.max(head.dueMs - this.#clock.elapsed(), 0), { signal: timer.signal }).then(
      () => this.#expireDue(),
      () => this.#timer = undefined,
    );
  }

  #expireDue(): void {
    const now = this.#clock.elapsed();
    for (const deadline of this.#pending) {
      if (deadline.dueMs > now) break;
      this.#pending.delete(deadline);
      deadline.expire();
    }
    // Only now: what expires may set a deadline, which must not arm a second timer.
    this.#timer = undefined;
    this.#arm();
  }
}
