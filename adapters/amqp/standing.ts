/**
 * A consumer on a channel of its own, and those that take its place there.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { streamOffset } from "../../src/message/broker_headers.ts";
import type { ReceivedMessage } from "../../src/message/received.ts";
import type { DeclareArguments, QueueSpec } from "../../src/topology/specs.ts";
import { nextTag } from "./consumer_settings.ts";
import { isStream } from "./is_stream.ts";
import type { Link } from "./link.ts";
import type { LinkChannel } from "./link_channel.ts";
import { behindLastStandIn, behindStandIn, type EndingPlace, needsStandIn } from "./stand_in.ts";
import { cancelConsumer, consume, limitPrefetch } from "./wire/calls.ts";

/** What is consumed, and what is known of it. */
export interface StandingTerms {
  readonly queue: string;
  readonly consumerTag: string;
  readonly arguments?: DeclareArguments;
  readonly clock: Clock;
  /** How the queue was declared, where this connection did. */
  readonly declared: QueueSpec | undefined;
}

/** One attempt to consume, and the channel it stands on. Whatever it asks the broker rejects like {@linkcode Link.call}. */
export class Standing {
  readonly link: Link;
  readonly channel: LinkChannel;
  /** Why it was over before it began. */
  lostBecause: string | undefined;
  readonly #terms: StandingTerms;
  /** The tag of the newest consumer. */
  #consumerTag: string;
  /** Where the newest delivery lies in its stream; undefined while there was none, and for a queue that is no stream. */
  #offset: number | bigint | undefined;

  constructor(link: Link, channel: LinkChannel, terms: StandingTerms) {
    this.link = link;
    this.channel = channel;
    this.#terms = terms;
    this.#consumerTag = terms.consumerTag;
  }

  /** A message was delivered. */
  note({ headers }: ReceivedMessage): void {
    this.#offset = streamOffset(headers);
  }

  /** Starts to consume. */
  async begin(prefetch: number): Promise<void> {
    await this.#consume(prefetch, this.#asked);
  }

  /** Another consumer takes the place of the one there is; what that one has in hand stays on the channel. */
  async replace(prefetch: number): Promise<void> {
    const replaced = this.#consumerTag;
    const hasPlace = await this.#hasPlaceInStream();
    this.#consumerTag = nextTag(replaced, this.#terms.consumerTag);
    if (hasPlace) {
      // In a stream the new one has to begin behind the last entry of the old one, and not where that one began.
      await this.#cancel(replaced);
      return await this.#consume(prefetch, { ...this.#asked, "x-stream-offset": BigInt(this.#offset ?? -1) + 1n });
    }
    // Elsewhere it comes first, since an auto-delete queue would go with its last consumer.
    await this.#consume(prefetch, this.#asked);
    const cancel = (): Promise<void> => this.#cancel(replaced);
    await (this.#isAtRisk ? behindStandIn(this.#place, cancel) : cancel());
  }

  /** Ends the consumer; what it has in hand stays on the channel. */
  async end(): Promise<void> {
    const cancel = (): Promise<void> => this.#cancel(this.#consumerTag);
    await (this.#isAtRisk ? behindLastStandIn(this.#place, cancel) : cancel());
  }

  /** Resolves when what was on its way has arrived. */
  async caughtUp(prefetch: number): Promise<void> {
    // Any call would do that changes nothing: on one channel its answer comes behind every delivery.
    await this.link.call(this.channel, limitPrefetch(prefetch));
  }

  get #asked(): DeclareArguments {
    return this.#terms.arguments ?? {};
  }

  get #place(): EndingPlace {
    const { link, channel } = this;
    const { queue, clock } = this.#terms;
    return { link, channel, queue, clock };
  }

  /** Whether the queue may not survive the end of its consumer. Nothing but a stream takes an offset. */
  get #isAtRisk(): boolean {
    return !Object.hasOwn(this.#asked, "x-stream-offset") && needsStandIn(this.link, this.#terms.declared);
  }

  async #consume(prefetch: number, args: DeclareArguments): Promise<void> {
    const { link, channel } = this;
    await link.call(channel, limitPrefetch(prefetch));
    const { queue } = this.#terms;
    await link.call(channel, consume({ queue, consumerTag: this.#consumerTag, arguments: args }));
  }

  async #cancel(consumerTag: string): Promise<void> {
    await this.link.call(this.channel, cancelConsumer(consumerTag));
  }

  /** Whether it is known how far it has read. The header alone proves nothing: anybody may send it along. */
  async #hasPlaceInStream(): Promise<boolean> {
    if (this.#offset === undefined) return false;
    return Object.hasOwn(this.#asked, "x-stream-offset") || await isStream(this.link, this.#terms.queue);
  }
}
