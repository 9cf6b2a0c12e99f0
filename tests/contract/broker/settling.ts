/**
 * Settling: what a message becomes when a consumer is done with it, and what it is told when it comes back.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { PulledDelivery } from "../../../src/ports/broker.ts";
import { type Scenario, textOf, type World } from "./world.ts";

/** The cases about settling. */
export function settling(it: Scenario): void {
  const quorum = it.needing("quorum_queues");

  it("forgets an acknowledged message", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1");
    const { mq } = await world.connect();
    const delivery = await world.until("a message", () => world.pull(queue, mq));
    assert.equal(delivery.settle("ack"), "sent");
    await mq.close();
    assert.equal(await world.pull(queue), null);
  });

  it("takes only the first settlement of a delivery", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1");
    const delivery = await world.hold(queue);
    assert.equal(delivery.settle("requeue"), "sent");
    delivery.settle("ack");
    delivery.settle("discard");
    assert.deepEqual(await world.bodies(queue, 1), ["1"]);
    await world.depth(queue, 0);
    assert.equal(world.mq.state.status, "open");
  });

  it("knows whether a delivery can still be settled: once, and while its connection stands", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2");
    const { mq } = await world.connect();
    const [first, second] = [
      await world.until("a message", () => world.pull(queue, mq)),
      await world.until("another", () => world.pull(queue, mq)),
    ];
    assert.deepEqual([first.isLive, second.isLive], [true, true]);
    first.settle("ack");
    assert.deepEqual([first.isLive, second.isLive], [false, true]);
    await mq.close();
    assert.equal(second.isLive, false);
    assert.equal(second.settle("ack"), "stale");
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
  });

  it("settles a delivery by its handle, without the message", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2");
    const handles = [(await world.hold(queue)).detach(), (await world.hold(queue)).detach()];
    assert.deepEqual(handles.map((handle) => handle.settle("requeue")), ["sent", "sent"]);
    assert.deepEqual(handles.map(({ isLive }) => isLive), [false, false]);
    await world.depth(queue, 2);
    (await world.hold(queue)).detach().settle("ack");
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
  });

  it("says how many messages wait behind a pulled one, on a classic queue those just given back as well", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, ...Array.from({ length: 50 }, (_, index) => String(index)));
    for (let round = 0; round < 3; round++) {
      const held: PulledDelivery[] = [];
      for (let left = 49; left >= 0; left--) {
        const delivery = await world.pull(queue);
        assert.ok(delivery !== null);
        assert.equal(delivery.waiting, left);
        held.push(delivery);
      }
      for (const delivery of held) delivery.settle("requeue");
    }
  });

  quorum("says how many messages wait behind one that was pulled from a quorum queue", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    await world.fill(queue, "1", "2");
    assert.equal((await world.pull(queue))?.waiting, 1);
  });

  it("puts a requeued message of a classic queue where it was before, marked as redelivered", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2", "3", "4");
    const held = [await world.hold(queue), await world.hold(queue), await world.hold(queue)];
    held[2]?.settle("requeue");
    held[0]?.settle("requeue");
    held[1]?.settle("ack");
    await world.depth(queue, 3);
    assert.deepEqual(await seen(world, queue, 3), ["1 again", "3 again", "4"]);
  });

  quorum("puts a requeued message of a quorum queue without a delivery limit at the back", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    await world.fill(queue, "1", "2", "3");
    (await world.hold(queue)).settle("requeue");
    await world.depth(queue, 3);
    assert.deepEqual(await seen(world, queue, 3), ["2", "3", "1 again"]);
  });

  quorum(
    "puts a requeued message of a quorum queue with a delivery limit before what was never out",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum", "x-delivery-limit": 5 });
      await world.fill(queue, "1", "2", "3", "4");
      const held = [await world.hold(queue), await world.hold(queue), await world.hold(queue)];
      for (const [index, waiting] of [[2, 2], [0, 3], [1, 4]] as const) {
        held[index]?.settle("requeue");
        await world.depth(queue, waiting);
      }
      assert.deepEqual(await seen(world, queue, 4), ["3 again", "1 again", "2 again", "4"]);
    },
  );

  quorum("counts in x-delivery-count how often a message came back to a quorum queue", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    await world.fill(queue, "1");
    const { deliveries, subscription } = await world.read(queue, { prefetch: 1 });
    for (const count of [1, 2, 3]) {
      await world.until(`delivery ${count}`, () => deliveries.length === count);
      if (count < 3) deliveries[count - 1]?.settle("requeue");
    }
    assert.deepEqual(deliveries.map(({ message }) => message.headers["x-delivery-count"]), [undefined, 1, 2]);
    assert.deepEqual(deliveries.map(({ message }) => message.redelivered), [false, true, true]);
    await subscription.close();
    assert.equal((await world.take(queue)).headers["x-delivery-count"], 3);
  });

  quorum("tells a first pull from a quorum queue that the message came back 0 times", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    await world.fill(queue, "1");
    assert.deepEqual((await world.take(queue)).headers, { "x-delivery-count": 0 });
  });

  it(
    "has no x-delivery-count on a classic queue, and hands on one that was sent along as if it were true",
    async (world) => {
      const queue = await world.queue("q");
      await world.fill(queue, "1");
      (await world.hold(queue)).settle("requeue");
      assert.deepEqual((await world.take(queue)).headers, {});
      await world.publish(queue, { headers: { "x-delivery-count": 7 } });
      assert.deepEqual((await world.take(queue)).headers, { "x-delivery-count": 7 });
    },
  );

  quorum("writes over an x-delivery-count that was sent along when a quorum queue has one to tell", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    await world.publish(queue, { headers: { "x-delivery-count": 7 } });
    const { deliveries } = await world.read(queue, { prefetch: 1 });
    await world.until("a delivery", () => deliveries.length === 1);
    deliveries[0]?.settle("requeue");
    await world.until("another", () => deliveries.length === 2);
    assert.deepEqual(deliveries.map(({ message }) => message.headers["x-delivery-count"]), [7, 1]);
  });

  it("drops a discarded message of a queue without a dead-letter exchange", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2");
    (await world.hold(queue)).settle("discard");
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
    await world.depth(queue, 0);
  });

  for (const as of ["ack", "requeue", "discard"] as const) {
    it(`does nothing to "${as}" a pulled message whose queue is gone`, async (world) => {
      const dead = await world.queue("dead");
      const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
      const queue = await world.queue("q", args);
      await world.fill(queue, "1");
      const delivery = await world.hold(queue);
      await world.mq.deleteQueue(queue);
      await world.declareQueue(queue, { arguments: args });
      delivery.settle(as);
      await world.fill(queue, "2");
      assert.deepEqual(await world.bodies(queue, 1), ["2"]);
      assert.equal(world.mq.state.status, "open");
      await world.depth(dead, 0);
    });
  }

  quorum("hands a message of a quorum queue without a delivery limit out as often as it comes back", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    await world.fill(queue, "1");
    let left = 30;
    const { deliveries } = await world.read(queue, {
      prefetch: 1,
      each: (delivery) => delivery.settle(left-- > 0 ? "requeue" : "ack"),
    });
    await world.until("31 deliveries", () => deliveries.length === 31);
    assert.equal(deliveries.at(-1)?.message.headers["x-delivery-count"], 30);
    await world.depth(queue, 0);
  });

  quorum("takes a delivery limit below zero for one that any return exceeds", async (world) => {
    const dead = await world.queue("dead");
    const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead, "x-delivery-limit": -1 };
    const queue = await world.queue("q", { "x-queue-type": "quorum", ...args });
    await world.fill(queue, "1");
    (await world.hold(queue)).settle("requeue");
    assert.deepEqual(await world.bodies(dead, 1), ["1"]);
    await world.depth(queue, 0);
  });

  quorum("lets a quorum queue drop a message that came back more often than its delivery limit", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum", "x-delivery-limit": 2 });
    await world.fill(queue, "1");
    const { deliveries } = await world.read(queue, { prefetch: 1, each: (delivery) => delivery.settle("requeue") });
    await world.until("three deliveries", () => deliveries.length === 3);
    await world.depth(queue, 0);
    assert.equal(deliveries.length, 3);
  });
}

/** The next messages of a queue, and whether each was out before. */
async function seen(world: World, queue: string, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let index = 0; index < count; index++) {
    const message = await world.take(queue);
    found.push(textOf(message) + (message.redelivered ? " again" : ""));
  }
  return found;
}
