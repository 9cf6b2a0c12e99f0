/** What is counted, timed and logged of a delivery: contract core 3.4, 7.1 and 7.3. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { park, reject, retry } from "../../../src/consume/ack.ts";
import type { Handler } from "../../../src/consume/interceptor.ts";
import { FatalError } from "../../../src/errors.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import type { ConsumeOutcome } from "../../../src/telemetry/outcomes.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { deferred } from "../../support/until.ts";

const QUEUE = "orders.new";
const OUTCOMES: readonly ConsumeOutcome[] = ["acked", "retried", "rejected", "dead_lettered", "parked", "in_progress"];

async function run(handler: Handler, { attempts = 1, payload = { n: 1 } as unknown } = {}): Promise<MemoryWorld> {
  const world = new MemoryWorld();
  const mq = await world.withQueue(QUEUE);
  await mq.consume(QUEUE, handler, { retry: fixedRetry(attempts, { delayMs: 1_000 }) });
  world.put(QUEUE, payload, { headers: { "x-acemq-type": "order.placed" }, messageId: "m-1" });
  await world.clock.advance(10_000);
  return world;
}

/** How often each outcome was counted, outcomes that were not left out. */
function outcomes({ sink }: MemoryWorld): object {
  const counted = OUTCOMES.map((outcome) => [outcome, sink.count("acemq.consume.total", { outcome })] as const);
  return Object.fromEntries(counted.filter(([, count]) => count > 0));
}

function deadLetters({ sink }: MemoryWorld): object {
  return {
    dead_lettered: sink.count("acemq.messages.dead.lettered.total", { outcome: "dead_lettered" }),
    parked: sink.count("acemq.messages.dead.lettered.total", { outcome: "parked" }),
  };
}

const undecodable = new TextEncoder().encode("{");

describe("the outcome of a delivery", () => {
  it("is what became of it, exactly one a delivery [TEL-11]", async () => {
    const cases: readonly (readonly [Handler, object, object?])[] = [
      [() => {}, { acked: 1 }],
      [() => retry("busy"), { retried: 1, dead_lettered: 1 }, { attempts: 2 }],
      [() => reject("no"), { rejected: 1 }],
      [() => Promise.reject(new FatalError("no")), { rejected: 1 }],
      [() => retry(new FatalError("no")), { dead_lettered: 1 }],
      [() => Promise.reject(new Error("no")), { dead_lettered: 1 }],
      [() => 7 as never, { dead_lettered: 1 }],
      [() => park("no"), { parked: 1 }],
      [() => {}, { parked: 1 }, { payload: undecodable }],
    ];
    for (const [handler, expected, options] of cases) {
      const world = await run(handler, options);
      assert.deepEqual(outcomes(world), expected);
      await world.close();
    }
  });

  it("of a retry asked for on the last attempt is a dead letter, and no retry as well [TEL-01] [RET-15]", async () => {
    const world = await run(() => retry("busy"), { attempts: 2 });
    assert.deepEqual(outcomes(world), { retried: 1, dead_lettered: 1 });
    assert.equal(world.sink.count("acemq.messages.retried.total", { queue: QUEUE }), 1);
    assert.deepEqual(deadLetters(world), { dead_lettered: 1, parked: 0 });
    assert.equal(world.sink.count("acemq.consume.total"), 2);
    const [dead] = world.waiting(`${QUEUE}.dlq`);
    assert.deepEqual(
      [dead?.headers["x-acemq-attempt"], dead?.headers["x-acemq-error"]],
      [2, "exhausted 2 attempts: busy"],
    );
    await world.close();
  });

  it("counts as a dead letter for a rejection too, and as parked for both ways of parking [TEL-12]", async () => {
    const cases: readonly (readonly [Handler, object, unknown?])[] = [
      [() => reject("no"), { dead_lettered: 1, parked: 0 }],
      [() => Promise.reject(new FatalError("no")), { dead_lettered: 1, parked: 0 }],
      [() => Promise.reject(new Error("no")), { dead_lettered: 1, parked: 0 }],
      [() => park("no"), { dead_lettered: 0, parked: 1 }],
      [() => {}, { dead_lettered: 0, parked: 1 }, undecodable],
      [() => {}, { dead_lettered: 0, parked: 0 }],
    ];
    for (const [handler, expected, payload = { n: 1 }] of cases) {
      const world = await run(handler, { payload });
      assert.deepEqual(deadLetters(world), expected);
      await world.close();
    }
  });
});

