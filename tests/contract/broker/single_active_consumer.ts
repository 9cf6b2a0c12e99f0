/**
 * Single active consumer: one of several gets everything, and who takes its place.
 *
 * @module
 */

import assert from "node:assert/strict";
import { TopologyError } from "../../../src/errors.ts";
import type { BrokerConnection } from "../../../src/ports/broker.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { onEachQueueType, type QueueType, type Reader, type Scenario, type World } from "./world.ts";

/** The cases about a single active consumer. */
export function singleActiveConsumer(it: Scenario): void {
  onEachQueueType(it, (it, type) => {
    const args = { "x-queue-type": type, "x-single-active-consumer": true };

    it(`gives everything in a ${type} queue to the first consumer, the others wait`, async (world) => {
      const { queue, readers: [first, second] } = await readers(world, args);
      await world.fill(queue, "1", "2", "3", "4");
      await world.until("four messages", () => first.bodies().length === 4);
      assert.deepEqual([first.bodies(), second.bodies()], [["1", "2", "3", "4"], []]);
      const state = await world.mq.checkQueue(queue);
      // A quorum queue does not count those that wait.
      assert.deepEqual(state, { status: "present", messages: 0, consumers: type === "classic" ? 3 : 1 });
    });

    it(`lets what comes to a ${type} queue wait while the active consumer has its prefetch in hand`, async (world) => {
      const { queue, readers: [first, second] } = await readers(world, args, 1);
      await world.fill(queue, "1", "2");
      await world.until("the first message", () => first.deliveries.length === 1);
      await world.depth(queue, 1);
      first.deliveries[0]?.settle("ack");
      await world.until("the second message", () => first.deliveries.length === 2);
      assert.deepEqual(second.bodies(), []);
    });

    it(`goes on with the consumer of a ${type} queue that has waited longest`, async (world) => {
      const { queue, readers: [first, second, third] } = await readers(world, args);
      await world.fill(queue, "1");
      await world.until("the first message", () => first.deliveries.length === 1);
      first.deliveries[0]?.settle("ack");
      await first.subscription.close();
      await world.fill(queue, "2");
      await world.until("the second message", () => second.bodies().length === 1);
      second.deliveries[0]?.settle("ack");
      await second.subscription.close();
      await world.fill(queue, "3");
      await world.until("the third message", () => third.bodies().length === 1);
      assert.deepEqual([first.bodies(), second.bodies(), third.bodies()], [["1"], ["2"], ["3"]]);
    });

    it(`hands on what the active consumer of a ${type} queue held when it closes, in order`, async (world) => {
      const { queue, readers: [first, second] } = await readers(world, args, 3);
      await world.fill(queue, "1", "2", "3", "4", "5");
      await world.until("three messages", () => first.deliveries.length === 3);
      first.deliveries[1]?.settle("ack");
      await world.until("a fourth", () => first.deliveries.length === 4);
      await world.depth(queue, 1);
      await first.subscription.close();
      await world.until("three messages", () => second.deliveries.length === 3);
      second.deliveries[0]?.settle("ack");
      await world.until("the last one", () => second.deliveries.length === 4);
      const seen = second.deliveries.map(({ message }, index) => [second.bodies()[index], message.redelivered]);
      assert.deepEqual(seen, [["1", true], ["3", true], ["4", true], ["5", false]]);
    });

    it(`takes from a cancelled consumer of a ${type} queue what it still holds`, async (world) => {
      const { queue, readers: [first, second] } = await readers(world, args);
      await world.fill(queue, "1", "2");
      await world.until("two messages", () => first.deliveries.length === 2);
      await first.subscription.cancel();
      await world.fill(queue, "3");
      await world.until("the next message", () => second.bodies().length === 1);
      assert.deepEqual(second.bodies(), ["3"]);
      assert.deepEqual(first.deliveries.map((delivery) => delivery.settle("ack")), ["sent", "sent"]);
      await first.subscription.close();
      second.deliveries[0]?.settle("ack");
      await second.subscription.close();
      await world.depth(queue, 0);
    });

    for (const [whose, opened] of WHOSE) {
      it(`hands on what waits in ${whose} ${type} queue when its active consumer is cancelled with a message in hand`, async (world) => {
        const by = await opened(world);
        const { queue, first, second, third } = await waitingReaders(world, { by, args });
        await first.subscription.cancel();
        await world.fill(queue, "4");
        await world.until("what was waiting", () => second.bodies().length === 3);
        assert.equal(first.deliveries[0]?.settle("ack"), "sent");
        await first.subscription.close();
        await second.subscription.close();
        await world.depth(queue, 0);
        const seen = second.deliveries.map(({ message }, index) => [second.bodies()[index], message.redelivered]);
        assert.deepEqual(seen, [["2", false], ["3", false], ["4", false]]);
        assert.deepEqual([first, second, third].flatMap(({ losses }) => losses), []);
        assert.deepEqual([first.bodies(), third.bodies()], [["1"], []]);
      });
    }

    it(`goes on with another consumer of a ${type} queue when the connection of the first closes`, async (world) => {
      const queue = await world.queue("q", args);
      const { mq } = await world.connect();
      const first = await world.read(queue, { by: mq });
      const second = await world.read(queue);
      await world.fill(queue, "1");
      await world.until("a message", () => first.deliveries.length === 1);
      await mq.close();
      await world.until("the same message", () => second.deliveries.length === 1);
      assert.deepEqual([second.bodies(), second.deliveries[0]?.message.redelivered], [["1"], true]);
    });

    it(
      `takes a consumer of a ${type} queue whose prefetch changes for a new one: others come before it`,
      async (world) => {
        const { queue, readers: [first, second, third] } = await readers(world, args, 1);
        await first.subscription.setPrefetch(3);
        await world.fill(queue, "1");
        await world.until("a message", () => second.bodies().length === 1);
        await second.subscription.close();
        await world.until("the same one", () => third.bodies().length === 1);
        await third.subscription.close();
        await world.fill(queue, "2", "3");
        await world.until("all three", () => first.bodies().length === 3);
        assert.deepEqual(first.bodies(), ["1", "2", "3"]);
      },
    );
  });

  for (const [whose, opened] of WHOSE) {
    it(`hands on what waits in ${whose} classic queue when its active consumer has a message in hand and its prefetch changes`, async (world) => {
      const by = await opened(world);
      const { queue, first, second } = await waitingReaders(world, { by, args: { "x-single-active-consumer": true } });
      await first.subscription.setPrefetch(2);
      await world.fill(queue, "4");
      await world.until("what was waiting", () => second.bodies().length === 3);
      assert.equal(first.deliveries[0]?.settle("ack"), "sent");
      await world.depth(queue, 0);
      await second.subscription.close();
      assert.deepEqual([first.losses, first.bodies(), second.losses, second.bodies()], [[], ["1"], [], [
        "2",
        "3",
        "4",
      ]]);
    });
  }

  it.needing("priorities")(
    "goes on with the consumer of a classic queue that has the highest priority, and leaves the active one alone",
    async (world) => {
      const { queue, first, second, third } = await risingReaders(world, "classic");
      await world.until("a message", () => first.bodies().length === 1);
      await first.subscription.close();
      await world.fill(queue, "2");
      await world.until("both messages", () => third.bodies().length === 2);
      assert.deepEqual([second.bodies(), third.bodies()], [[], ["1", "2"]]);
    },
  );

  it.needing("priorities")(
    "leaves a consumer of a classic queue active whose prefetch changes, where it has the highest priority",
    async (world) => {
      const queue = await world.queue("q", { "x-single-active-consumer": true });
      const read = (priority: number): Promise<Reader> =>
        world.read(queue, { prefetch: 1, arguments: { "x-priority": priority } });
      const [first, second, third] = [await read(2), await read(1), await read(1)];
      await first.subscription.setPrefetch(3);
      await world.fill(queue, "1", "2", "3");
      await world.until("all three", () => first.bodies().length === 3);
      assert.deepEqual([second.bodies(), third.bodies()], [[], []]);
    },
  );

  it.needing("priorities").needing("quorum_queues")(
    "pays no attention to the priority of those that wait for a quorum queue",
    async (world) => {
      const { queue, first, second, third } = await risingReaders(world, "quorum");
      await world.until("a message", () => first.bodies().length === 1);
      await first.subscription.close();
      await world.fill(queue, "2");
      await world.until("both messages", () => second.bodies().length === 2);
      assert.deepEqual([second.bodies(), third.bodies()], [["1", "2"], []]);
    },
  );

  it("lets anybody pull from a classic queue", async (world) => {
    const { queue, readers: [first] } = await readers(world, { "x-single-active-consumer": true }, 1);
    await world.fill(queue, "1", "2");
    await world.until("a message", () => first.bodies().length === 1);
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
  });

  it.needing("quorum_queues")("lets nobody pull from a quorum queue", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum", "x-single-active-consumer": true });
    await world.fill(queue, "1");
    const words =
      `RESOURCE_LOCKED - cannot obtain access to locked queue '${queue}' in vhost '/'. basic.get operations are ` +
      "not supported by quorum queues with single active consumer";
    await assert.rejects(
      world.pull(queue),
      (error) =>
        error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_REFUSED" && error.message.includes(words),
    );
    const { bodies } = await world.read(queue);
    await world.until("the message", () => bodies().length === 1);
  });
}

