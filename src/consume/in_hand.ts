/**
 * A delivery in a consumer's hands.
 *
 * @module
 */

import { streamOffset } from "../message/broker_headers.ts";
import type { Envelope } from "../message/envelope.ts";
import type { ReceivedMessage } from "../message/received.ts";
import type { BrokerDelivery, SettleAs } from "../ports/broker.ts";

/** One delivery, its envelope read, and whether it can still be settled. */
export class InHand {
  readonly received: ReceivedMessage;
  readonly envelope: Envelope;
  readonly #delivery: Pick<BrokerDelivery, "settle">;
  #abort: AbortController | undefined;
  #patience: AbortController | undefined;
  #isLive = true;
  #isHurried = false;

  constructor(delivery: Pick<BrokerDelivery, "message" | "settle">, envelope: Envelope) {
    this.#delivery = delivery;
    this.received = delivery.message;
    this.envelope = envelope;
  }

  /** Whether it was read from a stream, which has the entry whatever becomes of the delivery, and takes nothing back. */
  get isFromStream(): boolean {
    return streamOffset(this.received.headers) !== undefined;
  }

  /** False once the broker has the message back, or it was settled: whatever is decided from then on is discarded. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Whether the handler's time is up. */
  get isAborted(): boolean {
    return this.#abort?.signal.aborted ?? false;
  }

  /** The signal of the handler; made when it is first asked for. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  /** Aborts when nothing is waited for any more on behalf of the delivery; made when it is first asked for. */
  get patience(): AbortSignal {
    this.#patience ??= new AbortController();
    if (this.#isHurried || !this.#isLive) this.#patience.abort();
    return this.#patience.signal;
  }

  /**
   * Settles the delivery; false when that is no longer ours to do, or the link it came on is gone.
   *
   * What came from a stream is not sent back: RabbitMQ 3.10 closes the connection over it (540), and RabbitMQ 4 takes it for an
   * acknowledgement.
   */
  settle(as: SettleAs): boolean {
    if (!this.#isLive) return false;
    this.#isLive = false;
    if (as !== "ack" && this.isFromStream) return false;
    return this.#delivery.settle(as) === "sent";
  }

  /** The broker has taken the message back. */
  discard(): void {
    this.#isLive = false;
    this.#patience?.abort();
  }

  /** The consumer begins to close: waits are over, now and from now on. */
  hurry(): void {
    this.#isHurried = true;
    this.#patience?.abort();
  }

  /** Tells the handler that its time is up. */
  abort(reason: unknown): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }
}
