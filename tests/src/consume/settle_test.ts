/** Moving a message: the copy first, the original only when the copy is somewhere (contract core 0 rules 1 and 2, 3.5, 4.4, 4.5). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { park, reject, retry } from "../../../src/consume/ack.ts";
import type { ConsumeOptions } from "../../../src/consume/options.ts";
import type { PublishReceipt } from "../../../src/ports/broker.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { deferred } from "../../support/until.ts";

const QUEUE = "orders.new";
const SHORT = fixedRetry(3, { delayMs: 2_000 });
const LONG = fixedRetry(3, { delayMs: 60_000 });

interface Scene {
  readonly world: MemoryWorld;
  /** The attempts the handler has seen. */
  readonly attempts: number[];
}

/** One message in a queue whose handler fails every time. */
async function failing(options: ConsumeOptions, prepare: (world: MemoryWorld) => unknown = () => {}): Promise<Scene> {
  const world = new MemoryWorld();
  const mq = await world.withQueue(QUEUE);
  const attempts: number[] = [];
  await mq.consume(QUEUE, ({ envelope }) => {
    attempts.push(envelope.attempt);
    throw new Error("no");
  }, options);
  await prepare(world);
  world.put(QUEUE, { n: 1 });
  await world.settled();
  return { world, attempts };
}

function depths(world: MemoryWorld): object {
  return {
    waiting: world.depth(QUEUE),
    inHand: world.unsettled(QUEUE),
    dlq: world.depth(`${QUEUE}.dlq`),
    parked: world.depth(`${QUEUE}.parked`),
    rung: world.depth(`${QUEUE}.retry.1m`),
  };
}

const NOWHERE = { waiting: 0, inHand: 0, dlq: 0, parked: 0, rung: 0 };

const REFUSED = { outcome: "refused", reason: "too large", written: true } as const;

const answers: readonly PublishReceipt[] = [
  { outcome: "unroutable", reason: "312 NO_ROUTE" },
  { outcome: "nacked", reason: "the broker rejected the message" },
  REFUSED,
  { outcome: "unknown", reason: "no confirm came" },
  { outcome: "published" },
];

describe("a failed attempt", () => {
  it("is republished to its own queue with the next number after the wait, and only then acknowledged [RET-04]", async () => {
    const { world, attempts } = await failing({ retry: SHORT });
    await world.clock.advance(1_999);
    assert.deepEqual([attempts, world.faults.published.length, depths(world)], [[1], 0, { ...NOWHERE, inHand: 1 }]);
    const line = deferred();
    world.faults.holdPublishes = line.promise;
    await world.clock.advance(1);
    assert.deepEqual([world.faults.published.length, world.faults.settled], [1, []]);
    line.resolve();
    await world.settled();
    assert.deepEqual([attempts, world.faults.settled.map(({ as }) => as)], [[1, 2], ["ack"]]);
    await world.clock.advance(2_000);
    assert.deepEqual([attempts, depths(world)], [[1, 2, 3], { ...NOWHERE, dlq: 1 }]);
    await world.close();
  });

  it("waits on its rung, which brings it home with the number that was written before", async () => {
    const { world, attempts } = await failing({ retry: LONG });
    assert.deepEqual([attempts, depths(world)], [[1], { ...NOWHERE, rung: 1 }]);
    assert.equal(world.waiting(`${QUEUE}.retry.1m`)[0]?.headers["x-acemq-attempt"], 2);
    await world.clock.advance(59_999);
    assert.deepEqual(attempts, [1]);
    await world.clock.advance(60_001);
    assert.deepEqual([attempts, depths(world)], [[1, 2, 3], { ...NOWHERE, dlq: 1 }]);
    await world.close();
  });

  it("with no jitter on the rung and jitter in the consumer", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE, { random: () => 0.999 });
    const seen: [number, number][] = [];
    await mq.consume(QUEUE, ({ envelope }) => {
      seen.push([envelope.attempt, world.clock.elapsed()]);
      throw new Error("no");
    }, { retry: { ...fixedRetry(3, { delayMs: 10_000, jitterFactor: 0.2 }), multiplier: 4 } });
    world.put(QUEUE, 1);
    await world.clock.advance(120_000);
    assert.deepEqual(seen, [[1, 0], [2, 11_996], [3, 51_996]]);
    await world.close();
  });
});

