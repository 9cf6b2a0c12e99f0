/** The relay on a broker and a store in memory: what is published, what is marked, what goes back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryOutboxStore } from "../../../../adapters/memory/mod.ts";
import { StoreError } from "../../../../src/errors.ts";
import type { PublishReceipt } from "../../../../src/ports/broker.ts";
import type { RelayStore } from "../../../../src/ports/outbox_store.ts";
import { topology } from "../../../../src/topology/topology.ts";
import { FaultyOutbox } from "../../../support/faulty_outbox.ts";
import { idsOf, outboundOf, OutboxWorld, QUEUE } from "../../../support/outbox_world.ts";
import { deferred } from "../../../support/until.ts";

/** Runs a test in a world of its own. */
async function within(run: (world: OutboxWorld) => Promise<void>, options = {}): Promise<void> {
  const world = new OutboxWorld(options);
  try {
    await run(world);
  } finally {
    await world.close();
  }
}

const NACKED: PublishReceipt = { outcome: "nacked", reason: "no" };

describe("a relay", () => {
  it("publishes what was committed, in the order it was written, and never what was rolled back [OBX-01]", () =>
    within(async (world) => {
      await world.relaying();
      await world.add(["a", "b"]);
      const rolledBack = world.outbox.transaction(async (tx) => {
        await world.outbox.add(tx, Promise.resolve({ ...world.faults.published[0], messageId: "x" } as never));
        throw new Error("no");
      });
      await assert.rejects(rolledBack);
      await world.add(["c"]);
      await world.clock.advance(60_000);
      assert.deepEqual(world.arrived(), ["a", "b", "c"]);
      assert.deepEqual(await world.outbox.stats(), { pending: 0, oldestAgeMs: undefined, retired: 0 });
    }));

  for (const confirms of [true, false]) {
    it(`publishes as it was added, mandatory, persistent, confirmed, with confirms ${confirms ? "on" : "off"} [OBX-09, PUB-01]`, () =>
      within(async (world) => {
        const mq = await world.open({ confirms });
        const body = Uint8Array.from([0xff, 0x00, 0x7b]);
        const headers = {
          "x-acemq-id": "a",
          "x-acemq-attempt": 1,
          "x-acemq-first-seen": 1_788_962_400_000n,
          tenant: "acme",
        };
        await world.add(["a"], {
          body,
          headers,
          contentType: "application/x-own",
        });
        const seen: unknown[] = [];
        world.faults.onPublish = (_, { confirm }) => void seen.push(confirm);
        await mq.relay(world.store).runOnce();
        const [outbound] = world.faults.published;
        assert.deepEqual(outbound?.body, body);
        assert.deepEqual(outbound?.headers, headers);
        const { exchange, routingKey, contentType, messageId, mandatory, persistent } = outbound ?? {};
        assert.deepEqual([exchange, routingKey, contentType, messageId], ["", QUEUE, "application/x-own", "a"]);
        assert.deepEqual([mandatory, persistent, seen], [true, true, [true]]);
      }));

    it(`keeps a row that no queue took, with confirms ${confirms ? "on" : "off"} [OBX-02, OB-43, PUB-01]`, () =>
      within(async (world) => {
        const mq = await world.open({ confirms });
        await mq.declare(topology().exchange("events", "topic").queue("audit"));
        await world.add(["a"], { exchange: "events", routingKey: "order.placed" });
        const relay = mq.relay(world.store);
        assert.deepEqual(await relay.runOnce(), { published: 0, failed: 1, remaining: 1 });
        const { rows: [row] } = await claimLater(world);
        assert.equal(row?.attempts, 1);
        await mq.declare(
          topology().exchange("events", "topic").queue("audit").bind("audit", {
            exchange: "events",
            routingKey: "order.*",
          }),
        );
        await world.clock.advance(60_000);
        assert.deepEqual(await relay.runOnce(), { published: 1, failed: 0, remaining: 0 });
        assert.deepEqual(world.arrived("audit"), ["a"]);
      }));
  }

  it("does not run the publish interceptors again, whose headers went along with the message [OBX-18]", () =>
    within(async (world) => {
      let runs = 0;
      const mq = await world.open({
        interceptors: {
          publish: [(context, next) => {
            runs++;
            return next({ ...context, headers: { ...context.headers, traceparent: "00-1-2-01" } });
          }],
        },
      });
      const placed = mq.publisher("", QUEUE);
      await world.outbox.transaction((tx) => world.outbox.add(tx, placed.prepare({ id: 1 })));
      await mq.relay(world.store).runOnce();
      assert.equal(runs, 1);
      assert.equal(world.waiting(QUEUE)[0]?.headers["traceparent"], "00-1-2-01");
      assert.deepEqual(world.sink.values("acemq.publish.total"), []);
      assert.equal(
        world.sink.count("acemq.outbox.total", { exchange: "", "routing.key": QUEUE, outcome: "published" }),
        1,
      );
    }));

  it("marks only what was confirmed and routed, all of it in one statement [PUB-03, OB-03]", () =>
    within(async (world) => {
      world.faults.onPublish = ({ messageId }) => messageId === "m-2" ? NACKED : undefined;
      await world.add(idsOf("m", 3));
      await world.relaying();
      await world.settled();
      assert.deepEqual(world.store.of("markPublished"), [["m-1", "m-3"]]);
      assert.deepEqual(world.store.of("markFailed"), [["m-2"]]);
      assert.equal((await world.outbox.stats()).pending, 1);
    }));

  it("drains whatever has piled up at one go, by batches: it waits for no poll, and for nobody [OB-31]", () =>
    within(async (world) => {
      await world.add(idsOf("m", 1_000));
      await world.relaying({ batchSize: 50 });
      await world.settled();
      assert.equal(world.published.length, 1_000);
      assert.equal((await world.outbox.stats()).pending, 0);
      // One of either for each batch, and a last one that finds nothing.
      assert.deepEqual([world.store.of("claim").length, world.store.of("markPublished").length], [21, 20]);
    }));

  it("claims a batch while one is published and one is marked, and no more than that", () =>
    within(async (world) => {
      const marking = deferred();
      const answering = deferred();
      world.store.before = (call) => call === "markPublished" ? marking.promise : undefined;
      world.faults.onPublish = ({ messageId = "" }) =>
        Number(messageId.slice(2)) > 10 ? answering.promise.then(() => ({ outcome: "confirmed" })) : undefined;
      await world.add(idsOf("m", 50));
      await world.relaying({ batchSize: 10 });
      await world.settled();
      assert.equal(world.store.of("claim").length, 3);
      marking.resolve();
      answering.resolve();
      world.faults.onPublish = undefined;
      await world.settled();
      assert.equal((await world.outbox.stats()).pending, 0);
      assert.deepEqual(world.published, idsOf("m", 50));
    }));

  it("never publishes more at once than the connection may have out", () =>
    within(async (world) => {
      let out = 0;
      let most = 0;
      world.faults.onPublish = async () => {
        most = Math.max(most, ++out);
        await world.clock.delay(1);
        out--;
        return { outcome: "confirmed" };
      };
      const mq = await world.open({ maxOutstandingPublishes: 7 });
      await world.add(idsOf("m", 50));
      const run = mq.relay(world.store).runOnce();
      await world.clock.advance(100);
      assert.deepEqual(await run, { published: 50, failed: 0, remaining: 0 });
      assert.equal(most, 7);
    }));

  it("leaves a row to the one who has it: two relays publish each once [OBX-07, OB-16]", () =>
    within(async (world) => {
      for (let relay = 0; relay < 2; relay++) await world.relaying({ batchSize: 10 });
      for (let batch = 0; batch < 10; batch++) await world.add(idsOf(`b${batch}`, 100));
      await world.clock.advance(5_000);
      assert.equal(world.published.length, 1_000);
      assert.equal(new Set(world.published).size, 1_000);
    }));

  it("publishes what a killed relay had in hand when its lease ends, under the same ids [OBX-06, OB-15, OB-36]", () =>
    within(async (world) => {
      await world.add(idsOf("m", 5));
      // Published by a process that was killed before it could mark.
      const { rows } = await world.outbox.claim({ limit: 3, leaseMs: 60_000, mode: "continue", onRetired: "release" });
      await world.open();
      for (const row of rows) if ("outbound" in row) world.put(QUEUE, row.outbound.body, { messageId: row.id });
      await world.relaying();
      await world.clock.advance(59_000);
      assert.deepEqual(world.published, ["m-4", "m-5"]);
      await world.clock.advance(2_000);
      assert.deepEqual(world.published, ["m-4", "m-5", "m-1", "m-2", "m-3"]);
      assert.equal((await world.outbox.stats()).pending, 0);
    }));

  it("relays from a store that can only claim and mark [OBX-20]", () =>
    within(async (world) => {
      const { outbox } = world;
      const minimal: RelayStore = {
        claim: (options) => outbox.claim(options),
        markPublished: (token, ids) => outbox.markPublished(token, ids),
      };
      world.faults.onPublish = ({ messageId }) => messageId === "m-2" ? NACKED : undefined;
      const mq = await world.open();
      const running = await mq.relay(minimal).start();
      await world.add(idsOf("m", 3));
      await world.clock.advance(1_000);
      assert.deepEqual(world.arrived(), ["m-1", "m-3"]);
      world.faults.onPublish = undefined;
      await world.clock.advance(60_000);
      assert.deepEqual(world.arrived(), ["m-1", "m-3", "m-2"]);
      assert.equal((await mq.health()).status, "up");
      await running.close();
      assert.deepEqual(await mq.relay(minimal).runOnce(), { published: 0, failed: 0, remaining: undefined });
    }));

  it("finds what a store it cannot hear has, by polling [OBX-05, OB-13]", () =>
    within(async (world) => {
      const { claim, markPublished } = world.outbox;
      const deaf: RelayStore = {
        claim: claim.bind(world.outbox),
        markPublished: markPublished.bind(world.outbox),
      };
      await world.relaying({ pollIntervalMs: 1_000 }, deaf);
      await world.settled();
      await world.add(["a"]);
      await world.clock.advance(999);
      assert.deepEqual(world.arrived(), []);
      await world.clock.advance(1);
      assert.deepEqual(world.arrived(), ["a"]);
    }));
});

