/**
 * A reader of a stream: it goes through the entries at its own pace, and can acknowledge them and nothing else.
 *
 * @module
 */

import type { SettleAs } from "../../src/ports/broker.ts";
import { type ConsumedQueue, Consumer, type ConsumerOptions } from "./consumer.ts";
import type { MemoryDelivery } from "./delivery.ts";

/** Where it begins, and what it is told. */
export interface StreamReaderOptions extends Omit<ConsumerOptions, "priority"> {
  /** The offset of the entry it gets first. */
  readonly from: number;
}

/** One reader of one stream. */
export class StreamReader extends Consumer {
  /** The offset of the entry it gets next. */
  next: number;
  readonly #options: StreamReaderOptions;

  constructor(stream: ConsumedQueue, options: StreamReaderOptions) {
    super(stream, { ...options, priority: 0 });
    this.next = options.from;
    this.#options = options;
  }

  /** RabbitMQ 3.10 closes the connection over anything but an acknowledgement; here the reader is lost. */
  protected override release(delivery: MemoryDelivery, as: SettleAs): void {
    if (as === "ack") return super.release(delivery, as);
    this.close();
    this.#options.postbox.post({ arrive: () => this.#options.onRefused() });
  }
}
