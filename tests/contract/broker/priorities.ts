/**
 * Priorities: which message leaves first, and which consumer is served first.
 *
 * @module
 */

import assert from "node:assert/strict";
import { TopologyError } from "../../../src/errors.ts";
import type { BrokerDelivery } from "../../../src/ports/broker.ts";
import { onEachQueueType, type Scenario, textOf, type World } from "./world.ts";

/** The cases about priorities. */
export function priorities(it: Scenario): void {
  ofMessages(it);
  ofConsumers(it);
}

function ofMessages(it: Scenario): void {
  it("hands out what has a higher priority first, and what has the same in order", async (world) => {
    const queue = await world.queue("q", { "x-max-priority": 5 });
    await prioritised(world, queue, [["1", 1], ["2", 5], ["3", 1], ["4", 5], ["5", 3]]);
    await world.depth(queue, 5);
    assert.deepEqual(await world.bodies(queue, 5), ["2", "4", "5", "1", "3"]);
  });

  it("takes a message without a priority for one of 0, and one above the maximum for one at it", async (world) => {
    const queue = await world.queue("q", { "x-max-priority": 2 });
    await prioritised(world, queue, [["none", undefined], ["zero", 0], ["two", 2], ["nine", 9], ["one", 1]]);
    const messages = [];
    for (let taken = 0; taken < 5; taken++) messages.push(await world.take(queue));
    assert.deepEqual(messages.map((message) => [textOf(message), message.properties.priority || undefined]), [
      ["two", 2],
      ["nine", 9],
      ["one", 1],
      ["none", undefined],
      ["zero", undefined],
    ]);
  });

  it("pays no attention to priorities on a queue without a maximum", async (world) => {
    const queue = await world.queue("q");
    await prioritised(world, queue, [["1", 0], ["2", 9], ["3", 255]]);
    assert.deepEqual(await world.bodies(queue, 3), ["1", "2", "3"]);
  });

  it.needing("quorum_queues")("pays no attention to priorities on a quorum queue", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    await prioritised(world, queue, [["1", 0], ["2", 9], ["3", 255]]);
    assert.deepEqual(await world.bodies(queue, 3), ["1", "2", "3"]);
  });

  it("gives a requeued message its old place among those of its priority", async (world) => {
    const queue = await world.queue("q", { "x-max-priority": 5 });
    await prioritised(world, queue, [["low", 1], ["1", 3], ["2", 3], ["3", 3]]);
    const held = [await world.hold(queue), await world.hold(queue)];
    await prioritised(world, queue, [["high", 5]]);
    held[1]?.settle("requeue");
    held[0]?.settle("requeue");
    await world.depth(queue, 5);
    assert.deepEqual(await world.bodies(queue, 5), ["high", "1", "2", "3", "low"]);
  });

  it("keeps to the prefetch: what is in a consumer's hands stays there when something higher comes", async (world) => {
    const queue = await world.queue("q", { "x-max-priority": 5 });
    await prioritised(world, queue, [["1", 1], ["2", 1]]);
    const { bodies, deliveries } = await world.read(queue, { prefetch: 1 });
    await world.until("a message", () => deliveries.length === 1);
    await prioritised(world, queue, [["high", 5]]);
    deliveries[0]?.settle("ack");
    await world.until("another", () => deliveries.length === 2);
    assert.deepEqual(bodies(), ["1", "high"]);
  });

  it("drops from a queue that is too long what would leave first", async (world) => {
    const dead = await world.queue("dead");
    const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
    const queue = await world.queue("q", { ...args, "x-max-priority": 5, "x-max-length": 2 });
    await prioritised(world, queue, [["low", 1], ["high", 5], ["middle", 3]]);
    assert.deepEqual(await world.bodies(dead, 1), ["high"]);
    assert.deepEqual(await world.bodies(queue, 2), ["middle", "low"]);
  });

  it("lets a message expire only when it is the next to leave", async (world) => {
    const dead = await world.queue("dead");
    const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
    const queue = await world.queue("q", { ...args, "x-max-priority": 5 });
    await world.publish(queue, { body: "short and low", priority: 1, expirationMs: 50 });
    await world.publish(queue, { body: "long and high", priority: 5, expirationMs: 400 });
    assert.deepEqual(await world.bodies(dead, 2), ["long and high", "short and low"]);
  });

  it("hands out a message that has expired unseen, since it came before others that wait, and then looks", async (world) => {
    const { queue, dead } = await unseen(world);
    assert.deepEqual([await world.bodies(queue, 1), await world.bodies(dead, 1)], [["unseen 1"], ["unseen 2"]]);
    await world.depth(queue, 1);
  });

  it("sees that a message has expired when another comes back, and not when one is settled", async (world) => {
    const { queue, dead, held } = await unseen(world);
    held[0]?.settle("ack");
    await world.fill(queue, "another");
    await world.depth(queue, 4);
    held[1]?.settle("requeue");
    assert.deepEqual(await world.bodies(dead, 2), ["unseen 1", "unseen 2"]);
    assert.deepEqual(await world.bodies(queue, 3), ["held 2", "waiting", "another"]);
  });

  it("hands out the next message and looks for what has expired before a rejected one comes back", async (world) => {
    const queue = world.name("q");
    const args = { "x-max-priority": 5, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue };
    assert.deepEqual(await world.declareQueue(queue, { arguments: args }), { status: "declared" });
    await prioritised(world, queue, [["1", 5], ["2", 5]]);
    const { deliveries, bodies } = await world.read(queue, { prefetch: 1 });
    await world.until("a message in hand", () => deliveries.length === 1);
    for (const body of ["unseen 1", "unseen 2"]) await world.publish(queue, { body, expirationMs: 0 });
    await world.depth(queue, 3);
    deliveries[0]?.settle("discard");
    await world.depth(queue, 1);
    await world.until("the next message", () => deliveries.length === 2);
    deliveries[1]?.settle("ack");
    await world.until("the rejected one", () => deliveries.length === 3);
    assert.deepEqual(bodies(), ["1", "2", "1"]);
  });

  it("removes messages of every priority", async (world) => {
    const queue = await world.queue("q", { "x-max-priority": 5 });
    await prioritised(world, queue, [["1", 1], ["2", 5], ["3", undefined]]);
    await world.mq.purgeQueue(queue);
    await world.depth(queue, 0);
  });

  it("keeps the priority of a message that dies", async (world) => {
    const dead = await world.queue("dead", { "x-max-priority": 9 });
    const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
    const queue = await world.queue("q", args);
    await prioritised(world, queue, [["1", 1], ["2", 7]]);
    for (let held = 0; held < 2; held++) (await world.hold(queue)).settle("discard");
    await world.depth(dead, 2);
    const first = await world.take(dead);
    assert.deepEqual([textOf(first), first.properties.priority], ["2", 7]);
  });
}

