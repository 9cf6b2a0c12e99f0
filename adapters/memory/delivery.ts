/**
 * A message in somebody's hands.
 *
 * @module
 */

import type { ReceivedMessage } from "../../src/message/received.ts";
import type { BrokerDelivery, DeliveryHandle, SettleAs } from "../../src/ports/broker.ts";
import type { QueueEntry } from "./ready_list.ts";

/** Whose hands. */
export interface DeliveryHolder {
  /** Whether what it holds can still be settled. */
  readonly isOpen: boolean;
  settle(delivery: MemoryDelivery, as: SettleAs): "sent" | "stale";
}

/** What is in those hands. */
export interface HeldMessage {
  readonly entry: QueueEntry;
  readonly message: ReceivedMessage;
  /** By the clock's elapsed time. */
  readonly takenAtMs: number;
  /** Which of the consumers that its holder has been. */
  readonly turn: number;
}

/** A delivery of the memory broker. */
export class MemoryDelivery implements BrokerDelivery {
  readonly entry: QueueEntry;
  readonly message: ReceivedMessage;
  readonly takenAtMs: number;
  readonly turn: number;
  readonly #holder: DeliveryHolder;
  #settled: "sent" | "stale" | undefined;

  constructor({ entry, message, takenAtMs, turn }: HeldMessage, holder: DeliveryHolder) {
    this.entry = entry;
    this.message = message;
    this.takenAtMs = takenAtMs;
    this.turn = turn;
    this.#holder = holder;
  }

  get isLive(): boolean {
    return this.#settled === undefined && this.#holder.isOpen;
  }

  /** The message is in memory either way. */
  detach(): DeliveryHandle {
    return this;
  }

  settle(as: SettleAs): "sent" | "stale" {
    return this.#settled ??= this.#holder.settle(this, as);
  }
}