/** Whoever has not declared a queue does not know that it has a single active consumer. */
const WHOSE: readonly (readonly [string, (world: World) => Promise<BrokerConnection>])[] = [
  ["a", async ({ mq }) => mq],
  ["somebody else's", async (world) => (await world.connect()).mq],
];

/** Three consumers: the active one has a message in hand and no room for the two that wait; the next one settles what it gets. */
async function waitingReaders(
  world: World,
  { by, args }: { readonly by: BrokerConnection; readonly args: DeclareArguments },
): Promise<{ readonly queue: string; readonly first: Reader; readonly second: Reader; readonly third: Reader }> {
  const queue = await world.queue("q", args);
  const first = await world.read(queue, { by, prefetch: 1 });
  const second = await world.read(queue, { prefetch: 1, each: (delivery) => delivery.settle("ack") });
  const third = await world.read(queue, { prefetch: 1 });
  await world.fill(queue, "1", "2");
  assert.deepEqual(await world.publish(queue, { body: "3", persistent: false }), { outcome: "confirmed" });
  await world.until("a message in hand", () => first.deliveries.length === 1);
  await world.depth(queue, 2);
  return { queue, first, second, third };
}

/** Three consumers, the first of them active. */
async function readers(
  world: World,
  args: DeclareArguments,
  prefetch = 0,
): Promise<{ readonly queue: string; readonly readers: readonly [Reader, Reader, Reader] }> {
  const queue = await world.queue("q", args);
  const read = (): Promise<Reader> => world.read(queue, { prefetch });
  return { queue, readers: [await read(), await read(), await read()] };
}

/** Three consumers, each of a higher priority than the one before, and the first of them with a message in hand. */
async function risingReaders(
  world: World,
  type: QueueType,
): Promise<{ readonly queue: string; readonly first: Reader; readonly second: Reader; readonly third: Reader }> {
  const queue = await world.queue("q", { "x-queue-type": type, "x-single-active-consumer": true });
  await world.fill(queue, "1");
  const read = (priority: number): Promise<Reader> => world.read(queue, { arguments: { "x-priority": priority } });
  return { queue, first: await read(0), second: await read(1), third: await read(2) };
}
