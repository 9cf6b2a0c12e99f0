/**
 * Dead-lettering at least once: what died stays until everybody who is to have it has taken it.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { type Scenario, textOf, type World } from "./world.ts";

/** Refusing what is new is what makes room for the dead: without it RabbitMQ dead-letters at most once after all. */
const AT_LEAST_ONCE: DeclareArguments = {
  "x-queue-type": "quorum",
  "x-dead-letter-strategy": "at-least-once",
  "x-dead-letter-exchange": "",
  "x-overflow": "reject-publish",
};

/** The cases about dead-lettering at least once that wait for no second attempt. */
export function atLeastOnce(it: Scenario): void {
  it("writes the same history as at most once, for every reason there is", async (world) => {
    const dead = await world.queue("dead");
    const to = { ...AT_LEAST_ONCE, "x-dead-letter-routing-key": dead };
    const rejected = await world.queue("rejected", to);
    await world.fill(rejected, "1");
    (await world.hold(rejected)).settle("discard");
    assert.deepEqual(await deathOn(world, dead), [[rejected, "rejected", 1], rejected, "rejected"]);
    const expired = await world.queue("expired", { ...to, "x-message-ttl": 50 });
    await world.fill(expired, "2");
    assert.deepEqual(await deathOn(world, dead), [[expired, "expired", 1], expired, "expired"]);
    const limited = await world.queue("limited", { ...to, "x-delivery-limit": 0 });
    await world.fill(limited, "3");
    (await world.hold(limited)).settle("requeue");
    assert.deepEqual(await deathOn(world, dead), [[limited, "delivery_limit", 1], limited, "delivery_limit"]);
  });

  it("counts what died and was not taken against the length of its queue", async (world) => {
    const to = { ...AT_LEAST_ONCE, "x-dead-letter-routing-key": world.name("none") };
    const queue = await world.queue("q", { ...to, "x-max-length": 1 });
    await world.fill(queue, "1", "2");
    const held = [await world.hold(queue), await world.hold(queue)];
    for (const delivery of held) delivery.settle("discard");
    await world.until("a nack", async () => (await world.publish(queue)).outcome === "nacked");
  });

  it("keeps what would go round for ever", async (world) => {
    const to = { ...AT_LEAST_ONCE, "x-dead-letter-routing-key": world.name("q") };
    const queue = await world.queue("q", { ...to, "x-delivery-limit": 0, "x-max-length": 1 });
    await world.fill(queue, "1", "2");
    const held = [await world.hold(queue), await world.hold(queue)];
    for (const delivery of held) delivery.settle("requeue");
    await world.until("a nack", async () => (await world.publish(queue)).outcome === "nacked");
  });

  it("dead-letters at most once from a queue that drops its head", async (world) => {
    const dead = world.name("dead");
    const args = { ...AT_LEAST_ONCE, "x-overflow": "drop-head", "x-dead-letter-routing-key": dead };
    const queue = await world.queue("q", args);
    await world.fill(queue, "1", "2");
    (await world.hold(queue)).settle("discard");
    // On the same channel: what came before it has been dealt with when it is answered.
    const second = await world.hold(queue);
    await world.queue("dead");
    second.settle("discard");
    assert.deepEqual(await world.bodies(dead, 1), ["2"]);
  });
}

/** The cases that wait for a second attempt. */
export function deadLetterRetry(it: Scenario): void {
  it("hands over what nobody took when there is somebody who does", async (world) => {
    const dead = world.name("dead");
    const queue = await world.queue("q", { ...AT_LEAST_ONCE, "x-dead-letter-routing-key": dead });
    await world.fill(queue, "1", "2");
    const held = [await world.hold(queue), await world.hold(queue)];
    for (const delivery of held) delivery.settle("discard");
    await world.mq.purgeQueue(queue);
    await aRetry(world);
    await world.queue("dead");
    await aRetry(world);
    assert.deepEqual((await world.bodies(dead, 2)).toSorted(), ["1", "2"]);
    await aRetry(world);
    await world.depth(dead, 0);
  });

  it("tries again only where it was refused", async (world) => {
    const exchange = await world.exchange("dlx", "fanout");
    const full = await world.queue("full", { "x-max-length": 1, "x-overflow": "reject-publish" });
    const roomy = await world.queue("roomy");
    await world.bind(full, exchange);
    await world.bind(roomy, exchange);
    await world.fill(full, "full");
    const queue = await world.queue("q", { ...AT_LEAST_ONCE, "x-dead-letter-exchange": exchange });
    await world.fill(queue, "1");
    (await world.hold(queue)).settle("discard");
    await world.depth(roomy, 1);
    await aRetry(world);
    await world.depth(roomy, 1);
    assert.equal(textOf(await world.take(full)), "full");
    await aRetry(world);
    assert.deepEqual([await world.bodies(full, 1), await world.bodies(roomy, 1)], [["1"], ["1"]]);
    await aRetry(world);
    await world.depth(roomy, 0);
  });

  it("loses what nobody took with its queue", async (world) => {
    const dead = world.name("dead");
    const queue = await world.queue("q", { ...AT_LEAST_ONCE, "x-dead-letter-routing-key": dead });
    await world.fill(queue, "1");
    (await world.hold(queue)).settle("discard");
    await world.depth(queue, 0);
    await world.mq.deleteQueue(queue);
    await world.queue("dead");
    await aRetry(world);
    await world.depth(dead, 0);
  });
}

/** The only death of the next message: queue, reason and count, and what is written of the first death. */
async function deathOn(world: World, dead: string): Promise<readonly unknown[]> {
  const { headers } = await world.take(dead);
  const [{ queue, reason, count }, ...others] = headers["x-death"] as [
    { queue: string; reason: string; count: number },
  ];
  assert.deepEqual(others, []);
  return [[queue, reason, count], headers["x-first-death-queue"], headers["x-first-death-reason"]];
}

/** The time to another attempt, and as much again for a real broker to make it. */
async function aRetry({ under: { deadLetterRetryMs, pass } }: World): Promise<void> {
  assert.ok(deadLetterRetryMs !== undefined);
  await pass(2 * deadLetterRetryMs);
}
