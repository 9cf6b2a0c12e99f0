/**
 * A subscription: one consumer on a channel of its own, which comes back after every loss until it is cancelled.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { streamOffset } from "../../src/message/broker_headers.ts";
import type { BrokerEvent, SubscribeOptions, Subscription } from "../../src/ports/broker.ts";
import { delayBefore } from "./backoff.ts";
import { assertPrefetch, nextTag } from "./consumer_settings.ts";
import { AmqpDelivery } from "./delivery.ts";
import { isStream } from "./is_stream.ts";
import { describeCallError, type Link } from "./link.ts";
import type { LinkChannel } from "./link_channel.ts";
import { describeClose } from "./link_failure.ts";
import type { Backoff } from "./options.ts";
import { cancelConsumer, consume, limitPrefetch } from "./wire/calls.ts";
import type { Content } from "./wire/content_assembler.ts";

/** What a subscription needs of the connection it belongs to. */
export interface SubscriptionHost {
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** The open link, if there is one. */
  readonly link: Link | undefined;
  readonly report: (event: BrokerEvent) => void;
  /** Declares what is to be consumed from again, where it may be gone. Never rejects. */
  readonly redeclare: (link: Link) => Promise<void>;
  /** Does something with a link that may go down; without one where the queue is only for the connection's own. */
  readonly aside: (signal: AbortSignal, act: (link: Link | undefined) => Promise<void>) => Promise<void>;
  /** The subscription is over and need not be restored any more. */
  readonly forget: (subscription: AmqpSubscription) => void;
}

/** What to consume and who hears it. */
export interface SubscriptionSettings extends SubscribeOptions {
  readonly queue: string;
}

/** One attempt to consume, and the channel it stands on. */
interface Standing {
  readonly link: Link;
  readonly channel: LinkChannel;
  consumerTag: string;
  /** Where the newest delivery lies in its stream; undefined while there was none, and for a queue that is no stream. */
  offset?: number | bigint | undefined;
  /** Why it was over before it began. */
  lostBecause?: string;
}

const LINK_LOST = "the connection was lost";

/** See {@linkcode Subscription}. */
export class AmqpSubscription implements Subscription {
  readonly #settings: SubscriptionSettings;
  readonly #host: SubscriptionHost;
  #prefetch: number;
  /** The newest attempt; whatever still arrives on an older one is left to the broker. */
  #current: Standing | undefined;
  #isLive = false;
  /** It stood before, and whoever consumes knows that it does not. */
  #isLost = false;
  /** Everybody was told of the loss, and not of the return. */
  #isMissed = false;
  /** Why the broker closed a link on which it was asked to consume. */
  #fault: string | undefined;
  /** Nothing more is wanted. */
  #isEnding = false;
  /** Ends the attempts to come back that are under way. */
  #returning: AbortController | undefined;
  /** Calls on the channel are made one after another. */
  #turn: Promise<void> = Promise.resolve();

  constructor(settings: SubscriptionSettings, host: SubscriptionHost) {
    this.#settings = settings;
    this.#host = host;
    this.#prefetch = settings.prefetch;
  }

  get queue(): string {
    return this.#settings.queue;
  }

  get live(): boolean {
    return this.#isLive && !this.#isEnding;
  }

