/**
 * Everything a fault test works with: connections to the fault node, a network to break, and a ledger that is balanced at the end.
 *
 * @module
 */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { connect as connectBare } from "amqplib";
import { amqpBroker, type AmqpOptions } from "../../adapters/amqp/mod.ts";
import { asyncScope } from "../../adapters/async_hooks/mod.ts";
import { randomUuid } from "../../src/clock.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import type { BrokerEvent } from "../../src/ports/broker.ts";
import type { Publisher } from "../../src/publish/publisher.ts";
import { type QueueOptions, topology } from "../../src/topology/topology.ts";
import { FaultNode } from "./fault_node.ts";
import { Ledger } from "./ledger.ts";
import { Observation, observedBroker } from "./observed_broker.ts";
import { RecordingSink } from "./recording_sink.ts";
import { Complaints, CountingClock, openSockets } from "./residue.ts";
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
  readonly #complaints = new Complaints();
  readonly #socketsBefore: number;
  readonly #run = randomUuid().slice(0, 8);
  readonly #peers: Peer[] = [];
  readonly #proxies: TcpProxy[] = [];
  readonly #names: string[] = [];
  readonly #loads: (() => Promise<void>)[] = [];

  private constructor(node: FaultNode, socketsBefore: number) {
    this.node = node;
    this.#socketsBefore = socketsBefore;
  }

  /** Counts what is there, and begins. */
  static async begin(node: FaultNode): Promise<FaultWorld> {
    return new FaultWorld(node, await openSockets());
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
    const events: BrokerEvent[] = [];
    void collect(mq, events);
    const peer = { mq, name, seen, events };
    this.#peers.push(peer);
    return peer;
  }

  /** A proxy in front of the node. */
  async proxy(): Promise<TcpProxy> {
    const proxy = await TcpProxy.open(this.node.url);
    this.#proxies.push(proxy);
    return proxy;
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

  /** Closes what is open, balances the ledger against the queues, and looks for what should not be left. */
  async end(): Promise<void> {
    try {
      await this.node.reset();
      for (const stop of this.#loads) await stop();
      await Promise.all(this.#peers.map(({ mq }) => mq.close()));
      for (const proxy of this.#proxies) await proxy.close();
      this.ledger.assertBalanced(await drain(this.node.url, this.#names));
      await this.#assertNothingLeft();
    } finally {
      this.#complaints.close();
    }
  }

  /** Closes what is open as well as it goes: the test has failed, and its failure is the one to read. */
  async abandon(): Promise<void> {
    await this.node.revive();
    const ends = [
      ...this.#loads.map((stop) => stop()),
      ...this.#peers.map(({ mq }) => mq.close({ signal: AbortSignal.timeout(1_000) })),
      ...this.#proxies.map((proxy) => proxy.close()),
    ];
    await Promise.allSettled(ends);
    this.#complaints.close();
  }

  async #assertNothingLeft(): Promise<void> {
    await until("every socket is closed", async () => await openSockets() <= this.#socketsBefore);
    for (const { name } of this.#peers) {
      await until(`${name} is gone from the broker`, async () => (await this.node.channels(name)).length === 0);
    }
    assert.equal(this.clock.pending, 0, "No timer is left");
    assert.deepEqual(this.#complaints.heard, []);
  }
}

/** Runs a test body in a world of its own. */
export type InFaultWorld = (body: (world: FaultWorld) => Promise<void>) => () => Promise<void>;

/** Holds the fault node for the tests of the surrounding suite. */
export function onFaultNode(skip: string | false): InFaultWorld {
  let node: FaultNode | undefined;
  before(async () => {
    if (skip === false) node = await FaultNode.take();
  });
  after(async () => {
    await node?.giveBack();
  });
  return (body) => async () => {
    assert.ok(node !== undefined);
    const world = await FaultWorld.begin(node);
    try {
      await body(world);
    } catch (error) {
      await world.abandon();
      throw error;
    }
    await world.end();
  };
}

async function collect(mq: Connection, events: BrokerEvent[]): Promise<void> {
  for await (const event of mq.events()) events.push(event);
}

/** Takes everything out of queues, and the queues and exchanges away: the ids of the messages that were in them. */
async function drain(url: string, names: readonly string[]): Promise<string[]> {
  const model = await connectBare(url);
  const ids: string[] = [];
  try {
    for (const name of names.flatMap((queue) => [queue, `${queue}.dlq`, `${queue}.parked`])) {
      const channel = await model.createChannel();
      channel.on("error", () => {/* no such queue */});
      try {
        for (let found = await channel.get(name); found !== false; found = await channel.get(name)) {
          ids.push(String(found.properties.messageId));
        }
        await channel.deleteQueue(name);
        await channel.close();
      } catch {
        // There is no such queue.
      }
    }
  } finally {
    await model.close();
  }
  return ids;
}
