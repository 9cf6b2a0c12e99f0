/**
 * One wake-up call at a time, for whatever falls due next.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";

/** Rings once, at the earliest time it was set for. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #dueMs = Infinity;
  #waiting: AbortController | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings at `dueMs` of the clock's elapsed time, unless it rings earlier already. */
  set(dueMs: number): void {
    if (dueMs >= this.#dueMs) return;
    this.stop();
    this.#dueMs = dueMs;
    const waiting = this.#waiting = new AbortController();
    // A timer of the platform may ring a fraction early; a whole millisecond keeps a second round from spinning.
    const ms = Math.max(1, dueMs - this.#clock.elapsed());
    this.#clock.delay(ms, { signal: waiting.signal }).then(() => {
      if (this.#waiting === waiting) this.#rings();
    }, () => {});
  }

  /** Forgets what it was set for. */
  stop(): void {
    this.#dueMs = Infinity;
    this.#waiting?.abort();
    this.#waiting = undefined;
  }

  #rings(): void {
    this.#dueMs = Infinity;
    this.#waiting = undefined;
    this.#ring();
  }
}
