/**
 * Everything a fault test works with: connections to the fault node, a network to break, and a ledger that is balanced at the end.
 *
 * @module
 */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { amqpBroker, type AmqpOptions } from "../../adapters/amqp/mod.ts";
import { asyncScope } from "../../adapters/async_hooks/mod.ts";
import { randomUuid } from "../../src/clock.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import type { BrokerEvent } from "../../src/ports/broker.ts";
import type { Publisher } from "../../src/publish/publisher.ts";
import { type QueueOptions, topology } from "../../src/topology/topology.ts";
import { imbalances, keepAccount, runtimeName, type Unjudged } from "./account.ts";
import { clearAway } from "./clear_away.ts";
import { FaultNode } from "./fault_node.ts";
import { HealthWitness } from "./health_witness.ts";
import { Ledger } from "./ledger.ts";
import { Observation, observedBroker } from "./observed_broker.ts";
import { BareClient } from "./rabbitmq.ts";
import { RecordingSink } from "./recording_sink.ts";
import { Complaints, CountingClock, openSockets, processListeners } from "./residue.ts";
import { TcpProxy } from "./tcp_proxy.ts";
import { until } from "./until.ts";

/** A connection, and what is to be seen of it from outside. */
export interface Peer {
  readonly mq: Connection;
  /** The name the broker has for it. */
  readonly name: string;
  /** By the port, in the moment it happens. */
  readonly seen: Observation;
  /** What `mq.events()` has told. */
  readonly events: readonly BrokerEvent[];
}

/** How a peer connects. */
export type PeerOptions = ConnectOptions & AmqpOptions & {
  /** @default {the fault node's} */
  readonly url?: string;
};

/** One test's share of the fault node. */
export class FaultWorld {
  readonly node: FaultNode;
  readonly ledger: Ledger = new Ledger();
  readonly sink: RecordingSink = new RecordingSink();
  readonly clock: CountingClock = new CountingClock();
  readonly #scenario: string;
  readonly #startedAt = performance.now();
  readonly #complaints = new Complaints();
  readonly #before: { readonly sockets: number; readonly listeners: number };
  readonly #witnesses: HealthWitness[] = [];
  readonly #run = randomUuid().slice(0, 8);
  readonly #peers: Peer[] = [];
  readonly #proxies: TcpProxy[] = [];
  readonly #others: BareClient[] = [];
  readonly #names: string[] = [];
  readonly #loads: (() => Promise<void>)[] = [];

  private constructor(node: FaultNode, scenario: string, sockets: number) {
    this.node = node;
    this.#scenario = scenario;
    this.#before = { sockets, listeners: processListeners() };
  }

  /** Counts what is there, and begins. */
  static async begin(node: FaultNode, scenario: string): Promise<FaultWorld> {
    return new FaultWorld(node, scenario, await openSockets());
  }

  /** A connection that comes back fast. */
  async connect({ url = this.node.url, ...options }: PeerOptions = {}): Promise<Peer> {
    const seen = new Observation();
    const name = `acemq-fault-${this.#run}-${this.#peers.length}`;
    const all: PeerOptions = {
      name,
      clock: this.clock,
      telemetry: this.sink,
      scope: asyncScope(),
      reconnect: { initialDelayMs: 50, maxDelayMs: 200 },
      ...options,
    };
    const mq = await openConnection(observedBroker(amqpBroker(url, all), seen), all);
    const witness = new HealthWitness(mq, seen, this.ledger.signal);
    this.#witnesses.push(witness);
    const peer = { mq, name, seen, events: witness.events };
    this.#peers.push(peer);
    return peer;
  }

  /** A proxy in front of the node. */
  async proxy(): Promise<TcpProxy> {
    const proxy = await TcpProxy.open(this.node.url);
    this.#proxies.push(proxy);
    return proxy;
  }

  /** Another program on the node, without this library. */
  async other(): Promise<BareClient> {
    const client = await BareClient.open("acemq-fault", this.node.url);
    this.#others.push(client);
    return client;
  }

  /** A name that nobody else uses; the queue or exchange under it is removed in the end, and its messages count as waiting. */
  name(label: string): string {
    const name = `acemq-fault-${this.#run}.${label}`;
    this.#names.push(name);
    return name;
  }

  /** Declares a durable queue; classic, since it is the process of a classic queue that can be held up. */
  async queue({ mq }: Peer, label: string, options: QueueOptions = {}): Promise<string> {
    const name = this.name(label);
    await mq.declare(topology().queue(name, { type: "classic", ...options }));
    return name;
  }

  /** Sends one message after another on each publisher, whatever becomes of them, until the function it returns is called. */
  load(publishers: readonly Publisher[]): () => Promise<void> {
    const stopping = new AbortController();
    const loops = publishers.map(async (publisher) => {
      while (!stopping.signal.aborted) {
        const { outcome } = await this.ledger.send(publisher);
        if (outcome !== "confirmed") await this.clock.delay(1);
      }
    });
    const stop = async (): Promise<void> => {
      stopping.abort();
      await Promise.all(loops);
    };
    this.#loads.push(stop);
    return stop;
  }

