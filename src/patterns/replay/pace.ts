/**
 * When the next message may be moved, and when none may be any more. Plain arithmetic over a clock's milliseconds.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";

/** The bounds of a pass in time. */
export interface PaceOptions {
  readonly ratePerSecond?: number | undefined;
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a pace reads the time from, and waits by. */
export type PaceClock = Pick<Clock, "elapsed" | "delay">;

/** The time of one pass, which begins when this is made. */
export class Pace {
  readonly #clock: PaceClock;
  readonly #spacingMs: number;
  readonly #endsAtMs: number;
  readonly #signal: AbortSignal | undefined;
  #nextAtMs: number;

  constructor(clock: PaceClock, { ratePerSecond = Infinity, deadlineMs = Infinity, signal }: PaceOptions) {
    this.#clock = clock;
    this.#spacingMs = 1_000 / ratePerSecond;
    this.#nextAtMs = clock.elapsed();
    this.#endsAtMs = this.#nextAtMs + deadlineMs;
    this.#signal = signal;
  }

  /** Waits until a message may be moved; says so when that will not come. */
  async turn(): Promise<"deadline" | "cancelled" | undefined> {
    if (this.#isCancelled()) return "cancelled";
    // Nothing is waited for that would come too late.
    if (Math.max(this.#nextAtMs, this.#clock.elapsed()) >= this.#endsAtMs) return "deadline";
    try {
      const waitMs = this.#nextAtMs - this.#clock.elapsed();
      if (waitMs > 0) await this.#clock.delay(waitMs, { signal: this.#signal });
    } catch (error) {
      if (!this.#isCancelled()) throw error;
    }
    if (this.#isCancelled()) return "cancelled";
    return this.#clock.elapsed() >= this.#endsAtMs ? "deadline" : undefined;
  }

  /** A message is being moved: the next one has its turn one space later; a stall is made up for by one message at most. */
  moving(): void {
    if (this.#spacingMs === 0) return;
    this.#nextAtMs = Math.max(this.#nextAtMs, this.#clock.elapsed() - this.#spacingMs) + this.#spacingMs;
  }

  #isCancelled(): boolean {
    return this.#signal?.aborted === true;
  }
}
