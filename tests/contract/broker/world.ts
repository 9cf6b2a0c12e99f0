/**
 * What every case of the broker contract works with: connections to the broker under test, names nobody else uses, and time.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { ReceivedMessage } from "../../../src/message/received.ts";
import type {
  Broker,
  BrokerConnection,
  BrokerDelivery,
  BrokerEvent,
  DeclareResult,
  PublishReceipt,
  PulledDelivery,
  Puller,
  SubscribeOptions,
  Subscription,
} from "../../../src/ports/broker.ts";
import { type Clock, randomUuid } from "../../../src/clock.ts";
import type {
  DeclareArguments,
  ExchangeSpec,
  ExchangeType,
  QueueSpec,
  TopologySpec,
} from "../../../src/topology/specs.ts";

/** A broker to be tested, and how time passes for it. */
export interface BrokerUnderTest {
  /** What is tested: the cases open their connections to it. */
  readonly broker: Broker;
  /** What its connections are given for a clock. */
  readonly clock: Clock;
  /** Lets time pass: a virtual clock moves, a real one is waited for. */
  readonly pass: (ms: number) => Promise<void>;
  /** Lets the broker run out of memory: from now on it blocks whoever publishes. Only for `blockedBrokerContract`. */
  readonly block?: () => Promise<void>;
  /** Gives the broker its memory back. */
  readonly unblock?: () => Promise<void>;
  /** How long it waits before it tries again to hand over what died. Only for `deadLetterRetryContract`. */
  readonly deadLetterRetryMs?: number;
  /** How long a consumer may take to settle what it was handed. Only for `acknowledgementTimeoutContract`. */
  readonly acknowledgementTimeoutMs?: number;
}

/**
 * Something RabbitMQ has that another broker need not have:
 *
 * - `quorum_queues`: queues with `x-queue-type: quorum`, which count how often a message came back
 * - `at_least_once_dead_letters`: quorum queues with `x-dead-letter-strategy`, which let go of what died when it has arrived
 * - `queue_expiry`: queues with `x-expires`, which go when nobody uses them
 * - `single_active_consumer`: queues with `x-single-active-consumer`
 * - `priorities`: queues with `x-max-priority`, and consumers with `x-priority`
 * - `streams`: queues with `x-queue-type: stream`, which are read and not emptied
 */
export type BrokerCapability =
  | "quorum_queues"
  | "at_least_once_dead_letters"
  | "queue_expiry"
  | "single_active_consumer"
  | "priorities"
  | "streams";

/** Takes the cases of the contract. */
export interface Scenario {
  (title: string, body: (world: World) => Promise<void>): void;
  /** Takes cases that only a broker with this capability can pass. */
  needing(capability: BrokerCapability): Scenario;
}

/** A type of queue that hands every message to one consumer. */
export type QueueType = "classic" | "quorum";

/** The same cases for each type of queue. */
export function onEachQueueType(it: Scenario, cases: (it: Scenario, type: QueueType) => void): void {
  cases(it, "classic");
  cases(it.needing("quorum_queues"), "quorum");
}

/** Arguments of a queue that not every broker knows, and what it needs to know them. */
const NEEDED_FOR: Readonly<Record<string, BrokerCapability>> = {
  "x-expires": "queue_expiry",
  "x-max-priority": "priorities",
  "x-single-active-consumer": "single_active_consumer",
};

/** For cases that ask for a queue with these arguments. */
export function askingFor(it: Scenario, args: DeclareArguments = {}): Scenario {
  const onType = args["x-queue-type"] === "quorum" ? it.needing("quorum_queues") : it;
  return Object.entries(NEEDED_FOR).reduce(
    (scenario, [argument, capability]) => argument in args ? scenario.needing(capability) : scenario,
    onType,
  );
}

/** A connection, with all that has happened to it. */
export interface Peer {
  readonly mq: BrokerConnection;
  readonly events: readonly BrokerEvent[];
}

/** A subscription, with all that has come of it. */
export interface Reader {
  readonly subscription: Subscription;
  readonly deliveries: readonly BrokerDelivery[];
  readonly bodies: () => readonly string[];
  readonly losses: readonly string[];
  readonly recoveries: () => number;
}

