/**
 * Waiting for the time, or for somebody who rings.
 *
 * @module
 */

import type { Clock } from "../clock.ts";
import { endWait } from "./abort.ts";

/** A bell for one who waits; rung while nobody does, it is heard by the next wait. */
export class Bell {
  readonly #clock: Clock;
  #hasRung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }

  /** Waits until somebody rings, or so long; `Infinity` for no time. */
  async wait(ms: number): Promise<void> {
    if (!this.#hasRung) {
      const timer = new AbortController();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (ms < Infinity) this.#clock.delay(ms, { signal: timer.signal }).then(resolve, () => {});
      });
      this.#wake = undefined;
      endWait(timer);
    }
    this.#hasRung = false;
  }
}
