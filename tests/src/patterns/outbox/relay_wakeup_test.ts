/** What wakes a relay: additions here, news of others, somebody who knows; polling is the floor. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { idsOf, outboundOf, OutboxWorld } from "../../../support/outbox_world.ts";
import { deferred } from "../../../support/until.ts";

const HOUR_MS = 3_600_000;

async function within(run: (world: OutboxWorld) => Promise<void>): Promise<void> {
  const world = new OutboxWorld();
  try {
    await run(world);
  } finally {
    await world.close();
  }
}

/** Adds a row, and commits so long after. */
function addSlowly(world: OutboxWorld, id: string, commitAfterMs: number): Promise<void> {
  return world.outbox.transaction(async (tx) => {
    await world.outbox.add(tx, outboundOf(id));
    await world.clock.delay(commitAfterMs);
  });
}

describe("a relay that polls once an hour", () => {
  for (const commitAfterMs of [0, 3, 40, 300]) {
    it(`sends what is committed ${commitAfterMs} ms after it was added, no later than that took, and 100 ms`, () =>
      within(async (world) => {
        await world.relaying({ pollIntervalMs: HOUR_MS });
        await world.clock.advance(10_000);
        const added = addSlowly(world, "a", commitAfterMs);
        await world.clock.advance(commitAfterMs);
        assert.deepEqual(world.arrived(), []);
        await world.clock.advance(Math.min(Math.max(commitAfterMs, 1), 100));
        assert.deepEqual(world.arrived(), ["a"]);
        await added;
        // Seen: nobody looks for it any more.
        const looks = world.store.claims.length;
        await world.clock.advance(10_000);
        assert.equal(world.store.claims.length, looks);
      }));
  }

  it("looks for a second for what is rolled back, a score of times, and then no more", () =>
    within(async (world) => {
      await world.relaying({ pollIntervalMs: HOUR_MS });
      await world.settled();
      const before = world.store.claims.length;
      await assert.rejects(world.outbox.transaction(async (tx) => {
        await world.outbox.add(tx, outboundOf("a"));
        throw new Error("no");
      }));
      await world.clock.advance(60_000);
      const looks = world.store.claims.length - before;
      assert.ok(looks >= 10 && looks <= 25, `${looks} looks`);
      assert.deepEqual(world.published, []);
    }));

  it("looks a bounded number of times while a long transaction adds and adds [OB-33]", () =>
    within(async (world) => {
      await world.relaying({ pollIntervalMs: HOUR_MS });
      await world.settled();
      const before = world.store.claims.length;
      const adding = world.outbox.transaction(async (tx) => {
        for (let index = 0; index < 1_000; index++) {
          await world.outbox.add(tx, outboundOf(`m-${index}`));
          await world.clock.delay(1);
        }
      });
      await world.clock.advance(1_000);
      const looks = world.store.claims.length - before;
      assert.ok(looks <= 100, `${looks} looks in a second`);
      await world.clock.advance(1_000);
      await adding;
      assert.equal((await world.outbox.stats()).pending, 0);
      assert.equal(world.published.length, 1_000);
    }));

  it("looks at once when it is told to, itself or its relay", () =>
    within(async (world) => {
      const mq = await world.open();
      const relay = mq.relay(world.store, { pollIntervalMs: HOUR_MS });
      const running = await relay.start();
      await world.clock.advance(5_000);
      const commit = deferred();
      const adding = world.outbox.transaction(async (tx) => {
        await world.outbox.addAll(tx, [outboundOf("a")]);
        await commit.promise;
      });
      await world.clock.advance(5_000);
      commit.resolve();
      await adding;
      await world.clock.advance(5_000);
      assert.deepEqual(world.arrived(), []);
      relay.wake();
      await world.settled();
      assert.deepEqual(world.arrived(), ["a"]);
      const looks = world.store.claims.length;
      running.wake();
      await world.settled();
      assert.equal(world.store.claims.length, looks + 1);
    }));

  it("hears of what other processes add", () =>
    within(async (world) => {
      const mq = await world.open();
      const { onAdded: _, ...elsewhere } = bound(world);
      const running = await mq.relay(elsewhere, { pollIntervalMs: HOUR_MS }).start();
      await world.settled();
      await world.add(["a"]);
      await world.clock.advance(5_000);
      assert.deepEqual(world.arrived(), []);
      world.store.news?.added();
      await world.settled();
      assert.deepEqual(world.arrived(), ["a"]);
      await running.close();
      assert.equal(world.store.news, undefined);
    }));

  it("looks when news arrive again, for what it did not hear of, and says when they do not [OB-39]", () =>
    within(async (world) => {
      const mq = await world.open();
      const { onAdded: _, ...elsewhere } = bound(world);
      await mq.relay(elsewhere, { pollIntervalMs: HOUR_MS }).start();
      await world.settled();
      world.store.news?.hears({ hearing: false, reason: "a pooler swallows LISTEN" });
      await world.add(["a"]);
      await world.clock.advance(5_000);
      const report = await mq.health();
      assert.equal(report.status, "degraded");
      const { outbox } = report.parts ?? {};
      assert.ok(typeof outbox === "object" && /a pooler swallows LISTEN/.test(outbox?.detail ?? ""));
      assert.deepEqual(world.arrived(), []);
      world.store.news?.hears({ hearing: true });
      await world.settled();
      assert.deepEqual(world.arrived(), ["a"]);
      assert.equal((await mq.health()).status, "up");
      assert.equal(world.sink.events("acemq.outbox.deaf").length, 1);
      assert.equal(world.sink.events("acemq.outbox.hearing").length, 1);
    }));
});

describe("a relay that listens to a database that is away", () => {
  it("tries again, and relays meanwhile", () =>
    within(async (world) => {
      const mq = await world.open();
      let attempts = 0;
      const store = {
        ...bound(world),
        listen: async (hooks: Parameters<typeof world.store.listen>[0]) => {
          if (++attempts < 3) throw new Error("no route to host");
          return await world.store.listen(hooks);
        },
      };
      await mq.relay(store).start();
      await world.add(idsOf("m", 2));
      await world.clock.advance(1_000);
      assert.deepEqual(world.arrived(), idsOf("m", 2));
      await world.clock.advance(30_000);
      assert.equal(attempts, 3);
      assert.ok(world.store.news !== undefined);
    }));
});

/** The methods of the world's store, to leave some out. */
function bound({ store }: OutboxWorld) {
  return {
    maxAttempts: store.maxAttempts,
    claim: store.claim.bind(store),
    markPublished: store.markPublished.bind(store),
    markFailed: store.markFailed.bind(store),
    giveBack: store.giveBack.bind(store),
    stats: store.stats.bind(store),
    onAdded: store.onAdded.bind(store),
    listen: store.listen.bind(store),
  };
}
