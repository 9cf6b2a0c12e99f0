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

/** A delivery of the memory broker. */
export class MemoryDelivery implements BrokerDelivery {
  readonly entry: QueueEntry;
  readonly message: ReceivedMessage;
  readonly #holder: DeliveryHolder;
  #settled: "sent" | "stale" | undefined;

  constructor(entry: QueueEntry, message: ReceivedMessage, holder: DeliveryHolder) {
    this.entry = entry;
    this.message = message;
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
