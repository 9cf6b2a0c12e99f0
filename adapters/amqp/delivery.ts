/**
 * One message in a consumer's hands, and the way back to the channel it came on.
 *
 * @module
 */

import type { ReceivedMessage } from "../../src/message/received.ts";
import type { BrokerDelivery, DeliveryHandle, PulledDelivery, SettleAs } from "../../src/ports/broker.ts";
import type { LinkChannel } from "./link_channel.ts";
import { writeAck, writeNack } from "./wire/method_frames.ts";

/** What a delivery holds whose message somebody else keeps, or nobody. */
const NO_MESSAGE: ReceivedMessage = {
  exchange: "",
  routingKey: "",
  redelivered: false,
  properties: {},
  headers: {},
  body: new Uint8Array(),
};

/**
 * A delivery off the wire.
 *
 * Its tag counts on the channel it came on, and starts from 1 again on the next: it is never sent on another.
 */
export class AmqpDelivery implements BrokerDelivery {
  readonly message: ReceivedMessage;
  readonly #tag: number;
  readonly #channel: LinkChannel;
  #settled: "sent" | "stale" | undefined;

  constructor(message: ReceivedMessage, tag: number, channel: LinkChannel) {
    this.message = message;
    this.#tag = tag;
    this.#channel = channel;
  }

  get isLive(): boolean {
    return this.#settled === undefined && this.#channel.isUsable;
  }

  detach(): DeliveryHandle {
    return new AmqpDelivery(NO_MESSAGE, this.#tag, this.#channel);
  }

  settle(as: SettleAs): "sent" | "stale" {
    return this.#settled ??= this.#send(as);
  }

  #send(as: SettleAs): "sent" | "stale" {
    const { id, out, isUsable } = this.#channel;
    if (!isUsable) return "stale";
    if (as === "ack") writeAck(out.writer, id, this.#tag);
    else writeNack(out.writer, id, { deliveryTag: this.#tag, requeue: as === "requeue" });
    out.commit();
    return "sent";
  }
}

/** A message that was asked for. */
export class PulledAmqpDelivery extends AmqpDelivery implements PulledDelivery {
  readonly waiting: number;

  constructor(
    message: ReceivedMessage,
    tag: number,
    { channel, waiting }: { readonly channel: LinkChannel; readonly waiting: number },
  ) {
    super(message, tag, channel);
    this.waiting = waiting;
  }
}