describe("a row the broker refuses", () => {
  it("is tried again later each time, and retired after ten attempts, listed with the broker's words [OBX-12, OB-28]", () =>
    within(async (world) => {
      await world.relaying();
      await world.add(["poison"], { routingKey: "nowhere" });
      await world.add(idsOf("good", 5));
      await world.clock.advance(10);
      assert.deepEqual(world.arrived(), idsOf("good", 5));
      // 1, 2, 4 … 256 seconds: nine waits between ten attempts.
      await world.clock.advance(510_000);
      assert.equal(world.published.filter((id) => id === "poison").length, 9);
      assert.deepEqual(await world.retired(), []);
      await world.clock.advance(2_000);
      assert.deepEqual(await world.retired(), [["poison", "unroutable: 312 NO_ROUTE"]]);
      assert.equal((await world.outbox.stats()).pending, 1);
      await world.clock.advance(3_600_000);
      assert.equal(world.published.filter((id) => id === "poison").length, 10);
      assert.equal(world.sink.events("acemq.outbox.retired").length, 1);
      assert.equal(world.sink.count("acemq.outbox.total", { outcome: "failed" }), 10);
      assert.equal(await world.outbox.release("poison"), true);
      await world.clock.advance(1_000);
      assert.equal(world.published.filter((id) => id === "poison").length, 11);
    }));

  it("holds up nobody: ten that can never be sent are ahead of a hundred that can [OB-20]", () =>
    within(async (world) => {
      await world.add(idsOf("poison", 10), { routingKey: "nowhere" });
      await world.add(idsOf("good", 100));
      await world.relaying({ batchSize: 10 });
      await world.clock.advance(3_000);
      assert.deepEqual(world.arrived(), idsOf("good", 100));
    }));

  it("is tried again at its time, however rarely the relay polls", () =>
    within(async (world) => {
      await world.relaying({ pollIntervalMs: 3_600_000 });
      await world.add(["a"], { routingKey: "late" });
      await world.clock.advance(1_000);
      await world.connections[0]?.declare(topology().queue("late"));
      await world.clock.advance(300_000);
      assert.deepEqual(world.arrived("late"), ["a"]);
    }));

  it("waits out a binding that is missing for some minutes", () =>
    within(async (world) => {
      await world.relaying();
      await world.add(idsOf("m", 20), { routingKey: "late" });
      await world.clock.advance(240_000);
      await world.connections[0]?.declare(topology().queue("late"));
      await world.clock.advance(240_000);
      assert.deepEqual([...world.arrived("late")].sort(), [...idsOf("m", 20)].sort());
      assert.deepEqual(await world.retired(), []);
    }));

  it("is retired at once when it cannot be made a message, and nothing else waits for it", () =>
    within(async (world) => {
      const { outbox } = world;
      const store: RelayStore = {
        maxAttempts: outbox.maxAttempts,
        claim: async (options) => {
          const { token, rows } = await outbox.claim(options);
          return {
            token,
            rows: rows.map((row) =>
              row.id !== "m-1"
                ? row
                : { ...row, exchange: "", routingKey: QUEUE, unreadable: new Error("the headers are no JSON") }
            ),
          };
        },
        markPublished: outbox.markPublished.bind(outbox),
        markFailed: outbox.markFailed.bind(outbox),
        giveBack: outbox.giveBack.bind(outbox),
      };
      await world.add(idsOf("m", 2));
      await world.relaying({ mode: "in_order" }, store);
      await world.clock.advance(1_000);
      assert.deepEqual(world.arrived(), ["m-2"]);
      assert.deepEqual(await world.retired(), [["m-1", "unreadable: the headers are no JSON"]]);
    }));
});