/** A queue in which two messages have expired that came before one that waits; two others of it are in somebody's hands. */
async function unseen(
  world: World,
): Promise<{ readonly queue: string; readonly dead: string; readonly held: readonly BrokerDelivery[] }> {
  const dead = await world.queue("dead");
  const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
  const queue = await world.queue("q", { ...args, "x-max-priority": 5 });
  await world.fill(queue, "held 1", "held 2");
  const held = [await world.hold(queue), await world.hold(queue)];
  await world.fill(queue, "waiting");
  for (const body of ["unseen 1", "unseen 2"]) await world.publish(queue, { body, priority: 5, expirationMs: 50 });
  await world.under.pass(150);
  await world.depth(queue, 3);
  await world.depth(dead, 0);
  return { queue, dead, held };
}

function ofConsumers(it: Scenario): void {
  onEachQueueType(it, (it, type) => {
    const typed = { "x-queue-type": type };

    it(`serves the consumer of a ${type} queue with the highest priority first, while it has room`, async (world) => {
      const queue = await world.queue("q", typed);
      const low = await world.read(queue, { prefetch: 1, arguments: { "x-priority": -1 } });
      const none = await world.read(queue, { prefetch: 1 });
      const high = await world.read(queue, { prefetch: 2, arguments: { "x-priority": 10 } });
      for (const body of ["1", "2", "3", "4"]) await world.fill(queue, body);
      await world.until("four messages", () => low.bodies().length === 1);
      assert.deepEqual([high.bodies(), none.bodies(), low.bodies()], [["1", "2"], ["3"], ["4"]]);
      await world.fill(queue, "5");
      high.deliveries[1]?.settle("ack");
      await world.until("the fifth message", () => high.bodies().length === 3);
      assert.deepEqual(high.bodies(), ["1", "2", "5"]);
    });

    it(`refuses a consumer of a ${type} queue whose priority is no integer, and goes on`, async (world) => {
      const queue = await world.queue("q", typed);
      for (const [priority, kind] of [["5", "longstr"], [1.5, "double"], [true, "bool"], [null, "void"]] as const) {
        const words = `PRECONDITION_FAILED - invalid arg 'x-priority' for queue '${queue}' in vhost '/': ` +
          `"expected integer, got ${kind}"`;
        await assert.rejects(
          world.read(queue, { arguments: { "x-priority": priority } }),
          (error) =>
            error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_REFUSED" && error.message.includes(words),
        );
      }
      const { bodies } = await world.read(queue, { arguments: { "x-priority": 2 ** 40 } });
      await world.fill(queue, "1");
      await world.until("a message", () => bodies().length === 1);
    });

    it(`takes turns between consumers of a ${type} queue with the same priority`, async (world) => {
      const queue = await world.queue("q", typed);
      const args = { "x-priority": 3 };
      const readers = [await world.read(queue, { arguments: args }), await world.read(queue, { arguments: args })];
      await world.read(queue);
      for (const body of ["1", "2", "3", "4"]) await world.fill(queue, body);
      await world.until("four messages", () => readers.flatMap(({ bodies }) => bodies()).length === 4);
      assert.deepEqual(readers.map(({ bodies }) => bodies().join()).toSorted(), ["1,3", "2,4"]);
    });
  });
}

/** Publishes one message after another, each with its priority. */
async function prioritised(
  world: World,
  queue: string,
  messages: readonly (readonly [body: string, priority: number | undefined])[],
): Promise<void> {
  for (const [body, priority] of messages) {
    assert.deepEqual(await world.publish(queue, { body, priority }), { outcome: "confirmed" });
  }
}
