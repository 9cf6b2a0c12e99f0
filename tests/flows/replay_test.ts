/** Looking and putting back, on every broker alike: contract core 6. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import { memoryBroker } from "../../adapters/memory/mod.ts";
import { systemClock } from "../../src/clock.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import { park, reject } from "../../src/consume/ack.ts";
import { PublishError, TopologyError } from "../../src/errors.ts";
import type { Message } from "../../src/message/message.ts";
import type { WireTable } from "../../src/message/wire_value.ts";
import type { PeekedMessage } from "../../src/patterns/replay/peeked_message.ts";
import type { Broker } from "../../src/ports/broker.ts";
import { type QueueOptions, topology } from "../../src/topology/topology.ts";
import { type MessageParts, textOf, World } from "../contract/broker/world.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../support/services.ts";
import { deferred, until } from "../support/until.ts";

const BROKERS: readonly (readonly [name: string, skip: string | false, broker: () => Broker])[] = [
  ["the memory broker", false, memoryBroker],
  ["RabbitMQ", await missing("rabbitmq"), () => amqpBroker(AMQP_URL)],
  ["RabbitMQ 4", await missing("rabbitmq4"), () => amqpBroker(RABBITMQ4_URL)],
];

/** A queue with its failure side, the library beside it, and a bare connection. */
class Scene {
  readonly world: World;
  readonly #broker: Broker;
  readonly #connections: Connection[] = [];

  constructor(broker: Broker, world: World) {
    this.#broker = broker;
    this.world = world;
  }

  async connect(options: ConnectOptions = {}): Promise<Connection> {
    const mq = await openConnection(this.#broker, options);
    this.#connections.push(mq);
    return mq;
  }

  async queue(options: QueueOptions = {}): Promise<string> {
    const name = this.world.name("orders.new");
    await this.world.apply(topology().queue(name, { deadLetter: true, ...options }).spec);
    return name;
  }

  /** Puts messages in by another program: their ids are their bodies. */
  async fill(queue: string, ids: string, parts: MessageParts = {}): Promise<void> {
    for (const id of ids) await this.world.publish(queue, { body: id, messageId: id, ...parts });
  }

  /** Takes everything off a queue that holds so many messages: their bodies. */
  async bodies(queue: string, count: number): Promise<string> {
    await this.world.depth(queue, count);
    return (await this.world.bodies(queue, count)).join("");
  }

  async close(): Promise<void> {
    for (const mq of this.#connections) await mq.close();
    await this.world.end();
  }
}

async function peeked(looking: AsyncIterable<PeekedMessage>): Promise<PeekedMessage[]> {
  const found: PeekedMessage[] = [];
  for await (const message of looking) found.push(message);
  return found;
}

function idsOf(messages: readonly PeekedMessage[]): string {
  return messages.map(({ envelope }) => envelope.id).join("");
}

/** What is to be seen on every broker, by its title. */
const SCENES: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "a rejected message is handled again after its replay, as a first attempt that knows where it was": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    const seen: Message[] = [];
    const consumer = await mq.consume(queue, (message) => {
      seen.push(message);
      return message.envelope.replayCount === undefined ? reject("not yet") : undefined;
    });
    const body = new TextEncoder().encode(` { "sku" :7 } `);
    await scene.world.publish(queue, { body, contentType: "application/json", messageId: "m-1" });
    await scene.world.depth(`${queue}.dlq`, 1);
    const [dead] = await peeked(mq.peek(queue));
    assert.deepEqual([dead?.envelope.error, dead?.envelope.attempt], ["the handler rejected it: not yet", 1]);
    assert.deepEqual([await dead?.decode(), dead?.body], [{ status: "decoded", payload: { sku: 7 } }, body]);
    assert.deepEqual(await mq.replay(queue), { moved: 1, skipped: 0, reason: "drained" });
    await until("the second delivery", () => seen.length === 2);
    const { attempt, error, replayedFrom, replayedAt, replayCount, id, firstSeenMs } = seen[1]?.envelope ?? {};
    assert.deepEqual([attempt, error, replayedFrom, replayCount, id], [1, undefined, `${queue}.dlq`, 1, "m-1"]);
    assert.equal(firstSeenMs, seen[0]?.envelope.firstSeenMs);
    assert.ok(replayedAt instanceof Date && Math.abs(replayedAt.getTime() - Date.now()) < 60_000);
    await consumer.close();
  },

