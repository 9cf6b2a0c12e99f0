/**
 * Pulling: single messages that are asked for, and what becomes of those that nobody settles.
 *
 * @module
 */

import assert from "node:assert/strict";
import { TopologyError } from "../../../src/errors.ts";
import type { PulledDelivery, Puller } from "../../../src/ports/broker.ts";
import { allOf, readFrom, streamIn } from "./stream_world.ts";
import { onEachQueueType, type Scenario, textOf, type World } from "./world.ts";

/** The cases about pulling. */
export function pulling(it: Scenario): void {
  it("gives back what a puller holds, and has it back where it was when the close resolves", async (world) => {
    const queue = await world.queue("q");
    const bodies = Array.from({ length: 30 }, (_, index) => String(index));
    await world.fill(queue, ...bodies);
    for (let round = 0; round < 5; round++) {
      const puller = await world.mq.openPuller(queue);
      const held = await drained(puller);
      assert.deepEqual(held.map(({ message }) => textOf(message)), bodies);
      assert.deepEqual(held.map(({ waiting }) => waiting), bodies.map(Number).toReversed());
      await puller.close();
      assert.deepEqual(
        held.map((delivery) => [delivery.isLive, delivery.settle("ack")]),
        bodies.map(() => [false, "stale"]),
      );
    }
  });

  onEachQueueType(it, (it, type) => {
    it(`keeps for one puller of a ${type} queue what it holds when another one is closed`, async (world) => {
      const queue = await world.queue("q", type === "quorum" ? { "x-queue-type": "quorum" } : {});
      await world.fill(queue, "1", "2");
      const [one, other] = [await world.mq.openPuller(queue), await world.mq.openPuller(queue)];
      const [first, second] = [await one.pull(), await other.pull()];
      await other.close();
      assert.deepEqual([first?.isLive, second?.isLive], [true, false]);
      assert.equal(first?.settle("ack"), "sent");
      assert.deepEqual(await world.bodies(queue, 1), ["2"]);
      await world.depth(queue, 0);
    });
  });

  it("refuses one puller what it asks for, names its queue, and takes nothing from another", async (world) => {
    const [kept, deleted] = [await world.queue("kept"), await world.queue("deleted")];
    await world.fill(kept, "1", "2");
    const [one, other] = [await world.mq.openPuller(kept), await world.mq.openPuller(deleted)];
    const held = await one.pull();
    await world.mq.deleteQueue(deleted);
    const [refused, second] = await Promise.allSettled([other.pull(), one.pull()]);
    assert.ok(refused.status === "rejected" && isMissing(refused.reason, deleted));
    assert.equal(second.status === "fulfilled" && second.value && textOf(second.value.message), "2");
    assert.deepEqual([held?.isLive, held?.settle("ack")], [true, "sent"]);
    await one.close();
    assert.deepEqual(await world.bodies(kept, 1), ["2"]);
  });

  it("pulls again after a refusal, once there is something to pull from", async (world) => {
    const queue = await world.queue("q");
    const puller = await world.mq.openPuller(queue);
    await world.mq.deleteQueue(queue);
    await assert.rejects(puller.pull(), (error) => isMissing(error, queue));
    await world.declareQueue(queue);
    await world.fill(queue, "1");
    assert.equal((await world.until("a message", () => puller.pull())).settle("ack"), "sent");
  });

  it("does not begin to pull from a queue that is not there", async (world) => {
    const none = world.name("none");
    await assert.rejects(world.mq.openPuller(none), (error) => isMissing(error, none));
  });

  it("closes a puller once, also one that holds nothing, and pulls nothing for it any more", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1");
    const puller = await world.mq.openPuller(queue);
    await Promise.all([puller.close(), puller.close()]);
    await puller.close();
    await assert.rejects(puller.pull(), { code: "ACEMQ_CONNECTION_CLOSED" });
    assert.deepEqual(await world.bodies(queue, 1), ["1"]);
  });
}

/** The cases about streams, from which nothing can be pulled. */
export function pullingFromStreams(it: Scenario): void {
  const asks: readonly (readonly [what: string, ask: (world: World, stream: string) => Promise<unknown>])[] = [
    ["pull from", (world, stream) => world.mq.openPuller(stream)],
    ["purge", (world, stream) => world.mq.purgeQueue(stream)],
  ];
  for (const [what, ask] of asks) {
    it(`refuses to ${what} a stream, says what it wants, and costs nobody a connection`, async (world) => {
      const stream = await streamIn(world, "s");
      await world.fill(stream, "0");
      const reader = await readFrom(world, stream, { from: "first" });
      await assert.rejects(ask(world, stream), (error) => {
        assert.ok(error instanceof TopologyError);
        assert.equal(error.code, "ACEMQ_TOPOLOGY_REFUSED");
        assert.equal(
          error.message,
          `Cannot ${what} queue "${stream}": found a stream, wanted a classic or a quorum queue`,
        );
        return true;
      });
      await world.fill(stream, "1");
      assert.deepEqual(await allOf(world, stream), ["0", "1"]);
      assert.deepEqual([world.events, reader.losses, reader.subscription.live], [[], [], true]);
    });
  }
}

/** Everything there is to pull. */
async function drained(puller: Puller): Promise<readonly PulledDelivery[]> {
  const held: PulledDelivery[] = [];
  for (let next = await puller.pull(); next !== null; next = await puller.pull()) held.push(next);
  return held;
}

function isMissing(error: unknown, queue: string): boolean {
  return error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_MISSING" &&
    error.message.startsWith(`Cannot pull from queue "${queue}": NOT_FOUND - no queue '${queue}'`);
}
