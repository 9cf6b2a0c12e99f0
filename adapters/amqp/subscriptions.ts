/**
 * The subscriptions of a connection.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { assertName } from "../../src/internal/assert_option.ts";
import type { SubscribeOptions, Subscription } from "../../src/ports/broker.ts";
import { topologyError } from "./admin.ts";
import type { Link } from "./link.ts";
import type { LinkKeeper } from "./link_keeper.ts";
import type { Backoff } from "./options.ts";
import { assertConsumerTag, assertPrefetch } from "./consumer_settings.ts";
import { inTime, PATIENCE_MS } from "./patience.ts";
import type { SideLinks } from "./side_links.ts";
import { AmqpSubscription } from "./subscription.ts";
import type { TopologyKeeper } from "./topology_keeper.ts";

/** What subscriptions come back by. */
export interface ReturnMeans {
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** What they consume from may have to be declared again. */
  readonly topology: TopologyKeeper;
  readonly aside: SideLinks;
}

/** Opens subscriptions and brings them back on a new link. */
export class Subscriptions {
  readonly #keeper: LinkKeeper;
  readonly #means: ReturnMeans;
  readonly #all = new Set<AmqpSubscription>();

  constructor(keeper: LinkKeeper, means: ReturnMeans) {
    this.#keeper = keeper;
    this.#means = means;
  }

  async subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    assertName("the name of a queue", queue);
    assertConsumerTag(options.consumerTag);
    assertPrefetch(options.prefetch);
    const link = this.#keeper.require();
    const keeper = this.#keeper;
    const { topology, aside } = this.#means;
    const subscription = new AmqpSubscription({ ...options, queue }, {
      ...this.#means,
      get link() {
        return keeper.link;
      },
      get declared() {
        return topology.declared.queue(queue);
      },
      report: (event) => keeper.report(event),
      redeclare: (link) => topology.refresh(link, queue),
      aside: (signal, act) =>
        topology.declared.queue(queue)?.exclusive === true ? act(undefined) : aside.run(signal, act),
      forget: () => this.#forget(subscription),
    });
    try {
      await subscription.start(link);
    } catch (error) {
      throw topologyError(error, `consume from queue "${queue}"`);
    }
    this.#all.add(subscription);
    return subscription;
  }

  /**
   * Brings every subscription back. Whoever does not stand when this resolves has been told as missing, and goes on by itself: one
   * that the broker refuses, and one it does not answer.
   */
  async restore(link: Link): Promise<void> {
    const restored = Promise.all([...this.#all].map((subscription) => subscription.restore(link)));
    if (await inTime(restored, this.#means) !== "late" || !link.isUsable) return;
    for (const subscription of this.#all) subscription.miss(`the broker has not answered within ${PATIENCE_MS} ms`);
  }

  #forget(subscription: AmqpSubscription): void {
    const { queue } = subscription;
    if (!this.#all.delete(subscription) || [...this.#all].some((other) => other.queue === queue)) return;
    this.#means.topology.declared.endConsumers(queue);
  }

  /** Nothing comes back any more. */
  end(): void {
    for (const subscription of this.#all) void subscription.close();
  }
}
