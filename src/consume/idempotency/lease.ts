/**
 * The time of one claim, as its holder counts it.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";
import { StoreError } from "../../errors.ts";

/** A store that says nothing of leases is waited for so long: the lease of every other one, unless it is told otherwise. */
const WITHOUT_A_LEASE_MS = 300_000;

/** A call whose answer is waited for. */
interface Wait {
  readonly untilMs: number;
  readonly giveUp: () => void;
}

/** How long a call is waited for that has a whole lease before it, milliseconds. */
export function patienceMs(leaseMs: number): number {
  return leaseMs === Infinity ? WITHOUT_A_LEASE_MS : leaseMs;
}

/** See the module. One that is made now has begun now. */
export class Lease {
  readonly #lengthMs: number;
  readonly #clock: Clock;
  readonly #waits = new Set<Wait>();
  #endMs: number;

  constructor(lengthMs: number, clock: Clock) {
    this.#lengthMs = lengthMs;
    this.#clock = clock;
    this.#endMs = clock.elapsed() + lengthMs;
  }

  /** Whether somebody else may have the claim by now. */
  get isOver(): boolean {
    return this.#clock.elapsed() >= this.#endMs;
  }

  /** How long what has begun at a moment may still be tried, milliseconds. */
  leftMs(begunMs: number): number {
    const endMs = this.#endMs === Infinity ? begunMs + WITHOUT_A_LEASE_MS : this.#endMs;
    return endMs - this.#clock.elapsed();
  }

  /** It was renewed, and counts from when that was asked for. */
  beginAnew(startedMs: number): void {
    this.#endMs = startedMs + this.#lengthMs;
  }

  /**
   * What a call of the store is answered. Rejects with a `StoreError` when that is not before the lease ends, or, of a call that begins
   * later, within the length of a lease: whatever it is answered after that is ignored. It is {@linkcode Lease.look} that notices.
   */
  async within<T>(call: () => T | Promise<T>): Promise<T> {
    const answer = Promise.resolve(call());
    return await new Promise<T>((resolve, reject) => {
      const giveUp = (): void => reject(new StoreError("The store gave no answer while the lease of the claim ran"));
      const wait = { untilMs: this.#patienceEndMs(), giveUp };
      this.#waits.add(wait);
      const settle = <V>(how: (value: V) => void) => (value: V): void => {
        this.#waits.delete(wait);
        how(value);
      };
      answer.then(settle(resolve), settle(reject));
    });
  }

  /** Gives up the calls whose time is over. */
  look(): void {
    const nowMs = this.#clock.elapsed();
    for (const wait of this.#waits) {
      if (wait.untilMs > nowMs) continue;
      this.#waits.delete(wait);
      wait.giveUp();
    }
  }

  #patienceEndMs(): number {
    const nowMs = this.#clock.elapsed();
    return this.#endMs > nowMs && this.#endMs !== Infinity ? this.#endMs : nowMs + patienceMs(this.#lengthMs);
  }
}