describe("a row without an answer of the broker", () => {
  it("spends no attempt: a broker that is away for an hour retires nothing [OB-21]", () =>
    within(async (world) => {
      await world.relaying();
      await world.settled();
      await world.faults.lose();
      await world.add(idsOf("m", 5));
      await world.clock.advance(3_600_000);
      assert.deepEqual(world.published, []);
      assert.deepEqual(await world.retired(), []);
      await world.faults.recover();
      await world.settled();
      assert.deepEqual(world.arrived(), idsOf("m", 5));
      assert.equal(world.sink.count("acemq.outbox.total", { outcome: "failed" }), 0);
    }));

  it("spends none either when the connection is lost again and again", () =>
    within(async (world) => {
      await world.add(["a"]);
      await world.relaying();
      for (let time = 0; time < 20; time++) {
        world.faults.onPublish = () => world.faults.lose().then(() => ({ outcome: "unknown", reason: "lost" }));
        await world.clock.advance(2_000);
        await world.faults.recover();
        await world.settled();
      }
      world.faults.onPublish = undefined;
      await world.faults.recover();
      await world.clock.advance(1_000);
      assert.deepEqual(world.arrived(), ["a"]);
      assert.equal(world.published.length, 22);
      assert.deepEqual(world.store.of("markFailed"), []);
    }));

  it("is not claimed while the link is lost, nor while the broker blocks, and all go within a poll of the return [OB-18]", () =>
    within(async (world) => {
      await world.relaying({ pollIntervalMs: 3_600_000 });
      await world.settled();
      for (
        const [begin, end] of [
          [() => world.faults.lose(), () => world.faults.recover()],
          [() => world.broker.block("low on memory"), () => world.broker.unblock()],
        ] as const
      ) {
        await begin();
        // A connection hears of a block when it publishes.
        await world.add(["told"]);
        await world.clock.advance(0);
        const claims = world.store.claims.length;
        await world.add(idsOf("pending", 3));
        await world.clock.advance(30_000);
        assert.equal(world.store.claims.length - claims <= 1, true);
        await end();
        await world.settled();
        assert.equal((await world.outbox.stats()).pending, 0);
        await world.outbox.purgePublished({ olderThanMs: 0 });
      }
    }));

  it("rests for as long as its answer was waited for: a queue that answers nobody does not starve the others", () =>
    within(async (world) => {
      world.faults.onPublish = ({ messageId = "" }) =>
        messageId.startsWith("stuck") ? new Promise(() => {}) : undefined;
      await world.add(idsOf("stuck", 400), { routingKey: QUEUE });
      await world.add(idsOf("good", 100));
      await world.relaying();
      await world.clock.advance(25_000);
      assert.deepEqual(world.arrived(), idsOf("good", 100));
      assert.deepEqual(world.store.of("markFailed"), []);
    }));

  it("is not published beside itself when its lease has ended meanwhile", () =>
    within(async (world) => {
      await world.add(["a"]);
      await world.relaying({ leaseMs: 1_000 });
      world.broker.block("low on memory");
      await world.clock.advance(120_000);
      world.broker.unblock();
      await world.clock.advance(5_000);
      assert.deepEqual(world.arrived(), ["a"]);
      assert.deepEqual(world.published, ["a"]);
    }));
});

