/**
 * Taking single messages off one queue, on a channel of its own: opened again when it is dead, closed at the end.
 *
 * @module
 */

import { ConnectionError } from "../../src/errors.ts";
import type { PulledDelivery, Puller } from "../../src/ports/broker.ts";
import { checkQueueThere, topologyError } from "./admin.ts";
import { PulledAmqpDelivery } from "./delivery.ts";
import { assertNoStream } from "./is_stream.ts";
import type { Link } from "./link.ts";
import type { LinkChannel } from "./link_channel.ts";
import { getMessage } from "./wire/calls.ts";
import type { Content } from "./wire/content_assembler.ts";

/** A channel, and the link it is on. */
interface PullChannel {
  readonly link: Link;
  readonly channel: LinkChannel;
}

/** Opens a puller on the link there is; `link` gives it, or throws a `ConnectionError`. */
export async function openPuller(queue: string, link: () => Link): Promise<Puller> {
  const puller = new AmqpPuller(queue, link);
  await puller.open();
  return puller;
}

class AmqpPuller implements Puller {
  readonly #queue: string;
  readonly #link: () => Link;
  #standing: PullChannel | undefined;
  #opening: Promise<PullChannel> | undefined;
  /** Pulls without an answer. */
  #asked = 0;
  #closing: Promise<void> | undefined;

  constructor(queue: string, link: () => Link) {
    this.#queue = queue;
    this.#link = link;
  }

  async open(): Promise<void> {
    await this.#inOurWords(() => this.#usable());
  }

  async pull(): Promise<PulledDelivery | null> {
    return await this.#inOurWords(async () => {
      const { link, channel } = await this.#usable();
      this.#asked++;
      try {
        return asDelivery(await link.call(channel, getMessage(this.#queue)), channel);
      } finally {
        this.#asked--;
      }
    });
  }

  close(): Promise<void> {
    return this.#closing ??= this.#leave(this.#standing);
  }

  /** A queue that does not answer a pull holds up the close of the channel as well: nobody waits for that. */
  async #leave(standing: PullChannel | undefined): Promise<void> {
    if (standing === undefined) return;
    const left = standing.channel.leave();
    if (this.#asked === 0) await standing.link.unlessBlocked(left);
  }

  /** Whoever comes while a channel is being opened waits for that one. */
  #usable(): PullChannel | Promise<PullChannel> {
    if (this.#closing !== undefined) {
      throw new ConnectionError(
        "ACEMQ_CONNECTION_CLOSED",
        `Cannot pull from queue "${this.#queue}": the puller is closed`,
      );
    }
    if (this.#standing?.channel.isUsable === true) return this.#standing;
    return this.#opening ??= this.#open(this.#link());
  }

  async #open(link: Link): Promise<PullChannel> {
    try {
      await Promise.all([checkQueueThere(link, this.#queue), assertNoStream(link, this.#queue, "pull from")]);
      const standing = { link, channel: await link.openChannel() };
      this.#standing = standing;
      if (this.#closing !== undefined) void standing.channel.leave();
      return standing;
    } finally {
      this.#opening = undefined;
    }
  }

  async #inOurWords<Result>(act: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await act();
    } catch (error) {
      throw topologyError(error, `pull from queue "${this.#queue}"`);
    }
  }
}

/** The client answers an empty queue with null; a message our own decoder has put together. */
function asDelivery(answer: unknown, channel: LinkChannel): PulledDelivery | null {
  const content = answer as Content | null;
  if (content === null || content.method.kind !== "got") return null;
  const { message, method: { deliveryTag, messageCount } } = content;
  return new PulledAmqpDelivery(message, deliveryTag, { channel, waiting: messageCount });
}
