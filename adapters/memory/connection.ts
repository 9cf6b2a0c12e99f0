/**
 * A connection to a memory broker.
 *
 * @module
 */

import { ConnectionError, TopologyError } from "../../src/errors.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import { contentHeaderSize } from "../../src/message/wire_size.ts";
import type {
  BrokerConnection,
  BrokerDelivery,
  BrokerLimits,
  BrokerOpenOptions,
  BrokerState,
  DeclareResult,
  PublishOptions,
  PublishReceipt,
  QueueState,
  SubscribeOptions,
  Subscription,
} from "../../src/ports/broker.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import { Holder } from "./holder.ts";
import type { MemoryQueue } from "./queue.ts";
import { Refusal } from "./refusals.ts";
import { propertiesOf, storedMessage } from "./stored_message.ts";
import { MemorySubscription } from "./subscription.ts";
import type { VirtualHost } from "./virtual_host.ts";
import { UnwritableHeaderError } from "./wire_hop.ts";

/** What one message may have, bytes. */
export interface MessageLimits extends BrokerLimits {
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
}

/** What the broker tells its connections, and hears of them. */
export interface ConnectionHost {
  readonly virtualHost: VirtualHost;
  readonly limits: MessageLimits;
  /** Why publishing is blocked; undefined while it is not. */
  readonly blockedReason: string | undefined;
  closed(connection: MemoryConnection): void;
}

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };
const PUBLISHED: PublishReceipt = { outcome: "published" };

/** An open connection of the memory broker. */
export class MemoryConnection implements BrokerConnection {
  readonly transport = "memory";
  readonly hostName = "memory";
  readonly #host: ConnectionHost;
  readonly #options: BrokerOpenOptions;
  readonly #subscriptions = new Set<MemorySubscription>();
  readonly #pulled = new Map<MemoryQueue, Holder>();
  #isOpen = true;
  #blockedReason: string | undefined;

  constructor(host: ConnectionHost, options: BrokerOpenOptions) {
    this.#host = host;
    this.#options = options;
    this.#broker.enter();
  }

  get limits(): BrokerLimits {
    return this.#host.limits;
  }

