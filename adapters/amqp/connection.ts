/**
 * A connection to an AMQP broker: what {@linkcode BrokerConnection} promises, on whichever link stands just now.
 *
 * @module
 */

import { assertName } from "../../src/internal/assert_option.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type * as port from "../../src/ports/broker.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import * as admin from "./admin.ts";
import { compareExchange, compareQueue } from "./compare.ts";
import { machineName } from "./host_name.ts";
import type { Link } from "./link.ts";
import { LinkKeeper } from "./link_keeper.ts";
import type { ResolvedOptions } from "./options.ts";
import { PublishLanes } from "./publish_lanes.ts";
import { openPuller } from "./puller.ts";
import { SideLinks } from "./side_links.ts";
import { Subscriptions } from "./subscriptions.ts";
import { TopologyKeeper } from "./topology_keeper.ts";

/** What belongs to one link, and is made anew for the next. */
interface LinkSide {
  readonly link: Link;
  readonly lanes: PublishLanes;
}

/** Opens a connection; rejects with a `ConnectionError` or a `SecurityError`. */
export async function openConnection(
  options: ResolvedOptions,
  open: port.BrokerOpenOptions,
): Promise<port.BrokerConnection> {
  const connection = new AmqpConnection(options, open);
  await connection.open();
  return connection;
}

class AmqpConnection implements port.BrokerConnection {
  readonly transport = "rabbitmq";
  readonly hostName: string;
  readonly #keeper: LinkKeeper;
  readonly #aside: SideLinks;
  readonly #topology: TopologyKeeper;
  readonly #subscriptions: Subscriptions;
  #limits: port.BrokerLimits = {};
  #side: LinkSide | undefined;

  constructor(options: ResolvedOptions, open: port.BrokerOpenOptions) {
    this.hostName = options.hostName ?? machineName();
    const { clock, onEvent: report } = open;
    const { backoff } = options;
    this.#keeper = new LinkKeeper(options, open, {
      prepare: async (link) => {
        await this.#topology.restore(link);
        this.#use(link);
      },
      resume: (link) => this.#subscriptions.restore(link),
    });
    this.#aside = new SideLinks((signal) => this.#keeper.dialAside(signal), clock);
    this.#topology = new TopologyKeeper({ clock, backoff, report, aside: this.#aside });
    this.#subscriptions = new Subscriptions(this.#keeper, {
      clock,
      backoff,
      topology: this.#topology,
      aside: this.#aside,
    });
  }

  get limits(): port.BrokerLimits {
    return this.#limits;
  }

  get state(): port.BrokerState {
    return this.#keeper.state;
  }

  async open(): Promise<void> {
    this.#use(await this.#keeper.open());
  }

  publish(outbound: Outbound, options: port.PublishOptions): Promise<port.PublishReceipt> {
    const { blockedReason, status } = this.state;
    if (status !== "open" || this.#side === undefined) return paused(`the connection is ${status}`);
    if (blockedReason !== undefined) return paused(`the broker has blocked this connection: ${blockedReason}`);
    return this.#side.lanes.publish(outbound, options);
  }

  async subscribe(queue: string, options: port.SubscribeOptions): Promise<port.Subscription> {
    return await this.#subscriptions.subscribe(queue, options);
  }

  async declareExchange(spec: ExchangeSpec): Promise<port.DeclareResult> {
    const result = await admin.declareExchange(this.#keeper.require(), spec);
    if (result.status === "declared") this.#topology.declared.addExchange(spec);
    return result;
  }

  async declareQueue(spec: QueueSpec): Promise<port.DeclareResult> {
    const result = await admin.declareQueue(this.#keeper.require(), spec);
    if (result.status === "declared") this.#topology.declared.addQueue(spec);
    return result;
  }

  async bindQueue(spec: BindingSpec): Promise<port.DeclareResult> {
    const result = await admin.bindQueue(this.#keeper.require(), spec);
    if (result.status === "declared") this.#topology.declared.addBinding(spec);
    return result;
  }

  async checkQueue(name: string): Promise<port.QueueState> {
    return await admin.checkQueue(this.#keeper.require(), name);
  }

  async checkExchange(name: string): Promise<"present" | "absent"> {
    return await admin.checkExchange(this.#keeper.require(), name);
  }

  async compareExchange(spec: ExchangeSpec): Promise<port.CompareResult> {
    return await compareExchange(this.#keeper.require(), spec);
  }

  async compareQueue(spec: QueueSpec): Promise<port.CompareResult> {
    return await compareQueue(this.#keeper.require(), spec);
  }

  async openPuller(queue: string): Promise<port.Puller> {
    assertName("the name of a queue", queue);
    return await openPuller(queue, () => this.#keeper.require());
  }

  async deleteQueue(name: string): Promise<void> {
    await admin.deleteQueue(this.#keeper.require(), name);
    this.#topology.declared.removeQueue(name);
  }

  async deleteExchange(name: string): Promise<void> {
    await admin.deleteExchange(this.#keeper.require(), name);
    this.#topology.declared.removeExchange(name);
  }

  async purgeQueue(name: string): Promise<void> {
    await admin.purgeQueue(this.#keeper.require(), name);
  }

  async close(): Promise<void> {
    this.#subscriptions.end();
    this.#topology.end();
    await Promise.all([this.#keeper.close(), this.#aside.closed()]);
  }

  #use(link: Link): LinkSide {
    if (this.#side?.link === link) return this.#side;
    this.#limits = link.limits;
    return this.#side = { link, lanes: new PublishLanes(link) };
  }
}

function paused(reason: string): Promise<port.PublishReceipt> {
  return Promise.resolve({ outcome: "paused", reason });
}
