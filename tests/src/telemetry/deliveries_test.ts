/** What is measured and logged of deliveries: what the engine did, not what a handler asked for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Ack, park, reject, retry } from "../../../src/consume/ack.ts";
import type { ConnectOptions } from "../../../src/connect_options.ts";
import { openConnection } from "../../../src/connection.ts";
import { FatalError } from "../../../src/errors.ts";
import { fixedRetry, type RetryPolicy } from "../../../src/retry/policy.ts";
import { topology } from "../../../src/topology/topology.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { RecordingSink } from "../../support/recording_sink.ts";

/** Runs one message through a handler until nothing moves any more, and gives what was recorded. */
async function oneMessage(
  handler: () => Ack | void,
  { policy = fixedRetry(2, { delayMs: 1_000 }), payload = {}, spoil = () => Promise.resolve(), ...options }:
    & ConnectOptions
    & {
      readonly policy?: RetryPolicy;
      readonly payload?: unknown;
      readonly spoil?: (world: MemoryWorld) => Promise<void>;
    } = {},
): Promise<RecordingSink> {
  const world = new MemoryWorld();
  const mq = await world.withQueue("q", { queue: { deadLetter: true, retry: policy }, ...options });
  await mq.consume("q", handler, { retry: policy });
  await spoil(world);
  world.put("q", payload, { headers: { "x-acemq-type": "order.placed" }, messageId: "m-1" });
  for (let second = 0; second < 5; second++) await world.clock.advance(1_000);
  await world.close();
  return world.sink;
}

/** How often each outcome was counted. */
function outcomes(sink: RecordingSink, name = "acemq.consume.total"): Readonly<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const { labels, value } of sink.metrics.filter((metric) => metric.name === name)) {
    const { outcome = "" } = labels;
    counted[outcome] = (counted[outcome] ?? 0) + value;
  }
  return counted;
}

describe("the measurements of a delivery", () => {
  it("count a retry that was asked for on the last attempt as the dead letter it is [TEL-01]", async () => {
    const sink = await oneMessage(() => retry(new Error("again")));
    assert.deepEqual(outcomes(sink), { retried: 1, dead_lettered: 1 });
    assert.equal(sink.count("acemq.messages.retried.total"), 1);
    assert.deepEqual(outcomes(sink, "acemq.messages.dead.lettered.total"), { dead_lettered: 1 });
  });

  const asked:
    readonly (readonly [what: string, handler: () => Ack | void, outcome: string, aside: string | undefined])[] = [
      ["returning", () => {}, "acked", undefined],
      ["reject", () => reject("no"), "rejected", "dead_lettered"],
      [
        "throwing a FatalError",
        () => {
          throw new FatalError("no");
        },
        "rejected",
        "dead_lettered",
      ],
      ["retry with a FatalError", () => retry(new FatalError("no")), "dead_lettered", "dead_lettered"],
      ["park", () => park("look"), "parked", "parked"],
    ];
  for (const [what, handler, outcome, aside] of asked) {
    it(`have ${outcome} once for ${what}, and ${aside ?? "nothing"} among the dead letters [TEL-12]`, async () => {
      const sink = await oneMessage(handler);
      assert.deepEqual(outcomes(sink), { [outcome]: 1 });
      assert.deepEqual(outcomes(sink, "acemq.consume.attempts"), { [outcome]: 1 });
      const expected = aside === undefined ? {} : { [aside]: 1 };
      assert.deepEqual(outcomes(sink, "acemq.messages.dead.lettered.total"), expected);
    });
  }

  it("have parked once for a body that cannot be read, and no time of a handler that never ran", async () => {
    const sink = await oneMessage(() => assert.fail("handled"), { payload: new TextEncoder().encode("{s3cret") });
    assert.deepEqual([outcomes(sink), sink.values("acemq.consume.duration")], [{ parked: 1 }, []]);
    assert.doesNotMatch(JSON.stringify(sink), /s3cret/);
  });

  it("raise neither the dead letters nor their event for one that did not arrive [TEL-07]", async () => {
    const sink = await oneMessage(() => reject("no"), {
      spoil: async ({ broker, clock }) => {
        const vandal = await broker.open({ name: "vandal", clock, onEvent: () => {} });
        await vandal.deleteQueue("q.dlq");
        await vandal.close();
      },
    });
    assert.equal(sink.count("acemq.messages.dead.lettered.total"), 0);
    assert.deepEqual(sink.events("acemq.message.dead_lettered"), []);
    assert.ok(sink.count("acemq.messages.set.aside.failed", { queue: "q", target: "q.dlq" }) >= 1);
    assert.deepEqual(outcomes(sink), {});
  });

  it("carry queue, type and transport, and the attempt", async () => {
    const sink = await oneMessage(() => {});
    const [total] = sink.metrics.filter(({ name }) => name === "acemq.consume.total");
    assert.deepEqual(total?.labels, {
      queue: "q",
      "message.type": "order.placed",
      transport: "memory",
      outcome: "acked",
    });
    assert.deepEqual(sink.values("acemq.consume.attempts"), [1]);
  });

  it("count no copy the library makes among the publishes", async () => {
    const sink = await oneMessage(() => retry(new Error("again")));
    assert.equal(sink.count("acemq.publish.total"), 0);
  });
});

describe("a sink", () => {
  it("hears of nothing that was before it: it is handed in at connect, and there is no later [TEL-03]", async () => {
    const world = new MemoryWorld();
    const before = await openConnection(world.broker);
    await before.declare(topology().queue("q"));
    const payloads = Array.from({ length: 10 }, (_, index) => index);
    await before.publisher("", "q").sendAll(payloads);
    const sink = new RecordingSink();
    const after = await openConnection(world.broker, { telemetry: sink });
    await after.publisher("", "q").send(10);
    await before.publisher("", "q").send(11);
    assert.equal(sink.count("acemq.publish.total"), 1);
    await Promise.all([before.close(), after.close()]);
  });

  it("costs no message when it throws", async () => {
    const throws = (): never => {
      throw new Error("the backend is away");
    };
    const world = new MemoryWorld();
    const mq = await world.withQueue("q", { queue: { deadLetter: true }, telemetry: { metric: throws, log: throws } });
    let handled = 0;
    await mq.consume("q", () => {
      handled++;
      return reject("no");
    });
    await mq.publisher("", "q").send(1);
    await world.settled();
    assert.deepEqual([handled, world.depth("q"), world.depth("q.dlq")], [1, 0, 1]);
    await world.close();
  });

  it("gets no header, no body and no error text in a metric, and no body in a log", async () => {
    const sink = await oneMessage(() => reject("no stock"), { payload: { card: "4242" } });
    assert.doesNotMatch(JSON.stringify([sink.metrics, sink.logs]), /4242/);
    assert.doesNotMatch(JSON.stringify(sink.metrics), /no stock/);
  });
});