  /** Starts consuming on a link; rejects when the broker refuses. */
  async start(link: Link): Promise<void> {
    const channel = await link.openChannel();
    if (this.#isEnding) return void channel.leave();
    const standing: Standing = { link, channel, consumerTag: this.#settings.consumerTag };
    this.#current = standing;
    channel.listen({
      onContent: (content) => this.#deliver(standing, content),
      onCancel: () => this.#lost(standing, "the broker cancelled the consumer"),
      onGone: (reason) => this.#lost(standing, reason === undefined ? LINK_LOST : describeClose(reason)),
    });
    try {
      await this.#consume(standing);
    } catch (error) {
      if (standing === this.#current) this.#current = undefined;
      void channel.leave();
      throw error;
    }
    if (this.#isEnding || standing !== this.#current) return void channel.leave();
    this.#stands();
    if (standing.lostBecause !== undefined) this.#lost(standing, standing.lostBecause);
  }

  /** Brings the subscription back on a new link; resolves when it stands, or goes on trying by itself. */
  async restore(link: Link): Promise<void> {
    if (this.#isEnding) return;
    const signal = this.#beginReturn();
    // Whoever has taken a link down is not let onto the next one before it has shown that it does not.
    const failure = this.#fault ?? await this.#attempt(link, signal);
    if (failure !== undefined) this.#returnLater(failure, signal);
  }

  /** Tells that it does not consume, and why, unless that is known or not so. */
  miss(reason: string): void {
    if (this.#isMissed || this.#isEnding || this.#isLive) return;
    this.#isMissed = true;
    this.#host.report({ type: "consumer_lost", queue: this.#settings.queue, reason });
  }

  async setPrefetch(prefetch: number): Promise<void> {
    assertPrefetch(prefetch);
    this.#prefetch = prefetch;
    // A new limit counts for new consumers only.
    await this.#inTurn(async (standing) => this.#isEnding ? undefined : await this.#replace(standing));
  }

  caughtUp(): Promise<void> {
    // Any call would do that changes nothing: on one channel its answer comes behind every delivery.
    return this.#inTurn(async ({ link, channel }) => void await link.call(channel, limitPrefetch(this.#prefetch)));
  }

  async cancel(): Promise<void> {
    this.#end();
    // What does not stand has nothing to cancel; its start finds out that it is not wanted any more.
    if (!this.#isLive) return;
    const cancelled = this.#inTurn(async ({ link, channel, consumerTag }) => {
      await link.call(channel, cancelConsumer(consumerTag));
    });
    await (this.#current?.link.unlessBlocked(cancelled) ?? cancelled);
  }

  async close(): Promise<void> {
    this.#end();
    const standing = this.#current;
    this.#current = undefined;
    await standing?.link.unlessBlocked(standing.channel.leave());
  }

  async #consume({ link, channel, consumerTag, offset = -1 }: Standing, goesOn = false): Promise<void> {
    const { queue, arguments: asked = {} } = this.#settings;
    const args = goesOn ? { ...asked, "x-stream-offset": BigInt(offset) + 1n } : asked;
    await link.call(channel, limitPrefetch(this.#prefetch));
    await link.call(channel, consume({ queue, consumerTag, arguments: args }));
  }

  /** Another consumer takes the place of the one there is; what that one has in hand stays on the channel. */
  async #replace(standing: Standing): Promise<void> {
    const { link, channel, consumerTag: replaced } = standing;
    const hasPlace = await this.#hasPlaceInStream(standing);
    standing.consumerTag = nextTag(replaced, this.#settings.consumerTag);
    const steps = [() => this.#consume(standing, hasPlace), () => link.call(channel, cancelConsumer(replaced))];
    // The new one comes first, since an auto-delete queue would go with its last consumer. In a stream it comes second: it has to
    // begin behind the last entry of the old one, and not where that one began.
    if (hasPlace) steps.reverse();
    for (const step of steps) await step();
  }

  /** The header alone proves nothing: anybody may send it along. */
  async #hasPlaceInStream({ link, offset }: Standing): Promise<boolean> {
    const { queue, arguments: asked = {} } = this.#settings;
    if (offset === undefined) return false;
    return Object.hasOwn(asked, "x-stream-offset") || await isStream(link, queue);
  }

  #deliver(standing: Standing, { method, message }: Content): void {
    if (standing !== this.#current || method.kind !== "delivery") return;
    standing.offset = streamOffset(message.headers);
    try {
      this.#settings.onDelivery(new AmqpDelivery(message, method.deliveryTag, standing.channel));
    } catch {
      // The delivery stays unsettled: the broker has it, and hands it out again when the channel ends.
    }
  }

  /** Deliveries handed out before are the broker's again; the subscription returns, by itself or with the connection. */
  #lost(standing: Standing, reason: string): void {
    if (standing !== this.#current) return;
    if (!this.#isLive) return void (standing.lostBecause = reason);
    this.#isLive = false;
    this.#isLost = true;
    this.#current = undefined;
    void standing.channel.leave();
    this.#settings.onLost(reason);
    if (!this.#isEnding && standing.link.isUsable) this.#returnLater(reason, this.#beginReturn());
  }

  /** One way back at a time. */
  #beginReturn(): AbortSignal {
    this.#returning?.abort();
    this.#returning = new AbortController();
    return this.#returning.signal;
  }

  #returnLater(reason: string, signal: AbortSignal): void {
    this.miss(reason);
    this.#return(signal).catch(() => {/* ended, or on another way back */});
  }

  async #return(signal: AbortSignal): Promise<void> {
    const { clock, backoff } = this.#host;
    for (let attempt = 1;; attempt++) {
      await clock.delay(delayBefore(attempt, backoff), { signal });
      const { link } = this.#host;
      // The next link brings it back.
      if (link === undefined) return;
      await this.#host.redeclare(link);
      signal.throwIfAborted();
      if (await this.#attempt(link, signal) === undefined) return;
    }
  }

  /** Why it does not stand; undefined when it does, or when nobody is to try again on this way back. */
  async #attempt(link: Link, signal: AbortSignal): Promise<string | undefined> {
    try {
      if (this.#fault === undefined) await this.start(link);
      else await this.#startCautiously(link, signal);
    } catch (error) {
      this.#fault = link.fault ?? this.#fault;
      return signal.aborted || !link.isUsable ? undefined : describeCallError(error);
    }
    return undefined;
  }

  #stands(): void {
    this.#isLive = true;
    this.#fault = undefined;
    if (this.#isLost) this.#settings.onRecovered();
    if (this.#isMissed) this.#host.report({ type: "consumer_recovered", queue: this.#settings.queue });
    this.#isLost = this.#isMissed = false;
  }

  /** Consumes elsewhere first, for as long as it takes to start here: an auto-delete queue would go with its last consumer. */
  #startCautiously(link: Link, signal: AbortSignal): Promise<void> {
    const { queue, consumerTag, arguments: args = {} } = this.#settings;
    return this.#host.aside(signal, async (other) => {
      if (other !== undefined) {
        const channel = await other.openChannel();
        await other.call(channel, limitPrefetch(1));
        await other.call(channel, consume({ queue, consumerTag, arguments: args }));
      }
      await this.start(link);
    });
  }

  #end(): void {
    this.#isEnding = true;
    this.#returning?.abort();
    this.#host.forget(this);
  }

  /** A call fails only with its channel, and what follows from that is done where the loss is heard of. */
  #inTurn(action: (standing: Standing) => Promise<void>): Promise<void> {
    return this.#turn = this.#turn
      .then(() => this.#current === undefined ? undefined : action(this.#current))
      .catch(() => {});
  }
}
