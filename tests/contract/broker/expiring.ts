/**
 * Time to live: what expires, when, and what keeps it from expiring.
 *
 * @module
 */

import assert from "node:assert/strict";
import { onEachQueueType, type Scenario, textOf, type World } from "./world.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";

/** The cases about time to live. */
export function expiring(it: Scenario): void {
  onEachQueueType(it, (it, type) => {
    const typed = { "x-queue-type": type };

    it(`sends what outlives the time to live of a ${type} queue to its dead letters`, async (world) => {
      const { queue, dead } = await mortalQueue(world, { ...typed, "x-message-ttl": 100 });
      await world.fill(queue, "1", "2");
      assert.deepEqual(await world.bodies(dead, 2), ["1", "2"]);
      await world.depth(queue, 0);
    });

    it(
      `lets a message of a ${type} queue expire only at the head: a short life waits behind a long one`,
      async (world) => {
        const { queue, dead } = await mortalQueue(world, typed);
        await world.publish(queue, { body: "long", expirationMs: 600 });
        await world.publish(queue, { body: "short", expirationMs: 50 });
        await world.publish(queue, { body: "for ever" });
        assert.deepEqual(await world.bodies(dead, 2), ["long", "short"]);
        assert.deepEqual(await world.bodies(queue, 1), ["for ever"]);
      },
    );

    it(`takes the shorter of the two times to live on a ${type} queue`, async (world) => {
      const { queue, dead } = await mortalQueue(world, { ...typed, "x-message-ttl": 100 });
      await world.publish(queue, { body: "short", expirationMs: 50 });
      await world.publish(queue, { body: "long", expirationMs: 3_600_000 });
      assert.deepEqual(await world.bodies(dead, 2), ["short", "long"]);
    });

    it(
      `lets nothing of a ${type} queue expire in a consumer's hands, and everything that comes back too late`,
      async (world) => {
        const { queue, dead } = await mortalQueue(world, { ...typed, "x-message-ttl": 300 });
        await world.fill(queue, "held");
        const held = await world.hold(queue);
        await world.fill(queue, "waiting");
        assert.deepEqual(await world.bodies(dead, 1), ["waiting"]);
        await world.depth(dead, 0);
        held.settle("requeue");
        assert.deepEqual(await world.bodies(dead, 1), ["held"]);
        await world.depth(queue, 0);
      },
    );

    it(
      `gives a message with no time to live at all to a consumer of a ${type} queue that is ready for it`,
      async (world) => {
        const { queue, dead } = await mortalQueue(world, { ...typed, "x-message-ttl": 0 });
        await world.fill(queue, "nobody is ready");
        assert.deepEqual(await world.bodies(dead, 1), ["nobody is ready"]);
        const { bodies } = await world.read(queue);
        await world.fill(queue, "somebody is");
        await world.until("a message", () => bodies().length === 1);
        await world.depth(dead, 0);
      },
    );
  });

  it("lets what waits for a consumer with its prefetch in hand expire", async (world) => {
    const { queue, dead } = await mortalQueue(world, {});
    const { bodies, deliveries } = await world.read(queue, { prefetch: 1 });
    await world.fill(queue, "in hand");
    await world.until("a message", () => deliveries.length === 1);
    await world.publish(queue, { body: "short", expirationMs: 50 });
    await world.fill(queue, "for ever");
    assert.deepEqual(await world.bodies(dead, 1), ["short"]);
    deliveries[0]?.settle("ack");
    await world.until("the next message", () => deliveries.length === 2);
    assert.deepEqual(bodies(), ["in hand", "for ever"]);
  });

  it("gives a message with no time to live of its own to a consumer that is ready for it", async (world) => {
    const { queue, dead } = await mortalQueue(world, {});
    await world.publish(queue, { body: "nobody is ready", expirationMs: 0 });
    assert.deepEqual(await world.bodies(dead, 1), ["nobody is ready"]);
    const { bodies } = await world.read(queue);
    await world.publish(queue, { body: "somebody is", expirationMs: 0 });
    await world.until("a message", () => bodies().length === 1);
    await world.depth(dead, 0);
  });

  it("drops what expires in a queue without a dead-letter exchange", async (world) => {
    const queue = await world.queue("q");
    await world.publish(queue, { expirationMs: 50 });
    await world.publish(queue, { body: "stays" });
    await world.depth(queue, 1);
    assert.deepEqual(await world.bodies(queue, 1), ["stays"]);
  });

  it("takes the time to live off a message that has died of it, and keeps it in x-death", async (world) => {
    const { queue, dead } = await mortalQueue(world, {});
    await world.publish(queue, { body: "1", expirationMs: 50 });
    const message = await world.take(dead);
    assert.equal(textOf(message), "1");
    assert.equal(message.properties.expiration, undefined);
    const [death] = message.headers["x-death"] as [{ "original-expiration": string }];
    assert.equal(death["original-expiration"], "50");
  });
}

/** A queue whose dead end in another. */
async function mortalQueue(world: World, args: DeclareArguments): Promise<{ queue: string; dead: string }> {
  const dead = await world.queue("dead");
  const queue = await world.queue("q", { ...args, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead });
  return { queue, dead };
}
