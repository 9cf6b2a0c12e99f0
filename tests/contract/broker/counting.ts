/**
 * Counting: what a broker says of how much waits, and of how many consumers there are.
 *
 * @module
 */

import assert from "node:assert/strict";
import { onEachQueueType, type Scenario, textOf, type World } from "./world.ts";

/** Shorter than anything else takes. */
const SHORT_MS = 20;

/** The cases about counting. */
export function counting(it: Scenario): void {
  onEachQueueType(it, (it, type) => {
    it(`counts what has expired in a ${type} queue as long as something stands before it`, async (world) => {
      const { queue, dead } = await hiddenExpired(world, type);
      assert.deepEqual(await world.mq.checkQueue(queue), { status: "present", messages: 4, consumers: 0 });
      assert.deepEqual(await world.mq.checkQueue(dead), { status: "present", messages: 0, consumers: 0 });
    });

    it(`lets go of what has expired in a ${type} queue when it is uncovered by a pull`, async (world) => {
      const { queue, dead } = await hiddenExpired(world, type);
      const pulled = await world.pull(queue);
      assert.ok(pulled !== null);
      // A quorum queue has counted before it looks.
      assert.deepEqual([textOf(pulled.message), pulled.waiting], ["1", type === "classic" ? 1 : 3]);
      assert.deepEqual(await world.bodies(dead, 2), ["2", "3"]);
      await world.depth(queue, 1);
    });

    it(`counts no consumer of a ${type} queue that was cancelled and holds nothing`, async (world) => {
      const queue = await world.queue("q", { "x-queue-type": type });
      await world.fill(queue, "1");
      const { deliveries, subscription } = await world.read(queue);
      await world.until("a message", () => deliveries.length === 1);
      deliveries[0]?.settle("ack");
      await subscription.cancel();
      await consumers(world, queue, 0);
    });
  });

  it("counts nobody who only holds messages of a classic queue", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2", "3");
    const { deliveries, subscription } = await world.read(queue, { prefetch: 1 });
    await world.until("a message", () => deliveries.length === 1);
    await world.hold(queue);
    await subscription.setPrefetch(1);
    await consumers(world, queue, 1);
    await subscription.cancel();
    await consumers(world, queue, 0);
    await world.depth(queue, 0);
  });

  const quorum = it.needing("quorum_queues");

  quorum(
    "counts every message that was pulled from a quorum queue as a consumer until it is settled",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum" });
      await world.fill(queue, "1", "2", "3");
      const held = [await world.hold(queue), await world.hold(queue), await world.hold(queue)];
      await consumers(world, queue, 3);
      held[1]?.settle("ack");
      await consumers(world, queue, 2);
      held[0]?.settle("requeue");
      held[2]?.settle("discard");
      await consumers(world, queue, 0);
    },
  );

  quorum("counts a consumer of a quorum queue that was cancelled until it has settled everything", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    await world.fill(queue, "1", "2", "3");
    const { deliveries, subscription } = await world.read(queue, { prefetch: 2 });
    await world.until("two messages", () => deliveries.length === 2);
    await subscription.cancel();
    deliveries[1]?.settle("ack");
    const { subscription: another } = await world.read(queue, { prefetch: 1 });
    await consumers(world, queue, 2);
    deliveries[0]?.settle("ack");
    await consumers(world, queue, 1);
    await another.close();
    await consumers(world, queue, 0);
  });

  quorum(
    "counts a consumer of a quorum queue twice whose prefetch was changed while it held something",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum" });
      await world.fill(queue, "1", "2", "3");
      const { deliveries, subscription } = await world.read(queue, { prefetch: 1 });
      for (const held of [1, 2]) {
        await world.until(`${held} messages`, () => deliveries.length === held);
        await subscription.setPrefetch(1);
        await consumers(world, queue, held + 1);
      }
      await world.until("the last message", () => deliveries.length === 3);
      deliveries[0]?.settle("ack");
      await consumers(world, queue, 2);
      await subscription.close();
      await consumers(world, queue, 0);
      await world.depth(queue, 2);
    },
  );
}

/** A queue with a message before two that have expired, and another behind them. */
async function hiddenExpired(world: World, type: string): Promise<{ readonly queue: string; readonly dead: string }> {
  const dead = await world.queue("dead");
  const queue = await world.queue("q", {
    "x-queue-type": type,
    "x-dead-letter-exchange": "",
    "x-dead-letter-routing-key": dead,
  });
  await world.fill(queue, "1");
  for (const body of ["2", "3"]) await world.publish(queue, { body, expirationMs: SHORT_MS });
  await world.fill(queue, "4");
  await world.under.pass(3 * SHORT_MS);
  return { queue, dead };
}

async function consumers(world: World, queue: string, count: number): Promise<void> {
  await world.until(`${count} consumers of ${queue}`, async () => {
    const state = await world.mq.checkQueue(queue);
    return state.status === "present" && state.consumers === count;
  });
}