describe("a copy that is not confirmed and routed", () => {
  it("leaves the original on its queue, whatever the broker answered, and counts no retry [CON-03]", async () => {
    for (const retryPolicy of [SHORT, LONG]) {
      for (const receipt of answers) {
        if (retryPolicy === LONG && receipt.outcome === "unroutable") continue;
        const { world, attempts } = await failing(
          { retry: retryPolicy },
          ({ faults }) => faults.onPublish = () => receipt,
        );
        await world.clock.advance(10_000);
        assert.ok(world.faults.settled.every(({ as }) => as === "requeue"));
        assert.equal(world.sink.count("acemq.messages.retried.total"), 0);
        assert.equal(world.sink.count("acemq.consume.total"), 0);
        assert.ok(world.sink.events("acemq.republish.failed").length > 0);
        assert.ok(attempts.length > 1 && attempts.every((attempt) => attempt === 1));
        world.faults.onPublish = undefined;
        await world.clock.advance(300_000);
        assert.deepEqual(depths(world), { ...NOWHERE, dlq: 1 });
        await world.close();
      }
    }
  });

  it("keeps a message that cannot be set aside, counts that with its target, and no dead letter [CON-03] [CON-04] [TEL-07]", async () => {
    for (const receipt of answers) {
      const { world, attempts } = await failing({}, ({ faults }) => faults.onPublish = () => receipt);
      await world.clock.advance(3_500);
      assert.equal(attempts.length, 4);
      assert.ok(world.faults.settled.every(({ as }) => as === "requeue"));
      const { sink } = world;
      assert.equal(sink.count("acemq.messages.set.aside.failed", { queue: QUEUE, target: `${QUEUE}.dlq` }), 4);
      assert.equal(sink.count("acemq.messages.dead.lettered.total"), 0);
      assert.equal(sink.count("acemq.consume.total"), 0);
      assert.deepEqual(sink.events("acemq.message.dead_lettered"), []);
      world.faults.onPublish = undefined;
      await world.clock.advance(1_000);
      assert.deepEqual(depths(world), { ...NOWHERE, dlq: 1 });
      assert.equal(sink.count("acemq.messages.dead.lettered.total", { outcome: "dead_lettered" }), 1);
      await world.close();
    }
  });

  it("is tried once a second and not in a loop, and holds up no other message", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const handled: unknown[] = [];
    await mq.consume(QUEUE, ({ payload }) => {
      handled.push(payload);
      return payload === "bad" ? reject("no") : undefined;
    });
    world.faults.onPublish = () => ({ outcome: "nacked", reason: "full" });
    world.put(QUEUE, "bad");
    for (let second = 0; second < 10; second++) {
      world.put(QUEUE, second);
      await world.clock.advance(1_000);
    }
    assert.deepEqual(handled.filter((payload) => payload !== "bad"), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(handled.length, 21);
    await world.close();
  });

  it("may have gone out twice, but never grows: one more for each answer that was lost [SC-21]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const seen = new Map<string, number>();
    await mq.consume(QUEUE, ({ envelope }) => {
      seen.set(envelope.id, (seen.get(envelope.id) ?? 0) + 1);
      if (envelope.attempt === 1) throw new Error("no");
    }, { retry: fixedRetry(2, { delayMs: 0 }) });
    let lost = 0;
    world.faults.onSettle = (as, delivery) => {
      if (as !== "ack" || delivery.message.headers["x-acemq-attempt"] === 2 || delivery.message.redelivered) {
        return undefined;
      }
      lost++;
      delivery.settle("requeue");
      return "stale";
    };
    for (let n = 0; n < 1_000; n++) world.put(QUEUE, n, { messageId: `m-${n}` });
    await world.settled();
    assert.deepEqual([lost, seen.size, depths(world)], [1_000, 1_000, NOWHERE]);
    // First attempt, its redelivery, and one second attempt for each of the two.
    assert.ok([...seen.values()].every((runs) => runs === 4));
    await world.close();
  });
});

