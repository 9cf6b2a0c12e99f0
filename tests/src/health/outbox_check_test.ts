/** What health says of relays. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HealthReport } from "../../../src/health/report.ts";
import { idsOf, OutboxWorld } from "../../support/outbox_world.ts";

async function within(run: (world: OutboxWorld) => Promise<void>, options = {}): Promise<void> {
  const world = new OutboxWorld(options);
  try {
    await run(world);
  } finally {
    await world.close();
  }
}

function outboxOf(report: HealthReport): HealthReport {
  const { outbox } = report.parts ?? {};
  assert.ok(typeof outbox === "object" && outbox !== null);
  return outbox;
}

describe("the health of an outbox", () => {
  it("is a part of the report while a relay runs, with the figures", () =>
    within(async (world) => {
      const mq = await world.open();
      assert.equal((await mq.health()).parts?.["outbox"], undefined);
      const running = await mq.relay(world.store).start();
      await world.add(["poison"], { routingKey: "nowhere" });
      await world.clock.advance(2_500);
      const report = outboxOf(await mq.health());
      assert.equal(report.status, "up");
      assert.deepEqual(report.parts, { inHand: 0, pending: 1, retired: 0, oldestAgeMillis: 2_500 });
      await running.close();
      assert.equal((await mq.health()).parts?.["outbox"], undefined);
    }));

  it("is degraded when a row has waited too long, and when rows were retired [OB-21]", () =>
    within(async (world) => {
      const mq = await world.open();
      await mq.relay(world.store, { oldestAgeLimitMs: 60_000 }).start();
      await world.add(idsOf("poison", 2), { routingKey: "nowhere" });
      await world.clock.advance(59_000);
      assert.equal((await mq.health()).status, "up");
      await world.clock.advance(6_000);
      const late = await mq.health();
      assert.equal(late.status, "degraded");
      assert.equal(outboxOf(late).detail, "the oldest row has waited 65s");
      await world.clock.advance(600_000);
      assert.equal(outboxOf(await mq.health()).detail, "2 rows failed too often and are retired");
      for (const id of idsOf("poison", 2)) await world.outbox.release(id);
      await world.clock.advance(6_000);
      assert.equal(outboxOf(await mq.health()).parts?.["retired"], 0);
    }));

  it("is degraded, and not down, when the store does not answer: within the time a check has", () =>
    within(async (world) => {
      const mq = await world.open();
      await mq.relay(world.store).start();
      await world.settled();
      world.store.before = () => new Promise(() => {});
      await world.clock.advance(10_000);
      const asking = mq.health();
      await world.clock.advance(3_000);
      const report = outboxOf(await asking);
      assert.equal(report.status, "degraded");
      assert.match(report.detail ?? "", /^the store does not answer: StoreError: Cannot count the outbox/);
    }));

  it("counts the table once for many who look in a row", () =>
    within(async (world) => {
      const mq = await world.open();
      await mq.relay(world.store).start();
      await world.settled();
      const before = world.store.of("stats").length;
      for (let look = 0; look < 20; look++) {
        await mq.health();
        await world.clock.advance(100);
      }
      const asked = world.store.of("stats").length - before;
      assert.ok(asked <= 3, `${asked} times in two seconds`);
    }));

  it("has a part for each relay where there are several, and the worst of them", () =>
    within(async (world) => {
      const mq = await world.open();
      await mq.relay(world.store).start();
      const other = new OutboxWorld();
      await mq.relay(other.store).start();
      other.store.news?.hears({ hearing: false, reason: "deaf" });
      const report = outboxOf(await mq.health());
      assert.equal(report.status, "degraded");
      assert.match(report.detail ?? "", /deaf/);
      assert.deepEqual(Object.values(report.parts ?? {}).map((part) => (part as HealthReport).status), [
        "up",
        "degraded",
      ]);
    }));
});

describe("the figures of an outbox", () => {
  it("are gauges, written when a relay starts and every 15 seconds", () =>
    within(async (world) => {
      await world.add(idsOf("m", 3), { routingKey: "nowhere" });
      await world.relaying();
      await world.clock.advance(31_000);
      assert.deepEqual(world.sink.values("acemq.outbox.pending"), [3, 3, 3]);
      assert.deepEqual(world.sink.values("acemq.outbox.retired"), [0, 0, 0]);
      assert.deepEqual(world.sink.values("acemq.outbox.oldest.age"), [0, 15, 30]);
    }));

  it("tell how long a row has waited until it was published, and until it was refused", () =>
    within(async (world) => {
      await world.add(["good"]);
      await world.add(["bad"], { routingKey: "nowhere" });
      await world.clock.advance(7_000);
      await world.relaying();
      await world.settled();
      assert.deepEqual(world.sink.values("acemq.outbox.lag", { outcome: "published" }), [7]);
      assert.deepEqual(world.sink.values("acemq.outbox.lag", { outcome: "failed", "routing.key": "nowhere" }), [7]);
    }));

  it("are purged of what was published, if a relay is told to", () =>
    within(async (world) => {
      await world.add(["a"]);
      await world.relaying({ purgeAfterMs: 3_600_000 });
      await world.clock.advance(3_590_000);
      await world.add(["a"]);
      assert.equal((await world.outbox.stats()).pending, 0);
      await world.clock.advance(120_000);
      await world.add(["a"]);
      assert.equal((await world.outbox.stats()).pending, 1);
    }));
});
