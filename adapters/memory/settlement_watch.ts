/**
 * Looks whether somebody has held a message longer than the broker lets anybody.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { Alarm } from "./alarm.ts";

/** How long somebody may take to settle. */
export interface SettlementTerms {
  readonly clock: Clock;
  readonly acknowledgementTimeoutMs: number;
}

/** As often as RabbitMQ looks; and a timer that nobody needs any more is gone by then. */
const LOOK_EVERY_MS = 60_000;

/** Watches over one pair of hands. */
export class SettlementWatch {
  readonly #terms: SettlementTerms;
  readonly #oldest: () => number | undefined;
  readonly #late: () => void;
  readonly #alarm: Alarm;

  /** `oldest` says when what is held longest was taken, by the clock's elapsed time; `late` is called once that is too long. */
  constructor(terms: SettlementTerms, oldest: () => number | undefined, late: () => void) {
    this.#terms = terms;
    this.#oldest = oldest;
    this.#late = late;
    this.#alarm = new Alarm(terms.clock, () => this.#look());
  }

  /** Begins to look if it does not yet, and says when that is. */
  taken(): number {
    const nowMs = this.#terms.clock.elapsed();
    this.#alarm.set(nowMs + Math.min(LOOK_EVERY_MS, this.#terms.acknowledgementTimeoutMs));
    return nowMs;
  }

  /** Looks no more. */
  stop(): void {
    this.#alarm.stop();
  }

  #look(): void {
    const oldestMs = this.#oldest();
    if (oldestMs === undefined) return;
    const nowMs = this.#terms.clock.elapsed();
    const dueMs = oldestMs + this.#terms.acknowledgementTimeoutMs;
    if (dueMs <= nowMs) this.#late();
    else this.#alarm.set(Math.min(nowMs + LOOK_EVERY_MS, dueMs));
  }
}
