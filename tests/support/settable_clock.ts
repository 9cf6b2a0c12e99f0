/**
 * A machine's clock that somebody sets: the time on the wall jumps, and the time that passes does not.
 *
 * @module
 */
import { type VirtualClock, virtualClock } from "../../adapters/memory/mod.ts";
import type { Clock } from "../../src/clock.ts";

/** See the module. */
export class SettableClock implements Clock {
  readonly #time: VirtualClock = virtualClock("2026-09-09T14:00:00Z");
  #setByMs = 0;

  now(): number {
    return this.#time.now() + this.#setByMs;
  }

  elapsed(): number {
    return this.#time.elapsed();
  }

  async delay(ms: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    await this.#time.delay(ms, options);
  }

  /** Sets the clock on the wall forward, or back. */
  set(byMs: number): void {
    this.#setByMs += byMs;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await this.#time.advance(ms);
  }
}
