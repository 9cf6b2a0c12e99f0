/**
 * Deadlines that are all equally long: one timer serves any number of them.
 *
 * @module
 */

import type { Clock } from "../clock.ts";

/** One pending deadline. */
export interface Deadline {
  readonly setMs: number;
  readonly expire: () => void;
}

/** Deadlines of one fixed length, kept in the order they were set, which is the order they fall due. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #lengthMs: number;
  readonly #isSuspended: () => boolean;
  readonly #pending = new Set<Deadline>();
  /** No deadline counts from an earlier time than this. */
  #startedMs = -Infinity;
  #timer: AbortController | undefined;

  /** While `isSuspended` says so, none expires: what falls due then begins again. */
  constructor(clock: Clock, lengthMs: number, isSuspended: () => boolean = () => false) {
    this.#clock = clock;
    this.#lengthMs = lengthMs;
    this.#isSuspended = isSuspended;
  }

  /** Sets a deadline; `expire` is called when it falls due before it was {@linkcode Deadlines.clear cleared}. */
  set(expire: () => void): Deadline {
    const deadline = { setMs: this.#clock.elapsed(), expire };
    this.#pending.add(deadline);
    if (this.#timer === undefined) this.#arm();
    return deadline;
  }

  /** Takes a deadline back. */
  clear(deadline: Deadline): void {
    this.#pending.delete(deadline);
  }

  /** Whatever is pending has its whole length again from now on. */
  restart(): void {
    this.#startedMs = this.#clock.elapsed();
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
    this.#clock.delay(Math.max(this.#dueMs(head) - this.#clock.elapsed(), 0), { signal: timer.signal }).then(
      () => this.#expireDue(),
      () => this.#timer = undefined,
    );
  }

  #expireDue(): void {
    if (this.#isSuspended()) this.restart();
    const now = this.#clock.elapsed();
    for (const deadline of this.#pending) {
      if (this.#dueMs(deadline) > now) break;
      this.#pending.delete(deadline);
      deadline.expire();
    }
    // Only now: what expires may set a deadline, which must not arm a second timer.
    this.#timer = undefined;
    this.#arm();
  }

  #dueMs({ setMs }: Deadline): number {
    return Math.max(setMs, this.#startedMs) + this.#lengthMs;
  }
}