  "a filter passes over what it declines, which is back in its place afterwards [RPL-03] [DL-01]": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    await scene.fill(`${queue}.dlq`, "abcdef");
    const filter = ({ envelope }: PeekedMessage): boolean => "bdf".includes(envelope.id);
    assert.deepEqual(await mq.replay(queue, { filter, dryRun: true }), { moved: 3, skipped: 3, reason: "drained" });
    assert.equal(idsOf(await peeked(mq.peek(queue))), "abcdef");
    assert.deepEqual(await mq.replay(queue, { filter, limit: 2 }), { moved: 2, skipped: 2, reason: "limit" });
    assert.deepEqual(await mq.replay(queue, { filter }), { moved: 1, skipped: 3, reason: "drained" });
    assert.deepEqual([await scene.bodies(queue, 3), await scene.bodies(`${queue}.dlq`, 3)], ["bdf", "ace"]);
  },

  "a look leaves a queue as it was, also one that is broken off": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    await scene.fill(`${queue}.dlq`, "abc");
    assert.equal(idsOf(await peeked(mq.peek(queue))), "abc");
    for await (const { envelope } of mq.peek(queue)) if (envelope.id === "b") break;
    await assert.rejects(async () => {
      for await (const _ of mq.peek(queue)) throw new Error("Enough");
    }, /Enough/);
    assert.equal(idsOf(await peeked(mq.peek(queue, { limit: 2 }))), "ab");
    assert.equal(await scene.bodies(`${queue}.dlq`, 3), "abc");
  },

  "a look tells what the broker did with a message, and its replay tells nobody [BRK-03] [SR-19]": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue({ arguments: { "x-message-ttl": 100 } })];
    await scene.fill(queue, "a");
    await scene.world.depth(`${queue}.dlq`, 1);
    const [dead] = await peeked(mq.peek(queue));
    const [death] = dead?.deaths ?? [];
    assert.deepEqual([death?.queue, death?.reason, death?.count, death?.exchange, death?.routingKeys], [
      queue,
      "expired",
      1,
      "",
      [queue],
    ]);
    assert.ok(death?.at instanceof Date && Math.abs(death.at.getTime() - Date.now()) < 60_000);
    const into = await scene.world.queue("elsewhere");
    await mq.replay(queue, { into });
    const { headers } = await scene.world.take(into);
    assert.deepEqual(Object.keys(headers).filter((name) => !name.includes("acemq-")), []);
    assert.equal(headers["x-acemq-type"], queue);
  },

  "a message with further keys is not copied to them again by its replay [BRK-02]": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    const [one, other] = [await scene.world.queue("one"), await scene.world.queue("other")];
    const headers: WireTable = { CC: [one], BCC: [other] };
    await scene.fill(`${queue}.parked`, "a", { headers });
    await Promise.all([one, other].map((name) => scene.world.depth(name, 1)));
    await mq.replay(queue, { from: "parked" });
    assert.equal(await scene.bodies(queue, 1), "a");
    await Promise.all([one, other].map((name) => scene.world.depth(name, 1)));
  },

  "a replay into nowhere leaves everything where it lies, whatever the connection's confirms [RPL-01] [PUB-01]": async (
    scene,
  ) => {
    const queue = await scene.queue();
    await scene.fill(`${queue}.dlq`, "abc");
    await scene.fill(`${queue}.parked`, "xyz");
    await scene.world.mq.deleteQueue(queue);
    for (const confirms of [true, false]) {
      const mq = await scene.connect({ confirms });
      for (const from of ["dlq", "parked"] as const) {
        const result = await mq.replay(queue, { from });
        assert.deepEqual([result.moved, result.skipped, result.reason], [0, 0, "failed"]);
        const error = result.reason === "failed" ? result.error : undefined;
        assert.ok(error instanceof PublishError && error.unroutable);
        assert.equal(error.messageId, from === "dlq" ? "a" : "x");
      }
    }
    assert.deepEqual([await scene.bodies(`${queue}.dlq`, 3), await scene.bodies(`${queue}.parked`, 3)], ["abc", "xyz"]);
  },

  "a message without an id is told apart all the same when its copy comes back [RPL-06] [PUB-04]": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    await scene.fill(`${queue}.parked`, "{", { messageId: undefined });
    const nowhere = await mq.replay(queue, { from: "parked", into: scene.world.name("nowhere") });
    assert.equal(
      nowhere.reason === "failed" && nowhere.error instanceof PublishError && nowhere.error.unroutable,
      true,
    );
    assert.deepEqual(await mq.replay(queue, { from: "parked" }), { moved: 1, skipped: 0, reason: "drained" });
    const message = await scene.world.take(queue);
    assert.match(String(message.properties.messageId), /^[0-9a-f-]{36}$/);
    assert.deepEqual([message.headers["x-acemq-id"], textOf(message)], [message.properties.messageId, "{"]);
  },

  "a replay into its own source is refused, and nothing is touched [RPL-04]": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    await scene.fill(`${queue}.dlq`, "a");
    const dlq = `${queue}.dlq`;
    for (const into of [dlq, { exchange: "acemq.dlx", routingKey: dlq }]) {
      await assert.rejects(mq.replay(queue, { into }), RangeError);
      await assert.rejects(mq.replay(dlq, { into }), RangeError);
    }
    assert.equal(await scene.bodies(dlq, 1), "a");
  },

  "a pass ends although its messages fail again and come back": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    await scene.fill(`${queue}.parked`, "abcdefghij");
    const consumer = await mq.consume(queue, () => park("whose?"), { codec: "bytes" });
    assert.deepEqual(await mq.replay(queue, { from: "parked" }), { moved: 10, skipped: 0, reason: "drained" });
    await scene.world.depth(`${queue}.parked`, 10);
    await consumer.close();
    const counts = (await peeked(mq.peek(queue, { from: "parked" }))).map(({ envelope }) => envelope.replayCount);
    assert.deepEqual(counts, Array.from({ length: 10 }, () => 1));
  },

  "two passes over one queue at once move every message, and none of them twice": async (scene) => {
    const queue = await scene.queue();
    const ids = "abcdefghijklmnopqrstuvwxyz";
    await scene.fill(`${queue}.dlq`, ids);
    const both = [await scene.connect(), await scene.connect()];
    const results = await Promise.all(both.map((mq) => mq.replay(queue)));
    assert.deepEqual(results.map(({ reason }) => reason), ["drained", "drained"]);
    assert.equal(results.reduce((sum, { moved }) => sum + moved, 0), 26);
    assert.equal([...await scene.bodies(queue, 26)].toSorted().join(""), ids);
  },

  "a pass keeps what it holds when the same connection is refused another queue, which is the one that is named":
    async (
      scene,
    ) => {
      const [mq, queue, other] = [await scene.connect(), await scene.queue(), `${scene.world.name("other")}.dlq`];
      await scene.world.declareQueue(other);
      await scene.fill(`${queue}.dlq`, "abc");
      await scene.fill(other, "xy");
      const [asked, go] = [deferred(), deferred()];
      const pass = mq.replay(queue, {
        filter: async ({ envelope }) => {
          if (envelope.id !== "b") return false;
          asked.resolve();
          await go.promise;
          return true;
        },
      });
      const looking = mq.peek(other);
      await looking.next();
      await asked.promise;
      await scene.world.mq.deleteQueue(other);
      await assert.rejects(looking.next(), (error) => {
        assert.ok(error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_MISSING");
        assert.ok(error.message.startsWith(`Cannot pull from queue "${other}": `), error.message);
        return true;
      });
      go.resolve();
      assert.deepEqual(await pass, { moved: 1, skipped: 2, reason: "drained" });
      assert.deepEqual([await scene.bodies(queue, 1), await scene.bodies(`${queue}.dlq`, 2)], ["b", "ac"]);
    },

  "a look or a pass that is over has given everything back, and whoever comes next sees it": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    const ids = "abcdefghijklmnopqrstuvwxyz";
    await scene.fill(`${queue}.dlq`, ids);
    const signal = AbortSignal.abort();
    for (let round = 0; round < 5; round++) {
      const [next, abort] = [await scene.connect(), new AbortController()];
      assert.equal(idsOf(await peeked(mq.peek(queue))), ids);
      assert.deepEqual(await next.replay(queue, { dryRun: true }), { moved: 26, skipped: 0, reason: "drained" });
      for await (const _ of next.peek(queue, { signal: abort.signal })) abort.abort();
      assert.deepEqual(await mq.replay(queue, { signal }), { moved: 0, skipped: 0, reason: "cancelled" });
      const filter = (): boolean => false;
      assert.deepEqual(await mq.replay(queue, { filter }), { moved: 0, skipped: 26, reason: "drained" });
      await next.close();
    }
    assert.equal(await scene.bodies(`${queue}.dlq`, 26), ids);
  },

  "a stream is refused, and the connection stands": async (scene) => {
    const [mq, name] = [await scene.connect(), scene.world.name("audit")];
    await scene.world.declareQueue(`${name}.dlq`, { arguments: { "x-queue-type": "stream" } });
    const queue = await scene.queue();
    const lost: string[] = [];
    const [handled, events] = [deferred<unknown>(), new AbortController()];
    void (async () => {
      for await (const { type } of mq.events({ signal: events.signal })) lost.push(type);
    })();
    const consumer = await mq.consume(queue, ({ payload }) => handled.resolve(payload));
    const asks = [() => mq.peek(name).next(), () => mq.replay(name), () => mq.replay(name, { dryRun: true })];
    for (const ask of asks) {
      await assert.rejects(ask, (error) => {
        assert.ok(error instanceof TopologyError);
        assert.deepEqual([error.code, error.message], [
          "ACEMQ_TOPOLOGY_REFUSED",
          `Cannot pull from queue "${name}.dlq": found a stream, wanted a classic or a quorum queue`,
        ]);
        return true;
      });
    }
    await mq.publisher("", queue).send("still here");
    assert.equal(await handled.promise, "still here");
    assert.deepEqual([lost, (await mq.health()).status], [[], "up"]);
    events.abort();
    await consumer.close();
  },

  "a replay through an exchange reaches what is bound there": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.queue()];
    const exchange = await scene.world.exchange("shop", "topic");
    await scene.world.bind(queue, exchange, { key: "order.*" });
    await scene.fill(`${queue}.dlq`, "ab");
    const result = await mq.replay(queue, { into: { exchange, routingKey: "order.placed" } });
    assert.deepEqual(result, { moved: 2, skipped: 0, reason: "drained" });
    assert.equal((await scene.world.take(queue)).routingKey, "order.placed");
    await scene.fill(`${queue}.dlq`, "c");
    const unbound = await mq.replay(queue, { into: { exchange, routingKey: "refund.placed" } });
    assert.deepEqual([unbound.moved, unbound.reason], [0, "failed"]);
    const unknown = await mq.replay(queue, { into: { exchange: scene.world.name("none"), routingKey: "k" } });
    assert.deepEqual([unknown.moved, unknown.reason], [0, "failed"]);
    assert.equal(await scene.bodies(`${queue}.dlq`, 1), "c");
  },

  "a dead letter on a quorum queue loses the count of its returns": async (scene) => {
    const [mq, queue] = [await scene.connect(), await scene.world.queue("q")];
    const dead = scene.world.name("q.dlq");
    await scene.world.declareQueue(dead, { arguments: { "x-queue-type": "quorum" } });
    await scene.fill(dead, "a");
    await peeked(mq.peek(dead));
    await peeked(mq.peek(dead));
    const [message] = await peeked(mq.peek(dead));
    assert.equal(message?.headers["x-delivery-count"], 2);
    await mq.replay(dead);
    assert.equal("x-delivery-count" in (await scene.world.take(queue)).headers, false);
  },
};

describe("set-aside messages", () => {
  for (const [broker, skip, open] of BROKERS) {
    for (const [title, play] of Object.entries(SCENES)) {
      it(`${title}, on ${broker}`, { skip }, async () => {
        const under = { broker: open(), clock: systemClock(), pass: (ms: number) => systemClock().delay(ms) };
        const world = new World(under);
        await world.start();
        const scene = new Scene(under.broker, world);
        try {
          await play(scene);
        } finally {
          await scene.close();
        }
      });
    }
  }
});
