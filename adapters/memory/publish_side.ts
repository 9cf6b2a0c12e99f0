/**
 * The publishing half of a connection: what is taken, what is declined, and what runs into a block.
 *
 * @module
 */

import type { Outbound } from "../../src/message/outbound.ts";
import type { BrokerEvent, PublishOptions, PublishReceipt } from "../../src/ports/broker.ts";
import type { Inlet } from "./inlet.ts";
import { Refusal } from "./refusals.ts";
import { propertiesOf, type StoredMessage, storedMessage } from "./stored_message.ts";
import { type MessageLimits, unsendable } from "./unsendable.ts";
import type { VirtualHost } from "./virtual_host.ts";
import { UnwritableError } from "./wire_hop.ts";

/** What the broker tells the publishing half of every connection. */
export interface PublishHost {
  readonly virtualHost: VirtualHost;
  readonly limits: MessageLimits;
  /** Why publishing is blocked; undefined while it is not. */
  readonly blockedReason: string | undefined;
}

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };
const PUBLISHED: PublishReceipt = { outcome: "published" };

/** Publishes over one connection. */
export class PublishSide {
  readonly #host: PublishHost;
  readonly #inlet: Inlet;
  readonly #onEvent: (event: BrokerEvent) => void;
  /** By lane: what is an AMQP channel on RabbitMQ. */
  readonly #publishers = new Map<number, object>();
  #blockedReason: string | undefined;

  constructor(host: PublishHost, inlet: Inlet, onEvent: (event: BrokerEvent) => void) {
    this.#host = host;
    this.#inlet = inlet;
    this.#onEvent = onEvent;
  }

  /** Why this connection is blocked; undefined while it is not. */
  get blockedReason(): string | undefined {
    return this.#blockedReason;
  }

  /** Publishes one message; without a confirm the answer is there as soon as it was sent. */
  async publish(outbound: Outbound, { lane, confirm }: PublishOptions): Promise<PublishReceipt> {
    if (this.#blockedReason !== undefined) {
      return { outcome: "paused", reason: `the broker has blocked this connection: ${this.#blockedReason}` };
    }
    const message = this.#written(outbound);
    if ("outcome" in message) return message;
    this.#hearOfBlock();
    const take = (): PublishReceipt => this.#taken(message, outbound.mandatory, confirm ? lane : -lane);
    const receipt = this.#inlet.isBlocked ? this.#takenLater(take) : take();
    return confirm ? receipt : PUBLISHED;
  }

  /** The broker takes publishes again. */
  unblock(): void {
    if (this.#blockedReason === undefined) return;
    this.#blockedReason = undefined;
    this.#inlet.unblock();
    this.#onEvent({ type: "unblocked" });
  }

  /** The message as it went out, or why it did not. */
  #written(outbound: Outbound): StoredMessage | PublishReceipt {
    const problem = unsendable(outbound, this.#host.limits);
    if (problem !== undefined) return { outcome: "refused", reason: problem, written: false };
    const { exchange, routingKey, headers, body } = outbound;
    try {
      return storedMessage({ exchange, routingKey, properties: propertiesOf(outbound), headers, body });
    } catch (error) {
      if (error instanceof Refusal) return refused(error);
      if (!(error instanceof UnwritableError)) throw error;
      return { outcome: "refused", reason: error.message, written: false };
    }
  }

  #taken(message: StoredMessage, mandatory: boolean, lane: number): PublishReceipt {
    try {
      const routed = this.#host.virtualHost.publish(message, this.#publisher(lane));
      if (routed === "rejected") return { outcome: "nacked", reason: "the broker rejected the message" };
      return routed === "unroutable" && mandatory ? { outcome: "unroutable", reason: "312 NO_ROUTE" } : CONFIRMED;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // It closes the channel, and the next message goes over another.
      this.#publishers.delete(lane);
      return refused(error);
    }
  }

  #publisher(lane: number): object {
    const known = this.#publishers.get(lane);
    if (known !== undefined) return known;
    const publisher = {};
    this.#publishers.set(lane, publisher);
    return publisher;
  }

  #takenLater(take: () => PublishReceipt): Promise<PublishReceipt> {
    return new Promise((resolve) =>
      this.#inlet.send(
        () => resolve(take()),
        () => resolve({ outcome: "unknown", reason: "the connection was closed before the broker confirmed" }),
      )
    );
  }

  /** RabbitMQ tells a connection of an alarm when it publishes, and by then half of that message has been read. */
  #hearOfBlock(): void {
    const reason = this.#host.blockedReason;
    if (reason === undefined) return;
    this.#blockedReason = reason;
    this.#inlet.block();
    this.#onEvent({ type: "blocked", reason });
  }
}

/** What the broker has closed a channel over. */
function refused({ code, message }: Refusal): PublishReceipt {
  return { outcome: "refused", reason: `${code} ${message}`, written: true };
}
