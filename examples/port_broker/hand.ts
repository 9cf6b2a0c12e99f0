/**
 * Messages in somebody's hands: settled once, and only while the link they came on stands.
 *
 * @module
 */
import type { BrokerDelivery, DeliveryHandle, ReceivedMessage, SettleAs } from "@acemq/amqp/core";
import { type Handed, post } from "./messages.ts";

/** What was handed over together and is lost together. */
export class Hand {
  readonly #port: MessagePort;
  #isLost = false;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** The broker has taken everything back by itself. */
  get isLost(): boolean {
    return this.#isLost;
  }

  lose(): void {
    this.#isLost = true;
  }

  settle(delivery: number, as: SettleAs): "sent" | "stale" {
    if (this.#isLost) return "stale";
    post(this.#port, { type: "settle", delivery, as });
    return "sent";
  }
}

/** The right to settle one of them; it keeps no message alive. */
class HandedHandle implements DeliveryHandle {
  readonly #delivery: number;
  readonly #hand: Hand;
  #settled: "sent" | "stale" | undefined;

  constructor(delivery: number, hand: Hand) {
    this.#delivery = delivery;
    this.#hand = hand;
  }

  get isLive(): boolean {
    return this.#settled === undefined && !this.#hand.isLost;
  }

  settle(as: SettleAs): "sent" | "stale" {
    return this.#settled ??= this.#hand.settle(this.#delivery, as);
  }
}

/** See {@linkcode BrokerDelivery}. */
export class HandedDelivery implements BrokerDelivery {
  readonly message: ReceivedMessage;
  readonly #handle: HandedHandle;

  constructor({ delivery, message }: Handed, hand: Hand) {
    this.message = message;
    this.#handle = new HandedHandle(delivery, hand);
  }

  get isLive(): boolean {
    return this.#handle.isLive;
  }

  settle(as: SettleAs): "sent" | "stale" {
    return this.#handle.settle(as);
  }

  detach(): DeliveryHandle {
    return this.#handle;
  }
}
