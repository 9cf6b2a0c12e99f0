/**
 * Single messages of one queue that are asked for over a port.
 *
 * @module
 */
import { ConnectionError, type PulledDelivery, type Puller } from "@acemq/amqp/core";
import { type Hand, HandedDelivery } from "./hand.ts";
import type { Handed, Question } from "./messages.ts";

/** What a puller needs of its connection. */
interface Terms {
  /** What it pulls lies in there. */
  readonly hand: Hand;
  /** Asks something about this puller. */
  readonly ask: <Value>(question: Question, ...args: readonly unknown[]) => Promise<Value>;
  /** It was closed. */
  readonly onEnd: () => void;
}

/** See {@linkcode Puller}. */
export class PortPuller implements Puller {
  readonly #terms: Terms;
  #closing: Promise<void> | undefined;

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  async pull(): Promise<PulledDelivery | null> {
    const { ask, hand } = this.#terms;
    if (this.#closing !== undefined) {
      throw new ConnectionError("ACEMQ_CONNECTION_CLOSED", "Cannot pull: the puller is closed");
    }
    const pulled = await ask<(Handed & { readonly waiting: number }) | null>("pull");
    return pulled === null ? null : Object.assign(new HandedDelivery(pulled, hand), { waiting: pulled.waiting });
  }

  /** With the connection the puller went as well: there is nobody left to ask, and nothing left to do. */
  close(): Promise<void> {
    this.end();
    return this.#closing ??= this.#terms.ask<void>("close_puller").catch(() => {});
  }

  /** Nothing can be settled any more. */
  end(): void {
    this.#terms.hand.lose();
    this.#terms.onEnd();
  }
}
