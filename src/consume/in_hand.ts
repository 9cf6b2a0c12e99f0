/**
 * A delivery in a consumer's hands.
 *
 * @module
 */

import type { Envelope } from "../message/envelope.ts";
import type { ReceivedMessage } from "../message/received.ts";
import type { BrokerDelivery, SettleAs } from "../ports/broker.ts";

/** One delivery, its envelope read, and whether it can still be settled. */
export class InHand {
  readonly received: ReceivedMessage;
  readonly envelope: Envelope;
  readonly #delivery: BrokerDelivery;
  #abort: AbortController | undefined;
  #isLive = true;

  constructor(delivery: BrokerDelivery, envelope: Envelope) {
    this.#delivery = delivery;
    this.received = delivery.message;
    this.envelope = envelope;
  }

  /** False once the broker has the message back, or it was settled: whatever is decided from then on is discarded. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** The signal of the handler; made when it is first asked for. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  /** Settles the delivery, if that is still ours to do. */
  settle(as: SettleAs): void {
    if (!this.#isLive) return;
    this.#isLive = false;
    this.#delivery.settle(as);
  }

  /** The broker has taken the message back. */
  discard(): void {
    this.#isLive = false;
  }

  /** Tells the handler that its time is up. */
  abort(reason: unknown): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }
}