  /** Sends so many messages a second, a hundredth of them every 10 ms, until the function it returns is called. */
  loadAt(publisher: Publisher, perSecond: number): () => Promise<void> {
    const stopping = new AbortController();
    const sends: Promise<unknown>[] = [];
    const loop = (async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        sends.push(this.ledger.sendMany(publisher, Math.ceil(perSecond / 100)));
        await this.clock.delay(10);
      }
      await Promise.all(sends);
    })();
    const stop = async (): Promise<void> => {
      stopping.abort();
      await loop;
    };
    this.#loads.push(stop);
    return stop;
  }

  /** Runs something while a queue takes messages and confirms none. */
  async whileHeldUp(queue: string, action: () => Promise<void>): Promise<void> {
    await this.node.suspend(queue);
    try {
      await action();
    } finally {
      await this.node.resume(queue);
    }
  }

  /** Waits until a connection has come back for the `times`-th time. */
  async recovered({ seen }: Peer, times: number = 1): Promise<void> {
    await until(`recovery ${times}`, () => seen.of("recovered").length >= times);
  }

  /** Closes what is open, and draws up an account that has to balance. */
  async end(): Promise<void> {
    let account: Unjudged | undefined;
    try {
      account = await this.#close();
    } catch (error) {
      this.#keepFailure(error);
      throw error;
    } finally {
      this.#complaints.close();
    }
    keepAccount(account);
    const unreported = this.#witnesses.flatMap(({ contradictions }) => contradictions);
    assert.deepEqual([...imbalances(account), ...unreported, ...this.#complaints.heard], [], JSON.stringify(account));
  }

  /** Closes what is open as well as it goes: the test has failed, and its failure is the one to read. */
  async abandon(failure: unknown): Promise<void> {
    await this.node.revive();
    const ends = [
      ...this.#loads.map((stop) => stop()),
      ...this.#peers.map(({ mq }) => mq.close({ signal: AbortSignal.timeout(1_000) })),
      ...[...this.#proxies, ...this.#others].map((one) => one.close()),
    ];
    await Promise.allSettled(ends);
    this.#keepFailure(failure, await clearAway(this.node.url, this.#names).catch(() => new Set<string>()));
    this.#complaints.close();
  }

  /** In this order: what grew while everything ran, then what is left when nothing does. */
  async #close(): Promise<Unjudged> {
    await this.node.reset();
    for (const stop of this.#loads) await stop();
    for (const witness of this.#witnesses) await witness.isWell();
    const channels = await least(() => this.#channelsInExcess());
    await Promise.all(this.#peers.map(({ mq }) => mq.close()));
    for (const witness of this.#witnesses) await witness.end();
    for (const proxy of this.#proxies) await proxy.close();
    for (const other of this.#others) await other.close();
    const waiting = await clearAway(this.node.url, this.#names);
    return {
      ...this.#account(waiting),
      sockets: await least(async () => await openSockets() - this.#before.sockets),
      channels: channels + await least(() => this.#channels()),
      timers: await least(() => this.clock.pending),
      listeners: await least(() => this.ledger.listeners + processListeners() - this.#before.listeners),
    };
  }

  #account(waiting: ReadonlySet<string>): Unjudged {
    const events: Partial<Record<BrokerEvent["type"], number>> = {};
    for (const { type } of this.#peers.flatMap(({ seen }) => seen.events)) events[type] = (events[type] ?? 0) + 1;
    return {
      scenario: this.#scenario,
      runtime: runtimeName(),
      ...this.ledger.balance(waiting),
      unhandledRejections: this.#complaints.rejections,
      sockets: 0,
      channels: 0,
      timers: 0,
      listeners: 0,
      unreported: this.#witnesses.reduce((sum, { contradictions }) => sum + contradictions.length, 0),
      events,
      tookMs: Math.round(performance.now() - this.#startedAt),
    };
  }

  #keepFailure(error: unknown, waiting: ReadonlySet<string> = new Set()): void {
    const [failure] = String(error).split("\n");
    keepAccount({ ...this.#account(waiting), failure: failure ?? "" });
  }

  /** Channels of all connections. */
  async #channels(): Promise<number> {
    const counts = await Promise.all(this.#peers.map(({ name }) => this.node.channels(name)));
    return counts.flat().reduce((sum, count) => sum + count, 0);
  }

  /** Channels that neither a lane of publishes nor a consumer accounts for. */
  async #channelsInExcess(): Promise<number> {
    const used = this.#peers.map(({ seen }) => seen.lanes.size + seen.subscriptions);
    return await this.#channels() - used.reduce((sum, count) => sum + count, 0);
  }
}

/** Runs a test body in a world of its own. */
export type InFaultWorld = (
  body: (world: FaultWorld) => Promise<void>,
) => (test: { readonly fullName: string }) => Promise<void>;

/** Holds the fault node for the tests of the surrounding suite. */
export function onFaultNode(skip: string | false): InFaultWorld {
  let node: FaultNode | undefined;
  before(async () => {
    if (skip === false) node = await FaultNode.take();
  });
  after(async () => {
    await node?.giveBack();
  });
  return (body) => async ({ fullName }) => {
    assert.ok(node !== undefined);
    const world = await FaultWorld.begin(node, fullName.replaceAll(" > ", " "));
    try {
      await body(world);
    } catch (error) {
      await world.abandon(error);
      throw error;
    }
    await world.end();
  };
}

/** What a number comes down to, given the time to. */
async function least(probe: () => number | Promise<number>): Promise<number> {
  let last = 0;
  const isGone = async (): Promise<boolean> => (last = await probe()) <= 0;
  await until("nothing is left", isGone, { timeoutMs: 10_000 }).catch(() => {});
  return Math.max(0, last);
}
