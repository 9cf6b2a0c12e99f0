/** What the broker in memory does otherwise than RabbitMQ 3.10, because nobody could want it so: each shown on both. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { memoryBroker, virtualClock } from "../../../adapters/memory/mod.ts";
import { systemClock } from "../../../src/clock.ts";
import { isWireTable } from "../../../src/message/wire_value.ts";
import type { PulledDelivery } from "../../../src/ports/broker.ts";
import { type BrokerUnderTest, textOf, World } from "../../contract/broker/world.ts";
import { AMQP_URL, missing } from "../../support/services.ts";

const skip = await missing("rabbitmq");

const BROKERS = [
  { where: "in memory", isMemory: true, open: inMemory, skip: false },
  { where: "on RabbitMQ 3.10", isMemory: false, open: onRabbit, skip },
] as const;

describe("a message that dies of its delivery limit in a consumer's hands", () => {
  for (const { where, isMemory, open, skip } of BROKERS) {
    it(
      `makes room for ${isMemory ? "one other" : "two others"} ${where}`,
      { skip },
      () =>
        inWorld(open, async (world) => {
          const queue = await world.queue("q", { "x-queue-type": "quorum", "x-delivery-limit": 0 });
          await world.fill(queue, "1", "2", "3", "4");
          const { deliveries, bodies } = await world.read(queue, { prefetch: 1 });
          await world.until("a message", () => deliveries.length === 1);
          deliveries[0]?.settle("requeue");
          const handedOut = isMemory ? ["1", "2"] : ["1", "2", "3"];
          await world.until("what it has room for", () => deliveries.length === handedOut.length);
          await world.depth(queue, 4 - handedOut.length);
          assert.deepEqual(bodies(), handedOut);
        }),
    );
  }
});

describe("more than nine messages of a quorum queue that are given back at once", () => {
  const came = Array.from({ length: 12 }, (_, index) => String(index + 1));
  for (const { where, isMemory, open, skip } of BROKERS) {
    it(
      `come back ${isMemory ? "in the order they had" : "sorted by their numbers as text"} ${where}`,
      { skip },
      () =>
        inWorld(open, async (world) => {
          const queue = await world.queue("q", { "x-queue-type": "quorum" });
          await world.fill(queue, ...came);
          const puller = await world.mq.openPuller(queue);
          for (const body of came) assert.equal(bodyOf(await puller.pull()), body);
          await puller.close();
          await world.depth(queue, came.length);
          assert.deepEqual(await world.bodies(queue, came.length), isMemory ? came : came.toSorted());
        }),
    );
  }
});

describe("a rejected message between two full queues that dead-letter to each other", () => {
  for (const { where, isMemory, open, skip } of BROKERS) {
    it(
      `${isMemory ? "is an error" : "goes round for ever"} ${where}`,
      { skip },
      () =>
        inWorld(open, async (world) => {
          const [a, b] = [world.name("a"), world.name("b")];
          for (const [queue, dead] of [[a, b], [b, a]] as const) {
            const args = { "x-max-length": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
            assert.deepEqual(await world.declareQueue(queue, { arguments: args }), { status: "declared" });
          }
          await world.fill(a, "1");
          (await world.hold(a)).settle("discard");
          await world.depth(b, 1);
          await world.fill(a, "2");
          const second = await world.hold(a);
          await world.fill(b, "3");
          await world.depth(a, 1);
          (await world.hold(b)).settle("discard");
          await world.depth(b, 1);
          if (isMemory) return assert.throws(() => second.settle("discard"), /^RangeError: .* goes round for ever/);
          second.settle("discard");
          await world.until("a hundred deaths of one message", async () => await mostDeaths(world, a) >= 100);
        }),
    );
  }
});

async function mostDeaths(world: World, queue: string): Promise<number> {
  const pulled = await world.pull(queue);
  pulled?.settle("requeue");
  const deaths = pulled?.message.headers["x-death"];
  if (!Array.isArray(deaths)) return 0;
  return Math.max(...deaths.map((death) => isWireTable(death) ? Number(death["count"]) : 0));
}

function bodyOf(pulled: PulledDelivery | null): string | undefined {
  return pulled === null ? undefined : textOf(pulled.message);
}

async function inWorld(open: () => BrokerUnderTest, body: (world: World) => Promise<void>): Promise<void> {
  const world = new World(open());
  try {
    await world.start();
    await body(world);
  } finally {
    await world.end();
  }
}

function inMemory(): BrokerUnderTest {
  const clock = virtualClock();
  return { broker: memoryBroker({ clock }), clock, pass: (ms) => clock.advance(ms) };
}

function onRabbit(): BrokerUnderTest {
  const clock = systemClock();
  return { broker: amqpBroker(AMQP_URL), clock, pass: (ms) => clock.delay(ms) };
}