describe("a measurement", () => {
  it("carries the whole label set of its metric every time", async () => {
    const world = await run(({ envelope }) => envelope.attempt === 1 ? retry("busy") : undefined, { attempts: 2 });
    const labels = { queue: QUEUE, "message.type": "order.placed", transport: "memory" };
    // The copy may be through before the original is counted, so the order says nothing.
    const of = (name: string): object[] =>
      world.sink.metrics.filter((metric) => metric.name === name).map((metric) => metric.labels)
        .sort((one, other) => (one["outcome"] ?? "").localeCompare(other["outcome"] ?? ""));
    for (const name of ["acemq.consume.total", "acemq.consume.duration"]) {
      assert.deepEqual(of(name), [{ ...labels, outcome: "acked" }, { ...labels, outcome: "retried" }]);
    }
    assert.deepEqual(of("acemq.consume.attempts"), [
      { queue: QUEUE, "message.type": "order.placed", outcome: "acked" },
      { queue: QUEUE, "message.type": "order.placed", outcome: "retried" },
    ]);
    assert.deepEqual(world.sink.values("acemq.consume.attempts", { outcome: "retried" }), [1]);
    assert.deepEqual(world.sink.values("acemq.consume.attempts", { outcome: "acked" }), [2]);
    assert.deepEqual(world.sink.values("acemq.consume.in.flight", { queue: QUEUE }), [1, 0, 1, 0]);
    await world.close();
  });

  it("of the time is that of the handler in seconds, without the wait for another attempt", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    await mq.consume(QUEUE, async () => {
      await world.clock.delay(250);
      throw new Error("no");
    }, { retry: fixedRetry(2, { delayMs: 20_000 }) });
    world.put(QUEUE, 1);
    await world.clock.advance(30_000);
    assert.deepEqual(world.sink.values("acemq.consume.duration"), [0.25, 0.25]);
    await world.close();
  });

  it("of the time is there only for what reached a handler", async () => {
    const world = await run(() => {}, { payload: undecodable });
    assert.deepEqual(world.sink.values("acemq.consume.duration"), []);
    assert.deepEqual(world.sink.values("acemq.consume.attempts"), []);
    assert.equal(world.sink.count("acemq.consume.total"), 1);
    await world.close();
  });
});

describe("a log record", () => {
  it("is written of every retry and every message set aside, with the facts", async () => {
    const world = await run(() => retry(new TypeError("busy")), { attempts: 2 });
    assert.deepEqual(world.sink.events("acemq.message.retried"), [{
      level: "info",
      event: "acemq.message.retried",
      fields: { id: "m-1", queue: QUEUE, attempt: 1, delayMs: 1_000, reason: "TypeError: busy" },
    }]);
    assert.deepEqual(world.sink.events("acemq.message.dead_lettered"), [{
      level: "warn",
      event: "acemq.message.dead_lettered",
      fields: {
        id: "m-1",
        queue: QUEUE,
        attempt: 2,
        target: `${QUEUE}.dlq`,
        reason: "exhausted 2 attempts: TypeError: busy",
      },
    }]);
    await world.close();
  });

  it("never quotes a body, though a codec's error may", async () => {
    const world = await run(() => {}, { payload: new TextEncoder().encode("card 4111-1111") });
    const [record] = world.sink.events("acemq.message.parked");
    assert.equal(record?.fields["reason"], "could not be decoded: DecodeError");
    assert.ok(!JSON.stringify(world.sink.logs).includes("4111"));
    const [parked] = world.waiting(`${QUEUE}.parked`);
    assert.match(String(parked?.headers["x-acemq-error"]), /^could not be decoded: /);
    await world.close();
  });
});

describe("a telemetry sink that throws", () => {
  it("costs no message", async () => {
    const world = new MemoryWorld();
    const broken = (): never => {
      throw new Error("The disk is full");
    };
    const mq = await world.withQueue(QUEUE, { telemetry: { metric: broken, log: broken } });
    const handled: unknown[] = [];
    await mq.consume(QUEUE, ({ payload }) => {
      handled.push(payload);
      return payload === 1 ? undefined : reject("no");
    });
    for (const n of [1, 2, 1]) world.put(QUEUE, n);
    await world.settled();
    assert.deepEqual([handled, world.depth(`${QUEUE}.dlq`), world.unsettled(QUEUE)], [[1, 2, 1], 1, 0]);
    await world.close();
  });
});

describe("the deliveries in a handler", () => {
  it("are those of all consumers of the queue together", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const busy = deferred();
    for (let consumer = 0; consumer < 2; consumer++) await mq.consume(QUEUE, () => busy.promise, { prefetch: 1 });
    for (let message = 0; message < 2; message++) world.put(QUEUE, message);
    await world.clock.advance(1);
    const gauge = (): number[] =>
      world.sink.metrics.filter(({ name }) => name === "acemq.consume.in.flight").map(({ value }) => value);
    assert.deepEqual(gauge(), [1, 2]);
    busy.resolve();
    await world.settled();
    assert.deepEqual(gauge(), [1, 2, 1, 0]);
    await world.close();
  });
});
