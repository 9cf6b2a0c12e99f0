/** The order rows leave in: per ordering key, whatever fails and however many relays there are. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PublishReceipt } from "../../../../src/ports/broker.ts";
import { idsOf, outboundOf, OutboxWorld, QUEUE } from "../../../support/outbox_world.ts";

async function within(run: (world: OutboxWorld) => Promise<void>, options = {}): Promise<void> {
  const world = new OutboxWorld(options);
  try {
    await run(world);
  } finally {
    await world.close();
  }
}

const NACKED: PublishReceipt = { outcome: "nacked", reason: "no" };

/** The ids of one key, in the order they arrived. */
function ofKey(world: OutboxWorld, key: string): readonly string[] {
  return world.arrived().filter((id) => id.startsWith(`${key}-`));
}

describe("a relay in order", () => {
  it("publishes the rows of a key one at a time in write order, with several relays and failures [OB-01, OBX-15]", () =>
    within(async (world) => {
      let refusals = 3;
      const out = new Map<string, number>();
      world.faults.onPublish = async ({ messageId = "" }) => {
        const key = messageId.slice(0, 1);
        assert.equal(out.get(key) ?? 0, 0, `Two of key ${key} at once`);
        out.set(key, 1);
        await world.clock.delay(1);
        out.set(key, 0);
        if (messageId === "a-50" && refusals-- > 0) return NACKED;
        world.put(QUEUE, messageId, { messageId });
        return { outcome: "confirmed" };
      };
      for (let relay = 0; relay < 3; relay++) await world.relaying({ mode: "in_order", batchSize: 20 });
      await world.outbox.transaction(async (tx) => {
        for (const key of ["a", "b"]) {
          await world.outbox.addAll(tx, idsOf(key, 200).map((id) => outboundOf(id)), { orderingKey: key });
        }
      });
      await world.clock.advance(30_000);
      assert.deepEqual(ofKey(world, "a"), idsOf("a", 200));
      assert.deepEqual(ofKey(world, "b"), idsOf("b", 200));
    }));

  it("has a failing row hold back its key alone; the rows behind it spend no attempt", () =>
    within(async (world) => {
      world.faults.onPublish = ({ messageId }) => messageId === "a-2" ? NACKED : undefined;
      await world.add(idsOf("a", 4), { key: "a" });
      await world.add(idsOf("b", 4), { key: "b" });
      await world.add(idsOf("none", 2));
      await world.relaying({ mode: "in_order" });
      await world.settled();
      assert.deepEqual([...world.arrived()].sort(), ["a-1", ...idsOf("b", 4), ...idsOf("none", 2)]);
      assert.deepEqual(world.store.of("giveBack"), [["a-3", "a-4"]]);
      world.faults.onPublish = undefined;
      await world.clock.advance(1_000);
      assert.deepEqual(ofKey(world, "a"), idsOf("a", 4));
      assert.deepEqual(world.store.of("markFailed"), [["a-2"]]);
    }));

  it("has rows without a key share one", () =>
    within(async (world) => {
      world.faults.onPublish = ({ messageId }) => messageId === "m-1" ? NACKED : undefined;
      await world.add(idsOf("m", 3));
      await world.relaying({ mode: "in_order" });
      await world.clock.advance(500);
      assert.deepEqual(world.arrived(), []);
    }));

  it("lets a key go on when a row of it was retired", () =>
    within(async (world) => {
      world.faults.onPublish = ({ messageId }) => messageId === "a-1" ? NACKED : undefined;
      await world.add(idsOf("a", 3), { key: "a" });
      await world.relaying({ mode: "in_order" });
      await world.clock.advance(900);
      assert.deepEqual(world.arrived(), []);
      await world.clock.advance(1_100);
      assert.deepEqual(world.arrived(), ["a-2", "a-3"]);
      assert.deepEqual(await world.retired(), [["a-1", "nacked: no"]]);
    }, { maxAttempts: 2 }));

  it("keeps a key whose row was retired, if it is told to, until somebody releases that row", () =>
    within(async (world) => {
      world.faults.onPublish = ({ messageId }) => messageId === "a-1" ? NACKED : undefined;
      await world.add(idsOf("a", 3), { key: "a" });
      await world.add(idsOf("b", 1), { key: "b" });
      await world.relaying({ mode: "in_order", onRetired: "hold" });
      await world.clock.advance(60_000);
      assert.deepEqual(world.arrived(), ["b-1"]);
      world.faults.onPublish = undefined;
      await world.outbox.release("a-1");
      await world.clock.advance(1_000);
      assert.deepEqual(ofKey(world, "a"), idsOf("a", 3));
    }, { maxAttempts: 2 }));

  it("has a key whose publish hangs hold up no other, neither here nor in a second relay [OB-27]", () =>
    within(async (world) => {
      world.faults.onPublish = ({ messageId = "" }) => messageId.startsWith("a") ? new Promise(() => {}) : undefined;
      for (let relay = 0; relay < 2; relay++) await world.relaying({ mode: "in_order", batchSize: 10 });
      await world.add(idsOf("a", 2), { key: "a" });
      await world.add(idsOf("b", 5), { key: "b" });
      await world.clock.advance(2_000);
      await world.add(idsOf("b-later", 100), { key: "b" });
      await world.clock.advance(5_000);
      assert.deepEqual(ofKey(world, "b"), [...idsOf("b", 5), ...idsOf("b-later", 100)]);
    }));
});

describe("a relay that goes on", () => {
  it("lets a row that fails hold back nobody, whatever their key [OBX-15]", () =>
    within(async (world) => {
      world.faults.onPublish = ({ messageId }) => messageId === "a-2" ? NACKED : undefined;
      await world.add(idsOf("a", 3), { key: "a" });
      await world.relaying();
      await world.settled();
      assert.deepEqual(world.arrived(), ["a-1", "a-3"]);
      assert.deepEqual(world.store.of("giveBack"), []);
    }));
});