describe("a copy for another attempt", () => {
  /** What the broker answers to that copy; set-asides go through. */
  const onlyCopies = (receipt: PublishReceipt) => ({ faults }: MemoryWorld): void => {
    faults.onPublish = ({ routingKey }) => routingKey.endsWith(".dlq") ? undefined : receipt;
  };

  it("that is refused as it is goes to the dead letters instead, with what was said: the next one would be refused too", async () => {
    for (const policy of [SHORT, LONG]) {
      const { world, attempts } = await failing({ retry: policy }, onlyCopies(REFUSED));
      await world.clock.advance(300_000);
      assert.deepEqual([attempts, depths(world)], [[1], { ...NOWHERE, dlq: 1 }]);
      const [dead] = world.waiting(`${QUEUE}.dlq`);
      assert.equal(dead?.headers["x-acemq-error"], "could not be tried again: too large");
      assert.equal(world.sink.count("acemq.consume.total", { outcome: "dead_lettered" }), 1);
      assert.equal(world.sink.count("acemq.messages.retried.total"), 0);
      await world.close();
    }
  });

  it("that may fare better another time, or may have arrived, sends nothing to the dead letters", async () => {
    for (const receipt of answers.filter(({ outcome }) => outcome !== "refused")) {
      const { world } = await failing({ retry: SHORT }, onlyCopies(receipt));
      await world.clock.advance(10_000);
      assert.deepEqual([world.depth(`${QUEUE}.dlq`), world.depth(QUEUE) + world.unsettled(QUEUE)], [0, 1]);
      await world.close();
    }
  });

  it("leaves out what does not fit the frame beside the headers that came, and nothing else [BRK-06]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const seen: [number, number][] = [];
    await mq.consume(QUEUE, ({ envelope, headers }) => {
      seen.push([envelope.attempt, String(headers["long"]).length]);
      if (envelope.attempt === 1) throw new Error("no");
    }, { retry: SHORT });
    world.put(QUEUE, 1, { headers: { long: "x".repeat(130_900) } });
    await world.clock.advance(2_000);
    assert.deepEqual([seen, depths(world)], [[[1, 130_900], [2, 130_900]], NOWHERE]);
    await world.close();
  });
});

describe("a rung that is not there", () => {
  it("is counted by name, and the whole wait is taken in the consumer instead [RET-02]", async () => {
    const { world, attempts } = await failing({ retry: LONG }, async ({ broker, clock }) => {
      const link = await broker.open({ name: "another", clock, onEvent: () => {} });
      await link.deleteQueue(`${QUEUE}.retry.1m`);
      await link.close();
    });
    assert.deepEqual([attempts, depths(world)], [[1], { ...NOWHERE, inHand: 1 }]);
    const labels = { queue: QUEUE, rung: `${QUEUE}.retry.1m` };
    assert.equal(world.sink.count("acemq.retry.rung.missing", labels), 1);
    await world.clock.advance(59_999);
    assert.deepEqual(attempts, [1]);
    await world.clock.advance(1);
    assert.deepEqual(attempts, [1, 2]);
    await world.clock.advance(60_000);
    assert.deepEqual([attempts, depths(world)], [[1, 2, 3], { ...NOWHERE, dlq: 1 }]);
    assert.equal(world.sink.count("acemq.retry.rung.missing", labels), 2);
    assert.equal(world.sink.count("acemq.messages.retried.total"), 2);
    assert.ok(!world.broker.queues.includes(`${QUEUE}.retry.1m`));
    await world.close();
  });
});

describe("the set-aside queues, deleted under a running consumer,", () => {
  it("are not made again by it: the message is kept and counted [CON-25]", async () => {
    for (const [word, target] of [[reject("no"), "dlq"], [park("no"), "parked"]] as const) {
      const world = new MemoryWorld();
      const mq = await world.withQueue(QUEUE);
      await mq.consume(QUEUE, () => word);
      const link = await world.broker.open({ name: "another", clock: world.clock, onEvent: () => {} });
      await link.deleteQueue(`${QUEUE}.${target}`);
      await link.close();
      world.put(QUEUE, 1);
      await world.clock.advance(5_000);
      assert.ok(!world.broker.queues.includes(`${QUEUE}.${target}`));
      assert.ok(
        world.sink.count("acemq.messages.set.aside.failed", { queue: QUEUE, target: `${QUEUE}.${target}` }) >= 5,
      );
      assert.equal(world.depth(QUEUE) + world.unsettled(QUEUE), 1);
      await world.close();
    }
  });
});

describe("while the broker has blocked the connection", () => {
  it("a copy waits in hand and goes out afterwards: no attempt is spent, no handler runs again", async () => {
    for (const [options, expected] of [[{ retry: SHORT }, [1, 2]], [{ retry: LONG }, [1]], [{}, [1]]] as const) {
      const { world, attempts } = await failing(options, ({ faults }) => faults.blockedReason = "low on memory");
      await world.clock.advance(600_000);
      assert.deepEqual([attempts, depths(world), world.faults.settled], [[1], { ...NOWHERE, inHand: 1 }, []]);
      world.faults.blockedReason = undefined;
      await world.clock.advance(1_000);
      assert.deepEqual([attempts, world.faults.settled.map(({ as }) => as)], [expected, ["ack"]]);
      assert.equal(world.sink.count("acemq.messages.set.aside.failed"), 0);
      await world.close();
    }
  });

  it("a consumer that closes waits for neither: the message goes back", async () => {
    for (const options of [{ retry: SHORT }, {}]) {
      const { world } = await failing(options, ({ faults }) => faults.blockedReason = "low on memory");
      await world.clock.advance(2_000);
      const closing = world.connections[0]?.close();
      await world.clock.advance(200);
      assert.deepEqual(await closing, { drained: true, stranded: 0 });
      assert.deepEqual(depths(world), { ...NOWHERE, waiting: 1 });
      await world.close();
    }
  });
});