describe("a refusal that names no message", () => {
  /** A channel on which the broker closes over what goes to a missing exchange, with all that is in flight. */
  function closingChannel(world: OutboxWorld): void {
    const open = new Map<string, (receipt: PublishReceipt) => void>();
    world.faults.onPublish = ({ messageId = "", exchange }) =>
      new Promise((resolve) => {
        open.set(messageId, resolve);
        void world.clock.delay(1).then(() => {
          if (!open.has(messageId)) return;
          if (exchange !== "missing" && messageId !== "guilty") {
            open.delete(messageId);
            return resolve({ outcome: "confirmed" });
          }
          const reason = "404 NOT_FOUND - no exchange 'missing'";
          for (const end of open.values()) {
            end(
              open.size === 1
                ? { outcome: "refused", written: true, reason }
                : { outcome: "unknown", reason, oneRefused: true },
            );
          }
          open.clear();
        });
      });
  }

  it("spends an attempt of the guilty row alone: those in flight are published one at a time", () =>
    within(async (world) => {
      closingChannel(world);
      await world.add(idsOf("good", 5));
      await world.add(["guilty"], { exchange: "missing" });
      await world.add(idsOf("more", 5));
      await world.relaying();
      await world.clock.advance(900);
      assert.deepEqual(world.store.of("markFailed"), [["guilty"]]);
      assert.equal((await world.outbox.stats()).pending, 1);
      assert.deepEqual(world.sink.count("acemq.outbox.total", { outcome: "published" }), 10);
    }));

  it("is found out though another relay publishes over the same connection: one alone is alone there", () =>
    within(async (world) => {
      closingChannel(world);
      const other = memoryOutboxStore({ clock: world.clock });
      await other.transaction((tx) => other.addAll(tx, idsOf("other", 400).map((id) => outboundOf(id))));
      await world.add(["guilty"], { exchange: "missing" });
      const mq = await world.open();
      await mq.relay(other).start();
      await mq.relay(world.store).start();
      await world.clock.advance(900);
      assert.deepEqual(world.store.of("markFailed"), [["guilty"]]);
      assert.equal(world.published.filter((id) => id === "guilty").length, 2);
      assert.equal((await other.stats()).pending, 0);
    }));

  it("is not asked for again with others in flight: what goes to that exchange goes alone from then on", () =>
    within(async (world) => {
      closingChannel(world);
      await world.add(["guilty"], { exchange: "missing" });
      await world.add(idsOf("good", 5));
      await world.relaying();
      await world.clock.advance(900);
      const before = world.published.length;
      // Claimed together with the next attempt of the guilty one.
      const claiming = deferred();
      world.store.before = (call) => call === "claim" ? claiming.promise : undefined;
      await world.add(idsOf("more", 5));
      await world.clock.advance(1_000);
      claiming.resolve();
      await world.clock.advance(500);
      assert.deepEqual([...world.published.slice(before)].sort(), ["guilty", ...idsOf("more", 5)]);
    }));

  it("takes none with it at its later attempts either, where the exchange takes every other message", () =>
    within(async (world) => {
      closingChannel(world);
      await world.add(["guilty"]);
      await world.relaying();
      await world.clock.advance(900);
      for (let attempt = 2; attempt <= 5; attempt++) {
        // The exchange is beyond suspicion by then.
        await world.add([`between-${attempt}`]);
        await world.clock.advance(10);
        const before = world.published.length;
        const claiming = deferred();
        world.store.before = (call) => call === "claim" ? claiming.promise : undefined;
        const more = idsOf(`more-${attempt}`, 5);
        await world.add(more);
        await world.clock.advance(1_000 * 2 ** (attempt - 2));
        claiming.resolve();
        await world.clock.advance(500);
        assert.deepEqual([...world.published.slice(before)].sort(), ["guilty", ...more]);
      }
    }));
});