  get state(): BrokerState {
    return { status: this.#isOpen ? "open" : "closed", blockedReason: this.#blockedReason };
  }

  publish(outbound: Outbound, { confirm }: PublishOptions): Promise<PublishReceipt> {
    const receipt = this.#publish(outbound);
    const isAnswer = receipt.outcome !== "paused" && !(receipt.outcome === "refused" && !receipt.written);
    return Promise.resolve(!confirm && isAnswer ? PUBLISHED : receipt);
  }

  subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    return this.#ask(`subscribe to queue "${queue}"`, () => {
      const { onEvent } = this.#options;
      const onEnd = (): boolean => this.#subscriptions.delete(subscription);
      const subscription = new MemorySubscription(this.#broker, { queue, user: this, options, onEvent, onEnd });
      this.#subscriptions.add(subscription);
      return subscription;
    });
  }

  declareExchange(spec: ExchangeSpec): Promise<DeclareResult> {
    return this.#declare(`declare exchange "${spec.name}"`, () => this.#broker.declareExchange(spec));
  }

  declareQueue(spec: QueueSpec): Promise<DeclareResult> {
    return this.#declare(`declare queue "${spec.name}"`, () => this.#broker.declareQueue(spec, this));
  }

  bindQueue(spec: BindingSpec): Promise<DeclareResult> {
    return this.#declare(`bind queue "${spec.queue}"`, () => this.#broker.bind(spec, this));
  }

  checkQueue(name: string): Promise<QueueState> {
    return this.#ask(`check queue "${name}"`, () => {
      const queue = this.#broker.findQueue(name);
      if (queue === undefined) return { status: "absent" };
      // How much is in somebody else's own queue is not told.
      const { messages, consumers } = queue.isOpenTo(this) ? queue : { messages: 0, consumers: 0 };
      return { status: "present", messages, consumers };
    });
  }

  checkExchange(name: string): Promise<"present" | "absent"> {
    return this.#ask(`check exchange "${name}"`, () => this.#broker.hasExchange(name) ? "present" : "absent");
  }

  pull(queue: string): Promise<BrokerDelivery | null> {
    return this.#ask(`pull from queue "${queue}"`, () => {
      const source = this.#broker.queue(queue, this);
      const entry = source.pull();
      return entry === undefined ? null : this.#handOf(source).take(entry, true);
    });
  }

  deleteQueue(name: string): Promise<void> {
    return this.#ask(`delete queue "${name}"`, () => this.#broker.deleteQueue(name, this));
  }

  deleteExchange(name: string): Promise<void> {
    return this.#ask(`delete exchange "${name}"`, () => this.#broker.deleteExchange(name));
  }

  purgeQueue(name: string): Promise<void> {
    return this.#ask(`purge queue "${name}"`, () => this.#broker.queue(name, this).purge());
  }

  close(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false;
      for (const subscription of this.#subscriptions) subscription.end();
      for (const holder of this.#pulled.values()) holder.close();
      this.#broker.leave(this);
      this.#host.closed(this);
    }
    return Promise.resolve();
  }

  /** The broker takes publishes again. */
  unblock(): void {
    if (this.#blockedReason === undefined) return;
    this.#blockedReason = undefined;
    this.#options.onEvent({ type: "unblocked" });
  }

  get #broker(): VirtualHost {
    return this.#host.virtualHost;
  }

  /** What this connection has pulled off a queue, and not settled. */
  #handOf(queue: MemoryQueue): Holder {
    const held = this.#pulled.get(queue) ?? new Holder(queue);
    this.#pulled.set(queue, held);
    return held;
  }

  #publish(outbound: Outbound): PublishReceipt {
    if (!this.#isOpen) return { outcome: "paused", reason: "the connection is closed" };
    if (this.#blockedReason !== undefined) return { outcome: "paused", reason: this.#blockedReason };
    const problem = this.#problemOf(outbound);
    if (problem !== undefined) return { outcome: "refused", reason: problem, written: false };
    try {
      return this.#route(outbound);
    } catch (error) {
      if (error instanceof UnwritableHeaderError) return { outcome: "refused", reason: error.message, written: false };
      if (error instanceof Refusal) return { outcome: "refused", reason: error.message, written: true };
      throw error;
    }
  }

  #route(outbound: Outbound): PublishReceipt {
    const { exchange, routingKey, headers, body, mandatory } = outbound;
    const properties = propertiesOf(outbound);
    const message = storedMessage({ exchange, routingKey, properties, headers, body });
    this.#hearOfBlock();
    const routed = this.#broker.publish(message);
    if (routed === "rejected") return { outcome: "nacked", reason: "the broker rejected the message" };
    return routed === "unroutable" && mandatory ? { outcome: "unroutable", reason: "312 NO_ROUTE" } : CONFIRMED;
  }

  #problemOf(outbound: Outbound): string | undefined {
    const { maxBodyBytes, maxHeaderBytes } = this.#host.limits;
    if (outbound.body.byteLength > maxBodyBytes) {
      return `the body has ${outbound.body.byteLength} bytes, the broker takes ${maxBodyBytes}`;
    }
    const size = contentHeaderSize(outbound);
    return size > maxHeaderBytes ? `the headers take ${size} bytes, a frame holds ${maxHeaderBytes}` : undefined;
  }

  /** As RabbitMQ does, the broker tells a connection of the block when it publishes: that message is the last one taken. */
  #hearOfBlock(): void {
    const reason = this.#host.blockedReason;
    if (reason === undefined) return;
    this.#blockedReason = reason;
    this.#options.onEvent({ type: "blocked", reason });
  }

  async #declare(action: string, effect: () => void): Promise<DeclareResult> {
    this.#assertOpen(action);
    try {
      effect();
      return { status: "declared" };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.isDifference ? "differs" : "refused", reason: error.message };
    }
  }

  async #ask<Answer>(action: string, answer: () => Answer): Promise<Answer> {
    this.#assertOpen(action);
    try {
      return answer();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const code = error.code === 404 ? "ACEMQ_TOPOLOGY_MISSING" : "ACEMQ_TOPOLOGY_REFUSED";
      throw new TopologyError(code, `Cannot ${action}: ${error.message}`, { findings: [error.message] });
    }
  }

  #assertOpen(action: string): void {
    if (this.#isOpen) return;
    throw new ConnectionError("ACEMQ_CONNECTION_CLOSED", `Cannot ${action}: the connection is closed`);
  }
}
