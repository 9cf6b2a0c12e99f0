/**
 * The publishes of one channel that wait for the broker's word.
 *
 * @module
 */

import type { PublishReceipt } from "../../src/ports/broker.ts";
import type { Confirm } from "./wire/method_frames.ts";

/** One publish that was written. */
export interface PendingPublish {
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageId: string;
  readonly settle: (receipt: PublishReceipt) => void;
  /** Why the broker has returned it; its confirm follows. */
  returned?: string;
}

/** What identifies a returned message. */
export interface ReturnedMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageId: string | undefined;
  readonly reason: string;
}

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };

/** The broker gives no reason. */
const NACKED: PublishReceipt = { outcome: "nacked", reason: "the broker rejected the message" };

/** Numbers publishes as the broker does, from 1, and settles each in constant time. */
export class ConfirmWindow {
  /** In the order they were published, which is the order of their numbers. */
  readonly #pending = new Map<number, PendingPublish>();
  #published = 0;

  /** Publishes that wait. */
  get size(): number {
    return this.#pending.size;
  }

  add(publish: PendingPublish): void {
    this.#pending.set(++this.#published, publish);
  }

  /** Settles what a confirm names: one number, or every number up to it. */
  confirm({ tag, multiple }: Confirm, isAck: boolean): void {
    if (!multiple) return this.#settle(tag, this.#pending.get(tag), isAck);
    for (const [number, publish] of this.#pending) {
      if (number > tag && tag !== 0) return;
      this.#settle(number, publish, isAck);
    }
  }

  /**
   * Notes that a message came back; the confirm that follows says so.
   *
   * Two copies of one id may be in flight, so exchange and routing key count too, and of those that agree the oldest is meant.
   */
  returned({ exchange, routingKey, messageId, reason }: ReturnedMessage): void {
    for (const publish of this.#pending.values()) {
      const isMeant = publish.returned === undefined && publish.messageId === messageId &&
        publish.routingKey === routingKey && publish.exchange === exchange;
      if (!isMeant) continue;
      publish.returned = reason;
      return;
    }
  }

  /** Ends every wait: the channel is gone, and no confirm will come. */
  settleAll(receipt: PublishReceipt): void {
    const publishes = [...this.#pending.values()];
    this.#pending.clear();
    for (const { settle } of publishes) settle(receipt);
  }

  #settle(number: number, publish: PendingPublish | undefined, isAck: boolean): void {
    if (publish === undefined) return;
    this.#pending.delete(number);
    if (!isAck) publish.settle(NACKED);
    else if (publish.returned === undefined) publish.settle(CONFIRMED);
    else publish.settle({ outcome: "unroutable", reason: publish.returned });
  }
}