describe("a store that is away", () => {
  it("is asked less and less often, is reported, and is gone on with when it is back", () =>
    within(async (world) => {
      const running = await world.relaying();
      await world.settled();
      const before = world.store.claims.length;
      world.store.before = () => Promise.reject(new StoreError("Cannot claim: the database is away"));
      await world.clock.advance(600_000);
      const asked = world.store.claims.length - before;
      assert.ok(asked >= 40 && asked <= 100, `asked ${asked} times in ten minutes`);
      assert.equal(world.sink.events("acemq.outbox.store_away").length, 1);
      const [mq] = world.connections;
      const report = await mq?.health();
      assert.equal(report?.status, "degraded");
      world.store.before = undefined;
      await world.add(["a"]);
      await world.clock.advance(15_000);
      assert.deepEqual(world.arrived(), ["a"]);
      assert.equal(world.sink.events("acemq.outbox.store_back").length, 1);
      assert.equal((await mq?.health())?.status, "up");
      await running.close();
    }));

  it("keeps a relay from starting, and a single run from passing for one that found nothing", () =>
    within(async (world) => {
      const mq = await world.open();
      const away = new StoreError("Cannot claim: the database is away");
      const { outbox } = world;
      const store: RelayStore = {
        check: () => Promise.reject(away),
        claim: () => Promise.reject(away),
        markPublished: outbox.markPublished.bind(outbox),
      };
      await assert.rejects(mq.relay(store).start(), (error) => error === away);
      const { check: _, ...unchecked } = store;
      const run = assert.rejects(mq.relay(unchecked).runOnce({ budgetMs: 5_000 }), (error) => error === away);
      await world.clock.advance(20_000);
      await run;
    }));

  it("takes the marks when it is back: what is published is not published again", () =>
    within(async (world) => {
      world.store.before = (call) => {
        if (call === "markPublished") throw new StoreError("Cannot mark: the database is away");
      };
      await world.add(idsOf("m", 3));
      await world.relaying();
      await world.clock.advance(30_000);
      world.store.before = undefined;
      await world.clock.advance(60_000);
      assert.deepEqual(world.published, idsOf("m", 3));
      assert.equal((await world.outbox.stats()).pending, 0);
    }));

  it("has what it could not mark published again when the lease ends, under the same ids, and says so [OBX-06]", () =>
    within(async (world) => {
      world.store.before = (call) => {
        if (call === "markPublished") throw new StoreError("Cannot mark: the database is away");
      };
      await world.add(["a"]);
      await world.relaying();
      await world.clock.advance(59_900);
      assert.deepEqual(world.published, ["a"]);
      world.store.before = undefined;
      world.store.before = (call) => {
        if (call === "markPublished" && world.published.length === 1) throw new StoreError("still away");
      };
      await world.clock.advance(5_000);
      assert.deepEqual(world.published, ["a", "a"]);
      assert.equal(world.sink.events("acemq.outbox.mark_failed").length, 1);
      assert.equal((await world.outbox.stats()).pending, 0);
    }));

  it("has what it hands out too late given back at once, and not when a lease ends", () =>
    within(async (world) => {
      const hang = deferred();
      world.store.after = (call) => call === "claim" ? hang.promise : undefined;
      await world.add(idsOf("m", 3));
      await world.relaying({ leaseMs: 60_000, pollIntervalMs: 3_600_000 });
      await world.clock.advance(61_000);
      hang.resolve();
      await world.clock.advance(1_000);
      assert.deepEqual(world.arrived(), idsOf("m", 3));
      assert.deepEqual(world.store.of("giveBack"), [idsOf("m", 3)]);
    }));

  it("that never answers counts as away, and holds up nothing for ever", () =>
    within(async (world) => {
      let calls = 0;
      world.store.before = (call) => call === "claim" && calls++ === 1 ? new Promise(() => {}) : undefined;
      await world.relaying({ leaseMs: 10_000 });
      await world.add(["a"]);
      await world.clock.advance(20_000);
      assert.deepEqual(world.arrived(), ["a"]);
      assert.equal(world.sink.events("acemq.outbox.store_away").length, 1);
    }));
});

