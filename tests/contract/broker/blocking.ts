/**
 * A broker that has run out of memory or disk: it takes nothing more from whoever publishes, and goes on handing out.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { PublishReceipt } from "../../../src/ports/broker.ts";
import type { Peer, Scenario, World } from "./world.ts";

/** The cases about a broker that blocks publishing. */
export function blocking(it: Scenario): void {
  it("takes the publish that ran into an alarm when the alarm ends, and not before", async (world) => {
    const queue = await world.queue("q");
    const { peer, first, unblock } = await intoAlarm(world, queue);
    let isAnswered = false;
    void first.then(() => isAnswered = true);
    await world.depth(queue, 0);
    assert.equal(isAnswered, false);
    await unblock();
    assert.deepEqual(await first, { outcome: "confirmed" });
    assert.deepEqual(await world.bodies(queue, 1), ["into the alarm"]);
    assert.deepEqual(peer.events.map(({ type }) => type), ["blocked", "unblocked"]);
  });

  it(
    "declines a publish on a blocked connection at once, and takes the same one after the alarm",
    async (world) => {
      const queue = await world.queue("q");
      const { peer, first, unblock } = await intoAlarm(world, queue);
      const declined = await world.publish(queue, { body: "again" }, peer.mq);
      assert.ok(declined.outcome === "paused");
      assert.match(declined.reason, /memory/);
      assert.equal(peer.mq.state.status, "open");
      await unblock();
      await first;
      assert.deepEqual(await world.publish(queue, { body: "again" }, peer.mq), { outcome: "confirmed" });
      assert.deepEqual(await world.bodies(queue, 2), ["into the alarm", "again"]);
    },
  );

  it("does not tell a connection of an alarm that publishes nothing", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1");
    const quiet = await world.connect();
    const { unblock } = await intoAlarm(world, await world.queue("other"));
    assert.equal((await world.until("a message", () => world.pull(queue, quiet.mq))).settle("ack"), "sent");
    assert.deepEqual(await quiet.mq.checkQueue(queue), { status: "present", messages: 0, consumers: 0 });
    assert.deepEqual([quiet.mq.state.blockedReason, quiet.events], [undefined, []]);
    await unblock();
  });

  it(
    "goes on handing out to a blocked connection, and hears what it settles when the alarm ends",
    async (world) => {
      const [queue, other] = [await world.queue("q"), await world.queue("other")];
      await world.fill(queue, "1", "2", "3");
      const peer = await world.connect();
      const { deliveries } = await world.read(queue, { by: peer.mq, prefetch: 2 });
      await world.until("two messages", () => deliveries.length === 2);
      const { unblock } = await intoAlarm(world, other, peer);
      deliveries[0]?.settle("ack");
      await world.depth(queue, 1);
      await unblock();
      await world.until("the third message", () => deliveries.length === 3);
      await world.depth(queue, 0);
    },
  );

  it("answers what a blocked connection asks when the alarm ends", async (world) => {
    const queue = await world.queue("q");
    const { peer, unblock } = await intoAlarm(world, queue);
    let isAnswered = false;
    const answer = world.declareQueue(world.name("asked"), { by: peer.mq }).then((result) => {
      isAnswered = true;
      return result;
    });
    // A whole round trip of somebody else.
    await world.mq.checkQueue(queue);
    assert.equal(isAnswered, false);
    await unblock();
    assert.deepEqual(await answer, { status: "declared" });
  });

  it(
    "lets a blocked connection end a subscription at once, and reads it in its order among the settlements when the alarm ends",
    async (world) => {
      const [queue, other] = [await world.queue("q"), await world.queue("other")];
      await world.fill(queue, "1", "2", "3", "4");
      const peer = await world.connect();
      const { deliveries, subscription } = await world.read(queue, { by: peer.mq, prefetch: 3 });
      await world.until("three messages", () => deliveries.length === 3);
      const { unblock } = await intoAlarm(world, other, peer);
      deliveries[0]?.settle("ack");
      await subscription.cancel();
      assert.equal(subscription.live, false);
      deliveries[1]?.settle("requeue");
      await subscription.close();
      assert.equal(deliveries[2]?.settle("ack"), "stale");
      await world.depth(queue, 1);
      await unblock();
      assert.deepEqual(await world.bodies(queue, 3), ["2", "3", "4"]);
    },
  );

  it(
    "lets a blocked connection close at once, and hands out again what it had in hand",
    async (world) => {
      const [queue, other] = [await world.queue("q"), await world.queue("other")];
      await world.fill(queue, "1", "2");
      const peer = await world.connect();
      const { deliveries, subscription } = await world.read(queue, { by: peer.mq });
      await world.until("two messages", () => deliveries.length === 2);
      const { first, unblock } = await intoAlarm(world, other, peer);
      const started = world.under.clock.elapsed();
      await subscription.cancel();
      await subscription.close();
      await peer.mq.close();
      const tookMs = world.under.clock.elapsed() - started;
      assert.ok(tookMs < 1_000, `${tookMs} ms`);
      assert.equal((await first).outcome, "unknown");
      await unblock();
      assert.deepEqual(await world.bodies(queue, 2), ["1", "2"]);
    },
  );

  it("does not know what became of the publish in an alarm when its connection is closed", async (world) => {
    const queue = await world.queue("q");
    const { peer, first, unblock } = await intoAlarm(world, queue);
    await peer.mq.close();
    assert.equal((await first).outcome, "unknown");
    await unblock();
  });
}

interface InAlarm {
  readonly peer: Peer;
  /** The publish that ran into the alarm. */
  readonly first: Promise<PublishReceipt>;
  readonly unblock: () => Promise<void>;
}

/** A connection that has published into an alarm and heard of it. */
async function intoAlarm(world: World, queue: string, peer?: Peer): Promise<InAlarm> {
  const { block, unblock } = world.under;
  assert.ok(block !== undefined && unblock !== undefined);
  const { mq, events } = peer ?? await world.connect();
  await block();
  const first = world.publish(queue, { body: "into the alarm" }, mq);
  await world.until("the block", () => mq.state.blockedReason !== undefined);
  return {
    peer: { mq, events },
    first,
    unblock: async () => {
      await unblock();
      await world.until("the end of the block", () => mq.state.blockedReason === undefined);
    },
  };
}
