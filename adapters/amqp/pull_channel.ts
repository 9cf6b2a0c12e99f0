/**
 * Taking single messages off queues: one long-lived channel, opened again when it is dead.
 *
 * @module
 */

import type { PulledDelivery } from "../../src/ports/broker.ts";
import { PulledAmqpDelivery } from "./delivery.ts";
import type { Link } from "./link.ts";
import type { LinkChannel } from "./link_channel.ts";
import { getMessage } from "./wire/calls.ts";
import type { Content } from "./wire/content_assembler.ts";

/** The pulling side of one link. */
export class PullChannel {
  readonly #link: Link;
  #channel: LinkChannel | undefined;
  #opening: Promise<LinkChannel> | undefined;

  constructor(link: Link) {
    this.#link = link;
  }

  /** Rejects like {@linkcode Link.call}; the queue's absence closes the channel, and the next pull has another. */
  async pull(queue: string): Promise<PulledDelivery | null> {
    const channel = await this.#usableChannel();
    // The client answers an empty queue with null; a message our own decoder has put together.
    const content = await this.#link.call(channel, getMessage(queue)) as Content | null;
    if (content === null || content.method.kind !== "got") return null;
    const { message, method: { deliveryTag, messageCount } } = content;
    return new PulledAmqpDelivery(message, deliveryTag, { channel, waiting: messageCount });
  }

  /** Whoever comes while a channel is being opened waits for that one. */
  #usableChannel(): LinkChannel | Promise<LinkChannel> {
    if (this.#channel?.isUsable === true) return this.#channel;
    return this.#opening ??= this.#open();
  }

  async #open(): Promise<LinkChannel> {
    try {
      return this.#channel = await this.#link.openChannel();
    } finally {
      this.#opening = undefined;
    }
  }
}
