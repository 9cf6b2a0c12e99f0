/** How a relay ends: what it holds is drained, the rest goes back, nothing stays behind. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import type { PublishReceipt } from "../../../../src/ports/broker.ts";
import { idsOf, OutboxWorld } from "../../../support/outbox_world.ts";
import { deferred } from "../../../support/until.ts";

async function within(run: (world: OutboxWorld) => Promise<void>): Promise<void> {
  const world = new OutboxWorld();
  try {
    await run(world);
  } finally {
    await world.close();
  }
}

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };

describe("closing a relay", () => {
  it("waits for what is with the broker, marks it, and gives the rest back [OB-42]", () =>
    within(async (world) => {
      const answering = deferred();
      world.faults.onPublish = () => answering.promise.then(() => CONFIRMED);
      const mq = await world.open({ maxOutstandingPublishes: 4 });
      await world.add(idsOf("m", 10));
      const running = await mq.relay(world.store).start();
      await world.settled();
      const closing = running.close();
      await world.settled();
      assert.equal(world.published.length, 4);
      answering.resolve();
      assert.deepEqual(await closing, { drained: true, stranded: 0 });
      assert.deepEqual(world.store.of("markPublished"), [idsOf("m", 4)]);
      assert.deepEqual(world.store.of("giveBack"), [idsOf("m", 10).slice(4)]);
      const { rows } = await world.outbox.claim({ limit: 10, leaseMs: 1, mode: "continue", onRetired: "release" });
      assert.deepEqual(rows.map(({ id, attempts }) => [id, attempts]), idsOf("m", 10).slice(4).map((id) => [id, 0]));
    }));

  it("is done with its budget: what has no answer by then comes back when its lease ends", () =>
    within(async (world) => {
      world.faults.onPublish = () => new Promise(() => {});
      await world.add(idsOf("m", 3));
      const running = await world.relaying();
      await world.settled();
      const budget = new AbortController();
      const closing = running.close({ budget: budget.signal });
      await world.settled();
      budget.abort();
      assert.deepEqual(await closing, { drained: false, stranded: 3 });
      await world.settled();
      assert.deepEqual(world.store.of("giveBack"), []);
      world.faults.onPublish = undefined;
      await world.relaying();
      await world.clock.advance(59_000);
      assert.deepEqual(world.arrived(), []);
      await world.clock.advance(2_000);
      assert.deepEqual(world.arrived(), idsOf("m", 3));
    }));

  it("rejects with the reason of a signal that aborts first", () =>
    within(async (world) => {
      world.faults.onPublish = () => new Promise(() => {});
      await world.add(["a"]);
      const running = await world.relaying();
      await world.settled();
      const reason = new Error("enough");
      const ends = new AbortController();
      const closing = assert.rejects(running.close({ signal: ends.signal }), (error) => error === reason);
      ends.abort(reason);
      await closing;
    }));

  it("gives back a claim that was on its way", () =>
    within(async (world) => {
      const claiming = deferred();
      world.store.after = (call) => call === "claim" ? claiming.promise : undefined;
      await world.add(idsOf("m", 3));
      const running = await world.relaying();
      await world.settled();
      const closing = running.close();
      claiming.resolve();
      assert.deepEqual(await closing, { drained: true, stranded: 0 });
      assert.deepEqual(world.store.of("giveBack"), [idsOf("m", 3)]);
      assert.deepEqual(world.published, []);
    }));

  it("gives back a claim that comes when its budget is over, so that the next relay need not wait for the lease", () =>
    within(async (world) => {
      const hang = deferred();
      world.store.after = (call) => call === "claim" ? hang.promise : undefined;
      await world.add(idsOf("m", 3));
      const running = await world.relaying();
      await world.settled();
      await running.close({ budget: AbortSignal.abort() });
      hang.resolve();
      await world.settled();
      assert.deepEqual(world.store.of("giveBack"), [idsOf("m", 3)]);
      await world.relaying();
      await world.settled();
      assert.deepEqual(world.arrived(), idsOf("m", 3));
    }));

  it("twice is once, and leaves no listener and no timer behind", () =>
    within(async (world) => {
      const running = await world.relaying({ purgeAfterMs: 1_000 });
      await world.add(idsOf("m", 3));
      await world.clock.advance(5_000);
      const ends = new AbortController();
      assert.deepEqual(await Promise.all([running.close({ signal: ends.signal }), running.close()]), [
        { drained: true, stranded: 0 },
        { drained: true, stranded: 0 },
      ]);
      assert.equal(getEventListeners(ends.signal, "abort").length, 0);
      const looks = world.store.calls.length;
      await world.add(["later"]);
      await world.clock.advance(3_600_000);
      assert.equal(world.store.calls.length, looks);
      assert.equal(world.store.news, undefined);
    }));

  it("is done by closing the connection", () =>
    within(async (world) => {
      const answering = deferred();
      world.faults.onPublish = () => answering.promise.then(() => CONFIRMED);
      await world.add(idsOf("m", 2));
      await world.relaying();
      await world.settled();
      const [mq] = world.connections;
      const closing = mq?.close();
      await world.settled();
      answering.resolve();
      assert.deepEqual(await closing, { drained: true, stranded: 0 });
      assert.deepEqual(world.store.of("markPublished"), [idsOf("m", 2)]);
      assert.ok(mq !== undefined);
      const again = mq.relay(world.store);
      await assert.rejects(again.start(), { code: "ACEMQ_CONNECTION_CLOSED" });
      await assert.rejects(again.runOnce(), { code: "ACEMQ_CONNECTION_CLOSED" });
    }));

  it("counts rows in hand when the connection closes with its budget over", () =>
    within(async (world) => {
      world.faults.onPublish = () => new Promise(() => {});
      await world.add(idsOf("m", 2));
      const mq = await world.open({ drainTimeoutMs: 5_000 });
      await mq.relay(world.store).start();
      await world.settled();
      const closing = mq.close();
      await world.clock.advance(5_000);
      assert.deepEqual(await closing, { drained: false, stranded: 2 });
    }));

  it("lets a test wait until nothing is in hand", () =>
    within(async (world) => {
      await world.relaying();
      const [mq] = world.connections;
      await world.add(idsOf("m", 500));
      await world.clock.advance(5);
      await mq?.idle();
      assert.equal((await world.outbox.stats()).pending, 0);
    }));
});