/** How a case reads a queue. */
export interface ReadOptions {
  readonly prefetch?: number;
  readonly by?: BrokerConnection;
  readonly arguments?: DeclareArguments;
  /** What to do with each delivery as it arrives. @default {nothing: it stays in hand} */
  readonly each?: (delivery: BrokerDelivery) => void;
}

/** What a case publishes beside the body. */
export type MessageParts = Partial<Omit<Outbound, "body">> & { readonly body?: string | Uint8Array };

const POLL_MS = 20;

/** One case's share of the broker; what it declares through this is gone when it ends. */
export class World {
  readonly under: BrokerUnderTest;
  readonly #run = randomUuid().slice(0, 8);
  readonly #peers: Peer[] = [];
  readonly #queues = new Set<string>();
  readonly #exchanges = new Set<string>();
  readonly #pullers = new Map<BrokerConnection, Map<string, Puller>>();
  #mq: BrokerConnection | undefined;

  constructor(under: BrokerUnderTest) {
    this.under = under;
  }

  /** Opens the connection that the case uses when it names none. */
  async start(): Promise<void> {
    this.#mq = (await this.connect()).mq;
  }

  /** The first connection. */
  get mq(): BrokerConnection {
    assert.ok(this.#mq !== undefined);
    return this.#mq;
  }

  /** Opens a connection. */
  async connect(): Promise<Peer> {
    const events: BrokerEvent[] = [];
    const mq = await this.under.broker.open({
      name: `acemq-contract-${this.#run}`,
      clock: this.under.clock,
      onEvent: (event) => events.push(event),
    });
    const peer = { mq, events };
    this.#peers.push(peer);
    return peer;
  }

  /** What happened to the first connection. */
  get events(): readonly BrokerEvent[] {
    return this.#peers[0]?.events ?? [];
  }

  /** A name that nobody else uses. */
  name(label: string): string {
    return `acemq-contract-${this.#run}.${label}`;
  }

  /** Declares a durable queue, classic unless the arguments say otherwise. */
  async queue(label: string, args: DeclareArguments = {}): Promise<string> {
    const name = this.name(label);
    assert.deepEqual(await this.declareQueue(name, { arguments: args }), { status: "declared" });
    return name;
  }

  declareQueue(
    name: string,
    spec: Partial<QueueSpec> & { readonly by?: BrokerConnection } = {},
  ): Promise<DeclareResult> {
    const { by = this.mq, ...rest } = spec;
    this.#queues.add(name);
    return by.declareQueue({ name, durable: true, exclusive: false, autoDelete: false, arguments: {}, ...rest });
  }

  /** Declares a durable exchange. */
  async exchange(label: string, type: ExchangeType, args: DeclareArguments = {}): Promise<string> {
    const name = this.name(label);
    assert.deepEqual(await this.declareExchange(name, { type, arguments: args }), { status: "declared" });
    return name;
  }

  declareExchange(
    name: string,
    spec: Partial<ExchangeSpec> & { readonly by?: BrokerConnection } = {},
  ): Promise<DeclareResult> {
    const { by = this.mq, ...rest } = spec;
    this.#exchanges.add(name);
    return by.declareExchange({ name, type: "direct", durable: true, autoDelete: false, arguments: {}, ...rest });
  }

  async bind(
    queue: string,
    exchange: string,
    { key = "", args = {}, by = this.mq }: { key?: string; args?: DeclareArguments; by?: BrokerConnection } = {},
  ): Promise<void> {
    const spec = { queue, exchange, routingKey: key, arguments: args };
    assert.deepEqual(await by.bindQueue(spec), { status: "declared" });
  }

  /** Declares a whole topology; its queues are removed at the end, its exchanges stay: they are shared. */
  async apply({ exchanges, queues, bindings }: TopologySpec): Promise<void> {
    for (const spec of exchanges) assert.deepEqual(await this.mq.declareExchange(spec), { status: "declared" });
    for (const spec of queues) {
      this.#queues.add(spec.name);
      assert.deepEqual(await this.mq.declareQueue(spec), { status: "declared" });
    }
    for (const spec of bindings) assert.deepEqual(await this.mq.bindQueue(spec), { status: "declared" });
  }

  /** Publishes with a confirm, mandatory unless the parts say otherwise. */
  publish(queue: string, parts: MessageParts = {}, by: BrokerConnection = this.mq): Promise<PublishReceipt> {
    return by.publish(outbound(queue, parts), { lane: 1, confirm: true });
  }

  /** Publishes one message after another, each confirmed. */
  async fill(queue: string, ...bodies: readonly string[]): Promise<void> {
    for (const body of bodies) assert.deepEqual(await this.publish(queue, { body }), { outcome: "confirmed" });
  }

  async read(queue: string, { prefetch = 0, by = this.mq, each, ...rest }: ReadOptions = {}): Promise<Reader> {
    const deliveries: BrokerDelivery[] = [];
    const losses: string[] = [];
    let recoveries = 0;
    const options: SubscribeOptions = {
      ...rest,
      prefetch,
      consumerTag: `acemq-contract-${randomUuid()}`,
      onDelivery: (delivery) => {
        deliveries.push(delivery);
        each?.(delivery);
      },
      onLost: (reason) => losses.push(reason),
      onRecovered: () => void recoveries++,
    };
    const subscription = await by.subscribe(queue, options);
    const bodies = (): readonly string[] => deliveries.map(({ message }) => textOf(message));
    return { subscription, deliveries, bodies, losses, recoveries: () => recoveries };
  }

  /** Looks until there is something to see, while time passes. */
  async until<Found>(what: string, look: () => Found | Promise<Found>, withinMs = 10_000): Promise<NonNullable<Found>> {
    for (let waitedMs = 0;; waitedMs += POLL_MS) {
      const found = await look();
      if (found) return found;
      if (waitedMs >= withinMs) assert.fail(`Waited ${withinMs} ms, and still not: ${what}`);
      await this.under.pass(POLL_MS);
    }
  }

  /** Takes the next message off a queue for good, waiting for it. */
  async take(queue: string): Promise<ReceivedMessage> {
    const delivery = await this.hold(queue);
    delivery.settle("ack");
    return delivery.message;
  }

  /** Takes the next message off a queue, waiting for it, and leaves it unsettled. */
  hold(queue: string): Promise<BrokerDelivery> {
    return this.until(`a message on ${queue}`, () => this.pull(queue));
  }

  /** Takes the next message off a queue, if there is one, and leaves it unsettled. */
  async pull(queue: string, by: BrokerConnection = this.mq): Promise<PulledDelivery | null> {
    const pullers = this.#pullers.get(by) ?? new Map<string, Puller>();
    this.#pullers.set(by, pullers);
    const puller = pullers.get(queue) ?? await by.openPuller(queue);
    pullers.set(queue, puller);
    return await puller.pull();
  }

  /** Takes the next messages off a queue for good, waiting for that many. */
  async bodies(queue: string, count: number): Promise<readonly string[]> {
    const bodies: string[] = [];
    while (bodies.length < count) bodies.push(textOf(await this.take(queue)));
    return bodies;
  }

  /** Waits until so many messages wait in a queue. */
  async depth(queue: string, messages: number): Promise<void> {
    await this.until(`${messages} messages waiting on ${queue}`, async () => {
      const state = await this.mq.checkQueue(queue);
      return state.status === "present" && state.messages === messages;
    });
  }

  /** Waits until a queue has gone down with all that was in it, and is back. */
  async downAndBack(queue: string): Promise<void> {
    // Whoever asks in the moment in which it goes down loses the connection, so nobody else is asked for it.
    const { mq } = await this.connect();
    await this.until(`${queue} to be back, and empty`, async () => {
      if (mq.state.status !== "open") return false;
      const state = await mq.checkQueue(queue).catch(() => undefined);
      return state?.status === "present" && state.messages === 0;
    });
    await mq.close();
  }

  /** Removes what the case declared, and closes what it opened. */
  async end(): Promise<void> {
    const cleaner = (await this.connect()).mq;
    for (const { mq } of this.#peers) if (mq !== cleaner) await mq.close();
    for (const name of this.#queues) await cleaner.deleteQueue(name);
    for (const name of this.#exchanges) await cleaner.deleteExchange(name);
    await cleaner.close();
  }
}

/** A message for a queue, through the default exchange unless the parts say otherwise. */
export function outbound(queue: string, { body = "", ...parts }: MessageParts = {}): Outbound {
  return {
    exchange: "",
    routingKey: queue,
    headers: {},
    persistent: true,
    mandatory: true,
    messageId: randomUuid(),
    ...parts,
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
  };
}

/** The body of a message as text. */
export function textOf({ body }: ReceivedMessage): string {
  return new TextDecoder().decode(body);
}