describe("a lease that ends", () => {
  it("lets the late relay mark nothing, and it says so [OB-23]", () =>
    within(async (world) => {
      const { clock, outbox } = world;
      const late = new FaultyOutbox(outbox);
      // Its claim takes 40 of the 60 seconds, its publish 25.
      late.after = (call) => call === "claim" ? clock.delay(40_000) : undefined;
      world.faults.onPublish = () =>
        world.published.length > 1 ? undefined : clock.delay(25_000).then(() => ({ outcome: "confirmed" }));
      await world.add(["a"]);
      await (await world.open({ publishTimeoutMs: 10_000_000 })).relay(late).start();
      await clock.advance(30_000);
      await world.relaying();
      await clock.advance(61_000);
      assert.deepEqual(world.published, ["a", "a"]);
      assert.deepEqual(world.sink.events("acemq.outbox.lease_lost").map(({ fields }) => fields), [
        { count: 1, as: "published" },
      ]);
      assert.equal((await outbox.stats()).pending, 0);
    }));

  it("begins nothing when it is about to: the row goes back", () =>
    within(async (world) => {
      const first = deferred();
      world.faults.onPublish = ({ messageId }) =>
        messageId === "k-1" ? first.promise.then(() => ({ outcome: "confirmed" })) : undefined;
      await world.add(idsOf("k", 3), { key: "k" });
      await world.relaying({ mode: "in_order", leaseMs: 8_000, pollIntervalMs: 60_000 });
      await world.clock.advance(6_500);
      first.resolve();
      await world.settled();
      assert.deepEqual(world.store.of("giveBack"), [["k-2", "k-3"]]);
      assert.deepEqual(world.store.of("claim").filter((ids) => ids.length > 0), [idsOf("k", 3), ["k-2", "k-3"]]);
      assert.deepEqual(world.published, idsOf("k", 3));
    }));
});

/** Claims whatever can be claimed once waits have ended, and gives it back. */
async function claimLater(world: OutboxWorld): ReturnType<OutboxWorld["outbox"]["claim"]> {
  await world.clock.advance(1_000);
  const claim = await world.outbox.claim({ limit: 10, leaseMs: 1_000, mode: "continue", onRetired: "release" });
  await world.outbox.giveBack(claim.token, claim.rows.map(({ id }) => id));
  return claim;
}
