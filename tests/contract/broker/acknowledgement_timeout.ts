/**
 * A consumer that does not settle in time: the broker takes back what it holds.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Scenario, World } from "./world.ts";

/** The cases about the acknowledgement time-out. */
export function acknowledgementTimeout(it: Scenario): void {
  it("ends a consumer that does not settle in time, hands out again what it held, and takes it back", async (world) => {
    const queue = await world.queue("q");
    const { mq, events } = await world.connect();
    await world.fill(queue, "1", "2", "3");
    const { deliveries, bodies, losses, recoveries } = await world.read(queue, { by: mq, prefetch: 2 });
    await world.until("two messages", () => deliveries.length === 2);
    deliveries[1]?.settle("ack");
    await world.until("three messages", () => deliveries.length === 3);
    await tooLong(world);
    await world.until("a loss", () => losses.length === 1);
    assert.match(losses[0] ?? "", /PRECONDITION_FAILED - delivery acknowledgement on channel \d+ timed out/);
    assert.deepEqual(deliveries.slice(0, 3).map((delivery) => delivery.settle("ack")), ["stale", "sent", "stale"]);
    await world.until("a recovery", () => recoveries() === 1);
    await world.until("the messages again", () => deliveries.length === 5);
    assert.deepEqual(bodies(), ["1", "2", "3", "1", "3"]);
    assert.deepEqual(deliveries.slice(3).map(({ message }) => message.redelivered), [true, true]);
    for (const delivery of deliveries.slice(3)) delivery.settle("ack");
    await world.depth(queue, 0);
    assert.deepEqual([mq.state.status, losses.length], ["open", 1]);
    assert.deepEqual(events.map(({ type }) => type), ["consumer_lost", "consumer_recovered"]);
  });

  it("leaves a consumer alone that settles in time, and one that has nothing in hand", async (world) => {
    const queue = await world.queue("q");
    const busy = await world.read(queue, { prefetch: 1 });
    const idle = await world.read(await world.queue("idle"));
    for (let round = 0; round < 4; round++) {
      await world.fill(queue, String(round));
      await world.until("a message", () => busy.deliveries.length === round + 1);
      await world.under.pass(timeoutOf(world) / 2);
      assert.equal(busy.deliveries[round]?.settle("ack"), "sent");
    }
    assert.deepEqual([busy.losses, idle.losses], [[], []]);
  });

  it("gives what one consumer holds too long to another, also when it was cancelled before", async (world) => {
    const queue = await world.queue("q");
    const [late, cancelled] = [await world.read(queue, { prefetch: 1 }), await world.read(queue, { prefetch: 1 })];
    await world.fill(queue, "1", "2");
    await world.until("a message for each", () => late.deliveries.length + cancelled.deliveries.length === 2);
    await cancelled.subscription.cancel();
    const { mq } = await world.connect();
    const other = await world.read(queue, { by: mq, each: (delivery) => delivery.settle("ack") });
    await tooLong(world);
    await world.until("both messages", () => other.deliveries.length === 2);
    assert.deepEqual(other.bodies().toSorted(), ["1", "2"]);
    await world.until("the word that it was too long", () => late.losses.length + cancelled.losses.length === 2);
    assert.deepEqual([...late.deliveries, ...cancelled.deliveries].map((held) => held.settle("ack")), [
      "stale",
      "stale",
    ]);
    await world.until("the late one again", () => late.recoveries() === 1);
    assert.deepEqual([cancelled.losses.length, cancelled.recoveries(), cancelled.subscription.live], [1, 0, false]);
    await world.depth(queue, 0);
  });

  it("takes back what was pulled and not settled in time", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1");
    const held = await world.hold(queue);
    await tooLong(world);
    await world.depth(queue, 1);
    assert.equal(held.settle("ack"), "stale");
    const again = await world.hold(queue);
    assert.equal(again.message.redelivered, true);
    assert.equal(again.settle("ack"), "sent");
    await world.depth(queue, 0);
    assert.equal(world.mq.state.status, "open");
  });
}

function timeoutOf({ under: { acknowledgementTimeoutMs } }: World): number {
  assert.ok(acknowledgementTimeoutMs !== undefined);
  return acknowledgementTimeoutMs;
}

async function tooLong(world: World): Promise<void> {
  await world.under.pass(timeoutOf(world));
}
