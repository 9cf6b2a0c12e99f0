/**
 * A clock on the wall that is watched: it may be set, and what was written before it was is not older for that.
 *
 * Leases in a file are kept by the clock on the wall, since no other one is the same in every process. When it is set forward, every
 * lease and every confirmation in the file seems to have ended. So whoever has seen the clock before takes no such end for true until
 * as much time has passed as what stood there could last. A clock that is set back makes everything last longer: that is waited for.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";

/** How far the clock is ahead of what was written before it was set, milliseconds. */
export interface ClockLead {
  /** For claims. */
  readonly leaseLeadMs: number;
  /** For confirmations. */
  readonly retentionLeadMs: number;
}

/** How long what was written may last, milliseconds. */
export interface ClockHorizons {
  readonly leaseMs: number;
  readonly retentionMs: number;
}

/** A difference between the two clocks that counts as set: well above what they differ by themselves from one look to the next. */
const LEAST_JUMP_MS = 1_000;

/** What the clock on the wall was ahead of the other one, and when that was last so. */
interface Offset {
  readonly ms: number;
  readonly untilMs: number;
}

/** See the module. */
export class ClockWatch {
  readonly #clock: Clock;
  readonly #horizons: ClockHorizons;
  #longestMs: number;
  /** Ascending, and each later than the one before it: what was smaller before, and lasted longer, is all that counts. */
  #past: readonly Offset[] = [];
  #offsetMs: number;

  constructor(clock: Clock, horizons: ClockHorizons) {
    this.#clock = clock;
    this.#horizons = horizons;
    this.#longestMs = Math.max(horizons.leaseMs, horizons.retentionMs);
    this.#offsetMs = clock.now() - clock.elapsed();
  }

  /** The time, and what is to be made of it. */
  look(): ClockLead & { readonly nowMs: number } {
    const { leaseMs, retentionMs } = this.#horizons;
    return { nowMs: this.#clock.now(), leaseLeadMs: this.leadOf(leaseMs), retentionLeadMs: this.leadOf(retentionMs) };
  }

  /** How far the clock is ahead of what was written before it was set, of what lasts so long at most. Milliseconds. */
  leadOf(lastsMs: number): number {
    const elapsedMs = this.#clock.elapsed();
    const offsetMs = this.#clock.now() - elapsedMs;
    this.#longestMs = Math.max(this.#longestMs, lastsMs);
    if (Math.abs(offsetMs - this.#offsetMs) > LEAST_JUMP_MS) this.#set(offsetMs, elapsedMs);
    return this.#leadOver(elapsedMs - lastsMs);
  }

  #set(offsetMs: number, elapsedMs: number): void {
    const left = { ms: this.#offsetMs, untilMs: elapsedMs };
    const oldestMs = elapsedMs - this.#longestMs;
    this.#past = [...this.#past.filter(({ ms, untilMs }) => ms < left.ms && untilMs > oldestMs), left];
    this.#offsetMs = offsetMs;
  }

  #leadOver(sinceMs: number): number {
    const least = this.#past.find(({ untilMs }) => untilMs > sinceMs);
    return least === undefined ? 0 : Math.max(0, this.#offsetMs - least.ms);
  }
}
