/**
 * A consumer that does not settle in time: the broker takes back what it holds.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Scenario } from "./world.ts";

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
    const timeoutMs = world.under.acknowledgementTimeoutMs ?? 0;
    const busy = await world.read(queue, { prefetch: 1 });
    const idle = await world.read(await world.queue("idle"));
    for (let round = 0; round < 4; round++) {
      await world.fill(queue, String(round));
      await world.until("a message", () => busy.deliveries.length === round + 1);
      await world.under.pass(timeoutMs / 2);
      assert.equal(busy.deliveries[round]?.settle("ack"), "sent");
    }
    assert.deepEqual([busy.losses, idle.losses], [[], []]);
  });

  it("takes back what was pulled and not settled in time", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1");
    const held = await world.hold(queue);
    await world.depth(queue, 1);
    assert.equal(held.settle("ack"), "stale");
    const again = await world.hold(queue);
    assert.equal(again.message.redelivered, true);
    assert.equal(again.settle("ack"), "sent");
    await world.depth(queue, 0);
    assert.equal(world.mq.state.status, "open");
  });
}
