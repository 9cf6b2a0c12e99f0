/**
 * What of a queue has expired, and when the queue looks for it: at its head, and nowhere else.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import type { Backlog } from "./backlog.ts";
import type { QueueEntry } from "./ready_list.ts";

/** How a queue looks, and who is told. */
export interface ExpiryOptions {
  readonly clock: Clock;
  /** Something that comes later may be the next to leave. */
  readonly hasPriorities: boolean;
  /** Takes what has expired, one after the other. */
  readonly bury: (expired: Iterable<QueueEntry>) => void;
}

/**
 * The time to live of a queue's messages.
 *
 * A queue without priorities sees its head at any time. RabbitMQ takes what comes to one with priorities, and to others that wait, for
 * none that may be the next to leave: it looks again when something leaves or comes back, or when what it saw last falls due.
 */
export class Expiry {
  readonly #backlog: Pick<Backlog, "peek" | "shift">;
  readonly #options: ExpiryOptions;
  /** Only where there are priorities: when what was seen last falls due. */
  #dueMs = Infinity;

  constructor(backlog: Pick<Backlog, "peek" | "shift">, options: ExpiryOptions) {
    this.#backlog = backlog;
    this.#options = options;
  }

  /** When the queue looks by itself. */
  get dueMs(): number {
    return this.#options.hasPriorities ? this.#dueMs : this.#headMs;
  }

  /** Looks, where it is time to. */
  glance(): void {
    if (this.#options.hasPriorities) {
      if (this.#dueMs > this.#options.clock.elapsed()) return;
      this.#dueMs = Infinity;
    }
    this.look();
  }

  /** Lets go of what has expired at the head, and of nothing behind it. */
  look(): void {
    if (this.#isHeadExpired) this.#options.bury(this.#expired());
    this.#dueMs = Math.min(this.#dueMs, this.#headMs);
  }

  *#expired(): Iterable<QueueEntry> {
    while (this.#isHeadExpired) yield this.#backlog.shift() as QueueEntry;
  }

  get #isHeadExpired(): boolean {
    const ms = this.#headMs;
    return ms !== Infinity && ms <= this.#options.clock.elapsed();
  }

  get #headMs(): number {
    return this.#backlog.peek()?.expiresAtMs ?? Infinity;
  }
}
