/**
 * Taking single messages off one queue, as over a channel of its own.
 *
 * @module
 */

import { ConnectionError, TopologyError } from "../../src/errors.ts";
import type { PulledDelivery, Puller } from "../../src/ports/broker.ts";
import type { AnyQueue } from "./any_queue.ts";
import type { Inlet } from "./inlet.ts";
import { PullSide } from "./pull_side.ts";
import type { QueueEntry } from "./ready_list.ts";
import type { SettlementTerms } from "./settlement_watch.ts";

/** What a puller needs of its connection. */
export interface PullerTerms {
  readonly inlet: Inlet;
  readonly terms: SettlementTerms;
  /** Asks the broker something about the queue. */
  readonly ask: <Answer>(answer: (queue: AnyQueue) => Answer) => Promise<Answer>;
  /** The broker has read the close. */
  readonly onEnd: () => void;
}

/** See {@linkcode Puller}. */
export class MemoryPuller implements Puller {
  readonly #terms: PullerTerms;
  readonly #hands: PullSide;
  #isClosed = false;

  constructor(terms: PullerTerms) {
    this.#terms = terms;
    this.#hands = new PullSide(terms.inlet, terms.terms);
  }

  pull(): Promise<PulledDelivery | null> {
    if (this.#isClosed) {
      return Promise.reject(new ConnectionError("ACEMQ_CONNECTION_CLOSED", "Cannot pull: the puller is closed"));
    }
    const pulled = this.#terms.ask((queue) => {
      // It was closed before the broker has read this.
      if (this.#isClosed) return null;
      return this.#hands.pull(queue) ?? null;
    });
    return pulled.catch((error: unknown) => {
      // A refusal closes the channel, and the next pull has another.
      if (error instanceof TopologyError) this.#hands.giveBack();
      throw error;
    });
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#hands.leave();
      this.#terms.inlet.send(() => this.end());
    }
    return Promise.resolve();
  }

  /** What it holds of a queue, oldest first. */
  heldOf(queue: AnyQueue): readonly QueueEntry[] {
    return this.#hands.heldOf(queue);
  }

  /** The broker has read the close, or the connection is gone. */
  end(): void {
    this.#isClosed = true;
    this.#hands.giveBack();
    this.#terms.onEnd();
  }
}
