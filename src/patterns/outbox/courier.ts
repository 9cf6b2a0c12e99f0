/**
 * Publishes rows: as many at once as the connection allows, and alone what the broker may close a channel over.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";
import type { ClaimedFacts, ReadableRow } from "../../ports/outbox_store.ts";
import { OUTBOX_LANE, type PublishGate } from "../../publish/gate.ts";
import { type OnBehalfAnswer, publishOnBehalf } from "../../publish/on_behalf.ts";
import { mustGoAlone } from "./fate.ts";
import type { Turnstile } from "./turnstile.ts";

/** What the broker said of a row, and how long that took. */
export interface Delivered {
  readonly answer: OnBehalfAnswer;
  readonly tookMs: number;
}

/** What a courier works with. */
export interface CourierContext {
  readonly gate: PublishGate;
  readonly clock: Clock;
  /** Shared by whoever publishes on the lane. */
  readonly turnstile: Turnstile;
  /** Ends every wait for an answer. */
  readonly signal: AbortSignal;
}

/** Rows in flight at most: what the AMQP adapter holds on one channel. */
const WINDOW = 256;

/** A broker that spreads lanes over channels may have somebody else's message on this one. */
const TRIES = 5;

/** Rows that are known to have been refused; of those before them it is found out once more. */
const MOST_REFUSED = 1_000;

/** How many rows of a connection may be in flight. */
export function windowOf(gate: PublishGate): number {
  return Math.min(gate.window, WINDOW);
}

/** One relay's way to the broker. */
export class Courier {
  readonly #context: CourierContext;
  /** Rows that are in flight, or in a queue and not marked yet. */
  readonly #known = new Map<string, Promise<Delivered | undefined>>();
  /** Exchanges the broker has refused a message to: another one would take with it whatever is in flight beside it. */
  readonly #suspects = new Set<string>();
  /** Rows the broker has refused: what it takes to the same exchange says nothing of them. */
  readonly #refused = new Set<string>();

  constructor(context: CourierContext) {
    this.#context = context;
  }

  /**
   * Publishes a row, when it is its turn and unless it may not begin by then: undefined says that nothing was written. A row whose
   * lease has ended before it was marked, and that was claimed again, has the answer to its first publish.
   */
  deliver(row: ReadableRow, mayBegin: () => boolean): Promise<Delivered | undefined> {
    const known = this.#known.get(row.id);
    if (known !== undefined) return known;
    const delivering = this.#deliver(row, mayBegin);
    this.#known.set(row.id, delivering);
    // What is in no queue may come back any time, to be published again.
    const forget = (): void => void this.#known.delete(row.id);
    delivering.then((delivered) => delivered?.answer.status === "routed" || forget(), forget);
    return delivering;
  }

  /** Rows that are marked, or cannot be. */
  forget(rows: readonly ClaimedFacts[]): void {
    for (const { id } of rows) this.#known.delete(id);
  }

  async #deliver(row: ReadableRow, mayBegin: () => boolean): Promise<Delivered | undefined> {
    const { turnstile } = this.#context;
    let delivered: Delivered | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      const isAlone = delivered !== undefined || this.#isSuspect(row);
      if (isAlone || !turnstile.tryEnter()) await turnstile.enter(isAlone);
      try {
        if (!mayBegin()) return delivered;
        delivered = await this.#publish(row);
      } finally {
        turnstile.leave();
      }
      if (delivered === undefined || !mustGoAlone(delivered.answer)) return delivered;
    }
    return delivered;
  }

  #isSuspect({ id, outbound: { exchange } }: ReadableRow): boolean {
    return this.#refused.has(id) || this.#suspects.has(exchange);
  }

  /** What the broker has said of a row, and so of others. */
  #learn({ id, outbound: { exchange } }: ReadableRow, answer: OnBehalfAnswer): void {
    if (answer.status === "not_routed" && answer.because === "refused") {
      this.#suspects.add(exchange);
      this.#refused.add(id);
      for (const oldest of this.#refused) if (this.#refused.size > MOST_REFUSED) this.#refused.delete(oldest);
    } else if (answer.status === "routed" || answer.status === "not_routed") {
      this.#suspects.delete(exchange);
      this.#refused.delete(id);
    }
  }

  async #publish(row: ReadableRow): Promise<Delivered | undefined> {
    const { gate, clock, signal } = this.#context;
    const begunMs = clock.elapsed();
    try {
      const answer = await publishOnBehalf(gate, row.outbound, { signal, lane: OUTBOX_LANE });
      this.#learn(row, answer);
      return { answer, tookMs: clock.elapsed() - begunMs };
    } catch (error) {
      // Aborted before anything was written; whatever else it were, nothing may count as published.
      if (signal.aborted) return undefined;
      throw error;
    }
  }
}
