/**
 * Queues that expire: how long one that nobody uses stays, and what counts as use.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Scenario, World } from "./world.ts";

/** Long enough for a real broker to be used in between, on a busy machine. */
const EXPIRES_MS = 800;

/** Between two uses. */
const PAUSE_MS = 250;

/** As often as it takes to outlast a queue that nobody uses. */
const USES = 4;

/** The cases about queues that expire. */
export function queueExpiry(it: Scenario): void {
  it("removes a queue that nobody uses, and dead-letters nothing of what waited in it", async (world) => {
    const dead = await world.queue("dead");
    const args = { "x-expires": 200, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
    const queue = await world.queue("q", args);
    await world.mq.purgeQueue(queue);
    // A publish is no use of it, so that there are always messages in it when it goes.
    await gone(world, queue);
    assert.deepEqual(await world.mq.checkQueue(queue), { status: "absent" });
    await world.depth(dead, 0);
  });

  it.needing("quorum_queues")(
    "removes a quorum queue that nobody uses, although it is asked for, and none of which somebody holds a message",
    async (world) => {
      const args = { "x-queue-type": "quorum", "x-expires": 500 };
      const [pulled, cancelled] = [await world.queue("pulled", args), await world.queue("cancelled", args)];
      for (const queue of [pulled, cancelled]) await world.fill(queue, "1");
      await world.hold(pulled);
      const { deliveries, subscription } = await world.read(cancelled);
      await world.until("a message", () => deliveries.length === 1);
      await subscription.cancel();
      const queue = await world.queue("q", args);
      await world.fill(queue, "1");
      // RabbitMQ looks at a quorum queue every five seconds: at those before first.
      await world.until("the queue to go", async () => (await world.mq.checkQueue(queue)).status === "absent", 30_000);
      for (const held of [pulled, cancelled]) assert.equal((await world.mq.checkQueue(held)).status, "present");
    },
  );

  it("keeps a queue that has a consumer, or is pulled from, declared again or asked for now and then", async (world) => {
    const args = { "x-expires": EXPIRES_MS };
    const queues = ["consumed", "pulled", "declared", "asked"].map((label) => world.name(label));
    for (const queue of queues) await world.declareQueue(queue, { arguments: args });
    const [consumed = "", pulled = "", declared = "", asked = ""] = queues;
    const { subscription } = await world.read(consumed);
    for (let used = 0; used < USES; used++) {
      await world.under.pass(PAUSE_MS);
      await world.pull(pulled);
      assert.deepEqual(await world.declareQueue(declared, { arguments: args }), { status: "declared" });
      assert.equal((await world.mq.checkQueue(asked)).status, "present");
    }
    for (const queue of queues) assert.equal((await world.publish(queue)).outcome, "confirmed");
    await subscription.close();
    assert.equal((await world.publish(consumed)).outcome, "confirmed");
    for (const queue of queues) await gone(world, queue);
  });

  it("does not wait for what somebody has pulled and not settled", async (world) => {
    const queue = await world.queue("q", { "x-expires": EXPIRES_MS });
    await world.fill(queue, "1");
    const held = await world.hold(queue);
    await gone(world, queue);
    assert.equal(held.settle("requeue"), "sent");
    await world.declareQueue(queue);
    await world.fill(queue, "2");
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
    await world.depth(queue, 0);
  });
}

/** Publishes until there is no queue to take it: asking for the queue would be a use of it. */
async function gone(world: World, queue: string): Promise<void> {
  await world.until(`${queue} to go`, async () => (await world.publish(queue)).outcome === "unroutable");
}
