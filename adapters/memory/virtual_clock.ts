/**
 * A clock that a test moves by hand: nothing is due until the test says that time has passed.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { turn } from "./turn.ts";

/** A {@linkcode Clock} whose time passes only when {@linkcode VirtualClock.advance} says so. */
export interface VirtualClock extends Clock {
  /**
   * Lets `ms` pass: whatever falls due runs in order of its time, and what it sets going runs before the next falls due.
   *
   * Only work made of promises is waited for. A handler that waits for a disk, a socket or WebCrypto goes on when the
   * machine answers, whatever this clock reads: await its result instead.
   *
   * @throws {RangeError} a time that is negative or no finite number
   */
  advance(ms: number): Promise<void>;
}

/**
 * A clock for tests, standing still at `start`.
 *
 * The default start is a day like another, not 1970: a first-seen time of zero counts as unreadable (contract core 1.5).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { virtualClock } from "@acemq/amqp/memory";
 *
 * const clock = virtualClock("2026-01-01T00:00:00Z");
 * const waited = clock.delay(86_400_000).then(() => new Date(clock.now()).toISOString());
 * await clock.advance(86_400_000);
 * assert.equal(await waited, "2026-01-02T00:00:00.000Z");
 * ```
 *
 * @throws {RangeError} a start that is no point in time
 */
export function virtualClock(start: string | number | Date = "2026-01-01T00:00:00Z"): VirtualClock {
  const startMs = new Date(start).getTime();
  if (Number.isNaN(startMs)) {
    throw new RangeError(`Cannot start a virtual clock: 'start' must be a point in time, found ${String(start)}`);
  }
  return new ManualClock(startMs);
}

/** One call of `delay` that has not come to its end. */
interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

class ManualClock implements VirtualClock {
  readonly #startMs: number;
  /** By due time; those of the same time in the order they were set. */
  readonly #timers: Timer[] = [];
  #nowMs: number;
  #advancing: Promise<void> = Promise.resolve();

  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  elapsed(): number {
    return this.#nowMs - this.#startMs;
  }

  delay(ms: number, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (!(ms > 0)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#timers.splice(this.#timers.indexOf(timer, this.#indexOf(timer.dueMs - 1)), 1);
        reject(signal?.reason);
      };
      const fire = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const timer: Timer = { dueMs: this.#nowMs + ms, fire };
      this.#timers.splice(this.#indexOf(timer.dueMs), 0, timer);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0) {
      return Promise.reject(
        new RangeError(`Cannot advance the clock: 'ms' must be a finite number of at least 0, found ${String(ms)}`),
      );
    }
    this.#advancing = this.#advancing.then(() => this.#run(this.#nowMs + ms));
    return this.#advancing;
  }

  async #run(untilMs: number): Promise<void> {
    await turn();
    for (let next = this.#timers[0]; next !== undefined && next.dueMs <= untilMs; next = this.#timers[0]) {
      this.#timers.shift();
      this.#nowMs = next.dueMs;
      next.fire();
      await turn();
    }
    this.#nowMs = untilMs;
  }

  /** The place after every timer that is due at `dueMs` or before. */
  #indexOf(dueMs: number): number {
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#timers[middle] as Timer).dueMs <= dueMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
