/**
 * A subscription: one consumer on a channel of its own, which comes back after every loss until it is cancelled.
 *
 * @module
 */

import type { BrokerEvent, SubscribeOptions, Subscription } from "../../src/ports/broker.ts";
import type { QueueSpec } from "../../src/topology/specs.ts";
import { assertPrefetch } from "./consumer_settings.ts";
import { AmqpDelivery } from "./delivery.ts";
import type { Link } from "./link.ts";
import { describeClose } from "./link_failure.ts";
import { Standing } from "./standing.ts";
import { WayBack, type WayBackHost } from "./way_back.ts";
import type { Content } from "./wire/content_assembler.ts";

/** What a subscription needs of the connection it belongs to. */
export interface SubscriptionHost extends WayBackHost {
  /** How the queue was declared, where this connection did. */
  readonly declared: QueueSpec | undefined;
  readonly report: (event: BrokerEvent) => void;
  /** The subscription is over and need not be restored any more. */
  readonly forget: (subscription: AmqpSubscription) => void;
}

/** What to consume and who hears it. */
export interface SubscriptionSettings extends SubscribeOptions {
  readonly queue: string;
}

const LINK_LOST = "the connection was lost";

/** See {@linkcode Subscription}. */
export class AmqpSubscription implements Subscription {
  readonly #settings: SubscriptionSettings;
  readonly #host: SubscriptionHost;
  readonly #wayBack: WayBack;
  #prefetch: number;
  /** The newest attempt; whatever still arrives on an older one is left to the broker. */
  #current: Standing | undefined;
  #isLive = false;
  /** It stood before, and whoever consumes knows that it does not. */
  #isLost = false;
  /** Everybody was told of the loss, and not of the return. */
  #isMissed = false;
  /** Nothing more is wanted. */
  #isEnding = false;
  /** Calls on the channel are made one after another. */
  #turn: Promise<void> = Promise.resolve();

  constructor(settings: SubscriptionSettings, host: SubscriptionHost) {
    this.#settings = settings;
    this.#host = host;
    this.#prefetch = settings.prefetch;
    const { queue, consumerTag, arguments: args = {} } = settings;
    this.#wayBack = new WayBack(host, {
      call: { queue, consumerTag, arguments: args },
      start: (link) => this.start(link),
      miss: (reason) => this.miss(reason),
    });
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
    const { clock, declared } = this.#host;
    const standing = new Standing(link, channel, { ...this.#settings, clock, declared });
    this.#current = standing;
    channel.listen({
      onContent: (content) => this.#deliver(standing, content),
      onCancel: () => this.#lost(standing, "the broker cancelled the consumer"),
      onGone: (reason) => this.#lost(standing, reason === undefined ? LINK_LOST : describeClose(reason)),
    });
    try {
      await standing.begin(this.#prefetch);
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
    if (!this.#isEnding) await this.#wayBack.take(link);
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
    await this.#inTurn(async (standing) => this.#isEnding ? undefined : await standing.replace(this.#prefetch));
  }

  caughtUp(): Promise<void> {
    return this.#inTurn((standing) => standing.caughtUp(this.#prefetch));
  }

  async cancel(): Promise<void> {
    this.#end();
    // What does not stand has nothing to cancel; its start finds out that it is not wanted any more.
    if (!this.#isLive) return;
    const cancelled = this.#inTurn((standing) => standing.end());
    await (this.#current?.link.unlessBlocked(cancelled) ?? cancelled);
  }

  async close(): Promise<void> {
    this.#end();
    const standing = this.#current;
    this.#current = undefined;
    await standing?.link.unlessBlocked(standing.channel.leave());
  }

  #deliver(standing: Standing, { method, message }: Content): void {
    if (standing !== this.#current || method.kind !== "delivery") return;
    standing.note(message);
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
    // What is closed on purpose has lost nothing.
    if (!standing.link.isClosing) this.#settings.onLost(reason);
    if (!this.#isEnding && standing.link.isUsable) this.#wayBack.takeLater(reason);
  }

  #stands(): void {
    this.#isLive = true;
    this.#wayBack.arrive();
    if (this.#isLost) this.#settings.onRecovered();
    if (this.#isMissed) this.#host.report({ type: "consumer_recovered", queue: this.#settings.queue });
    this.#isLost = this.#isMissed = false;
  }

  #end(): void {
    this.#isEnding = true;
    this.#wayBack.end();
    this.#host.forget(this);
  }

  /** A call fails only with its channel, and what follows from that is done where the loss is heard of. */
  #inTurn(action: (standing: Standing) => Promise<void>): Promise<void> {
    return this.#turn = this.#turn
      .then(() => this.#current === undefined ? undefined : action(this.#current))
      .catch(() => {});
  }
}
