/**
 * What died in a queue and has not arrived everywhere yet: kept, and tried again, until it has.
 *
 * @module
 */

import type { DeathReason } from "./death_history.ts";
import type { StoredMessage } from "./stored_message.ts";

/** One message on its way to everybody who is to have it. */
export interface Burial {
  readonly dead: StoredMessage;
  readonly reason: DeathReason;
  /** Who keeps it until it has arrived; undefined for nobody. */
  readonly keeper: object | undefined;
  /** Queues that need not be asked again. */
  readonly done: Set<unknown>;
}

/** Between two attempts; what RabbitMQ waits unless it is configured otherwise. */
const RETRY_MS = 180_000;

/** Burials that wait for another attempt. */
export class Unburied {
  #burials: readonly Burial[] = [];
  #bytes = 0;
  #dueMs = Infinity;

  /** When the next attempt is due; `Infinity` when nothing waits. */
  get dueMs(): number {
    return this.#dueMs;
  }

  get size(): number {
    return this.#burials.length;
  }

  /** Of all bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps one that was tried just now. */
  add(burial: Burial, nowMs: number): void {
    this.#keep([...this.#burials, burial]);
    this.#dueMs = Math.min(this.#dueMs, nowMs + RETRY_MS);
  }

  /** Tries all of them when it is time, the oldest first, and keeps those that did not arrive. */
  tryAgain(nowMs: number, hasArrived: (burial: Burial) => boolean): void {
    if (this.#dueMs > nowMs) return;
    this.#keep(this.#burials.filter((burial) => !hasArrived(burial)));
    this.#dueMs = this.#burials.length === 0 ? Infinity : nowMs + RETRY_MS;
  }

  #keep(burials: readonly Burial[]): void {
    this.#burials = burials;
    this.#bytes = burials.reduce((sum, { dead }) => sum + dead.body.byteLength, 0);
  }
}