describe("a delivery whose link is gone", () => {
  it("is not published for any more", async () => {
    const { world } = await failing({ retry: SHORT });
    await world.faults.lose();
    await world.clock.advance(10_000);
    assert.deepEqual([world.faults.published, world.faults.settled], [[], []]);
    assert.equal(world.depth(QUEUE), 1);
    await world.close();
  });

  it("is not published for by a handler that fails on the next link: the message has come again by itself [CON-09]", async () => {
    for (const options of [{}, { retry: SHORT }, { retry: LONG }]) {
      const world = new MemoryWorld();
      const mq = await world.withQueue(QUEUE);
      const late = deferred();
      const runs: unknown[] = [];
      await mq.consume(QUEUE, async ({ envelope, redelivered }) => {
        runs.push([envelope.attempt, redelivered]);
        if (!redelivered) await late.promise;
      }, { ...options, concurrency: 2 });
      world.put(QUEUE, 1);
      await world.settled();
      await world.faults.lose();
      await world.faults.recover();
      await world.settled();
      late.reject(new Error("no"));
      await world.clock.advance(300_000);
      assert.deepEqual([runs, world.faults.published, depths(world)], [[[1, false], [1, true]], [], NOWHERE]);
      await world.close();
    }
  });

  it("is not counted as settled, even where the loss is only noticed by the acknowledgement", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    await mq.consume(QUEUE, () => {});
    world.faults.onSettle = () => "stale";
    world.put(QUEUE, 1);
    await world.settled();
    assert.equal(world.sink.count("acemq.consume.total"), 0);
    await world.close();
  });
});

describe("a handler that asks for a wait", () => {
  it("gets exactly that wait, and the attempt is spent", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const seen: [number, number][] = [];
    await mq.consume(QUEUE, ({ envelope }) => {
      seen.push([envelope.attempt, world.clock.elapsed()]);
      return retry("busy", { delayMs: envelope.attempt === 1 ? 700 : 60_000 });
    }, { retry: SHORT, rungsMs: [60_000] });
    world.put(QUEUE, 1);
    await world.clock.advance(700);
    await world.clock.advance(60_000);
    assert.deepEqual(seen, [[1, 0], [2, 700], [3, 60_700]]);
    assert.deepEqual(depths(world), { ...NOWHERE, dlq: 1 });
    await world.close();
  });

  it("no rung holds exactly takes another one, and the log says once which option would make it exact", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    await mq.consume<number>(QUEUE, ({ payload }) => retry("busy", { delayMs: payload }), { retry: LONG });
    for (const delayMs of [45_000, 45_000, 90_000, 60_000, 45_000]) world.put(QUEUE, delayMs);
    await world.settled();
    assert.equal(world.depth(`${QUEUE}.retry.1m`), 5);
    assert.deepEqual(
      world.sink.events("acemq.retry.rung_undeclared").map(({ fields }) => fields),
      [45_000, 90_000].map((wantedMs) => ({
        queue: QUEUE,
        wantedMs,
        usedMs: 60_000,
        remedy: `add ${wantedMs} to the consumer's option 'rungsMs'`,
      })),
    );
    await world.close();
  });

  it("by calculation does not fill the log with them", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    await mq.consume<number>(QUEUE, ({ payload }) => retry("busy", { delayMs: 30_001 + payload }), { retry: LONG });
    for (let n = 0; n < 150; n++) world.put(QUEUE, n);
    await world.settled();
    assert.deepEqual([world.depth(`${QUEUE}.retry.1m`), world.sink.events("acemq.retry.rung_undeclared").length], [
      150,
      100,
    ]);
    await world.close();
  });
});

describe("a broker adapter that throws where it must not", () => {
  it("costs neither the process nor the consumer", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const handled: unknown[] = [];
    await mq.consume(QUEUE, ({ payload }) => void handled.push(payload));
    world.faults.onSettle = (_as, { message }) => {
      if (message.properties.messageId === "m-1") throw new Error("broken adapter");
      return undefined;
    };
    world.put(QUEUE, 1, { messageId: "m-1" });
    world.put(QUEUE, 2);
    await world.settled();
    assert.deepEqual(handled, [1, 2]);
    const [record] = world.sink.events("acemq.settle.failed");
    assert.deepEqual(record?.fields, { id: "m-1", queue: QUEUE, attempt: 1, reason: "Error: broken adapter" });
    assert.equal(world.unsettled(QUEUE), 1);
    await world.close();
  });
});
