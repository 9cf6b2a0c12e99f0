/** One run of a relay: for cron, and where a process lives as long as a call. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import type { PublishReceipt } from "../../../../src/ports/broker.ts";
import { idsOf, OutboxWorld } from "../../../support/outbox_world.ts";

async function within(run: (world: OutboxWorld) => Promise<void>): Promise<void> {
  const world = new OutboxWorld();
  try {
    await run(world);
  } finally {
    await world.close();
  }
}

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };

describe("one run of a relay", () => {
  for (const mode of ["continue", "in_order"] as const) {
    it(`publishes what there is, and returns when that is out, ${mode}`, () =>
      within(async (world) => {
        const mq = await world.open();
        for (const key of ["a", "b"]) await world.add(idsOf(key, 250), { key });
        assert.deepEqual(await mq.relay(world.store, { mode }).runOnce(), { published: 500, failed: 0, remaining: 0 });
        assert.equal(world.arrived().length, 500);
      }));
  }

  it("has nothing to do where there is nothing", () =>
    within(async (world) => {
      const mq = await world.open();
      assert.deepEqual(await mq.relay(world.store).runOnce(), { published: 0, failed: 0, remaining: 0 });
    }));

  it("does not wait for a row's next attempt, and counts it among what remains, but not the retired ones", () =>
    within(async (world) => {
      const mq = await world.open();
      await world.add(["poison"], { routingKey: "nowhere" });
      await world.add(["good"]);
      const relay = mq.relay(world.store);
      assert.deepEqual(await relay.runOnce(), { published: 1, failed: 1, remaining: 1 });
      assert.deepEqual(await relay.runOnce(), { published: 0, failed: 0, remaining: 1 });
      for (let attempt = 2; attempt <= 10; attempt++) {
        await world.clock.advance(300_000);
        assert.deepEqual(await relay.runOnce(), { published: 0, failed: 1, remaining: attempt === 10 ? 0 : 1 });
      }
    }));

  it("begins nothing after its budget, and marks what was begun", () =>
    within(async (world) => {
      world.faults.onPublish = () => world.clock.delay(10).then(() => CONFIRMED);
      const mq = await world.open({ maxOutstandingPublishes: 10 });
      await world.add(idsOf("m", 100));
      const run = mq.relay(world.store).runOnce({ budgetMs: 45 });
      await world.clock.advance(1_000);
      assert.deepEqual(await run, { published: 50, failed: 0, remaining: 50 });
      assert.equal(world.published.length, 50);
      const { rows } = await world.outbox.claim({ limit: 100, leaseMs: 1, mode: "continue", onRetired: "release" });
      assert.equal(rows.length, 50);
    }));

  it("ends as early as its signal says, and listens no more", () =>
    within(async (world) => {
      world.faults.onPublish = () => world.clock.delay(10).then(() => CONFIRMED);
      const mq = await world.open({ maxOutstandingPublishes: 10 });
      await world.add(idsOf("m", 100));
      const ends = new AbortController();
      const run = mq.relay(world.store).runOnce({ signal: ends.signal });
      await world.clock.advance(15);
      ends.abort();
      await world.clock.advance(1_000);
      assert.deepEqual(await run, { published: 20, failed: 0, remaining: 80 });
      assert.equal(getEventListeners(ends.signal, "abort").length, 0);
      const over = await mq.relay(world.store).runOnce({ signal: AbortSignal.abort() });
      assert.deepEqual(over, { published: 0, failed: 0, remaining: 80 });
    }));

  it("waits for a broker that is away within its budget, and gives up with what that says", () =>
    within(async (world) => {
      const mq = await world.open();
      await world.faults.lose();
      await world.add(["a"]);
      const relay = mq.relay(world.store);
      const vain = relay.runOnce({ budgetMs: 5_000 });
      await world.clock.advance(5_000);
      assert.deepEqual(await vain, { published: 0, failed: 0, remaining: 1 });
      const run = relay.runOnce({ budgetMs: 5_000 });
      await world.clock.advance(1_000);
      await world.faults.recover();
      assert.deepEqual(await run, { published: 1, failed: 0, remaining: 0 });
    }));

  it("is over though a broker that has blocked never answers", () =>
    within(async (world) => {
      const mq = await world.open();
      world.broker.block("low on memory");
      await world.add(["a"]);
      const run = mq.relay(world.store).runOnce({ budgetMs: 5_000 });
      await world.clock.advance(16_000);
      assert.deepEqual(await run, { published: 0, failed: 0, remaining: 1 });
    }));

  it("refuses options that there are not, or out of range", () =>
    within(async (world) => {
      const relay = (await world.open()).relay(world.store);
      await assert.rejects(relay.runOnce({ budgetMs: -1 }), RangeError);
      await assert.rejects(relay.runOnce({ budget: 1 } as never), TypeError);
    }));
});
