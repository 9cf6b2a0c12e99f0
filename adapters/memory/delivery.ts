/**
 * A message in somebody's hands.
 *
 * @module
 */

import type { ReceivedMessage } from "../../src/message/received.ts";
import type { BrokerDelivery, SettleAs } from "../../src/ports/broker.ts";
import type { QueueEntry } from "./ready_list.ts";

/** Whose hands. */
export interface DeliveryHolder {
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

  settle(as: SettleAs): "sent" | "stale" {
    return this.#settled ??= this.#holder.settle(this, as);
  }
}
