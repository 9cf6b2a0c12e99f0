/** The worked examples of contract core 12, read off the wire kind by kind; waits are shorter, names are a test's own. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../src/clock.ts";
import type { Connection } from "../../src/connection.ts";
import { reject } from "../../src/consume/ack.ts";
import type { Handler } from "../../src/consume/interceptor.ts";
import { newEnvelope } from "../../src/message/envelope.ts";
import type { WireTable } from "../../src/message/wire_value.ts";
import { exponentialRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import type { RawHeader } from "../support/content_header.ts";
import type { FoundMessage } from "../support/rabbitmq.ts";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { missing } from "../support/services.ts";
import { NOW_MS, stoppedSources } from "../support/sources.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq");

const ID = "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3";
const CAUSE = "0b7d4d1e-6f53-4a0c-8d0f-6f0e3b1c2a94";
const BODY = `{"orderId":"A-19","totalCents":12950,"v":1}`;
const PROPERTIES = { "content-type": "application/json", "delivery-mode": 2, "message-id": ID };
const TRACE = "00-5f2d9c8e7b6a41038291a0b1c2d3e4f5-7a6b5c4d3e2f1a0b-01";

const PUBLISHED: readonly RawHeader[] = [
  ["x-acemq-id", "S", ID],
  ["x-acemq-type", "S", "order.placed"],
  ["x-acemq-version", "I", 1],
  ["x-acemq-correlation", "S", "cart-8812"],
  ["x-acemq-causation", "S", CAUSE],
  ["x-acemq-attempt", "I", 1],
  ["x-acemq-first-seen", "l", NOW_MS],
  ["x-acemq-origin", "S", "checkout@app-3"],
  ["x-tenant", "S", "north"],
  ["traceparent", "S", TRACE],
];

/** Waits 1 s in the consumer, then 2 s and 4 s on rungs. */
const POLICY = exponentialRetry(4, { initialDelayMs: 1_000, jitterFactor: 0, brokerWaitThresholdMs: 1_500 });

/** Headers by name; what the broker counts of its own accord left out. */
function sorted(headers: readonly RawHeader[], without: readonly string[] = []): readonly RawHeader[] {
  return headers.filter(([name]) => name !== "x-delivery-count" && !without.includes(name))
    .toSorted(([one], [other]) => one < other ? -1 : 1);
}

function withHeader(headers: readonly RawHeader[], changed: RawHeader): readonly RawHeader[] {
  return sorted([...headers.filter(([name]) => name !== changed[0]), changed]);
}

function text({ body }: FoundMessage): string {
  return new TextDecoder().decode(body);
}

const DEATHS = ["x-death", "x-first-death-queue", "x-first-death-reason", "x-first-death-exchange"];

/** The newest death of a message. */
function lastDeath({ table }: FoundMessage): WireTable {
  const [death] = table["x-death"] as readonly WireTable[];
  return death ?? {};
}

/** A running example: one message, and a consumer for as long as it takes to fail once. */
class Example {
  readonly scene: RabbitScene;
  readonly mq: Connection;
  readonly queue: string;

  constructor(scene: RabbitScene, mq: Connection, queue: string) {
    this.scene = scene;
    this.mq = mq;
    this.queue = queue;
  }

  /** Consumes until `isOver`, with a handler that fails attempts up to `last` and never ends any other. */
  async failUntil(last: number, isOver: () => Promise<boolean> | boolean): Promise<void> {
    const handler: Handler = async ({ envelope }) => {
      if (envelope.attempt > last) await new Promise(() => {});
      throw Object.assign(new Error("payment gateway did not answer"), { name: "TimeoutError" });
    };
    const consumer = await this.mq.consume(this.queue, handler, { prefetch: 1, retry: POLICY });
    await until("the attempt to fail", isOver);
    await consumer.close({ signal: AbortSignal.abort() }).catch(() => {});
  }
}

function play(run: (example: Example) => Promise<void>): Promise<void> {
  return onRabbit("worked", async (scene) => {
    const clock = { ...systemClock(), now: () => NOW_MS };
    const mq = await scene.connect({ name: "checkout", hostName: "app-3", clock });
    const [queue, shop] = [scene.bare.queueName("orders.new"), scene.bare.exchangeName("shop")];
    await mq.declare(
      topology().exchange(shop, "topic").queue(queue, { retry: POLICY }).bind(queue, {
        exchange: shop,
        routingKey: "order.*",
      }),
    );
    const cause = newEnvelope({ id: CAUSE, type: "cart.closed", correlationId: "cart-8812" }, stoppedSources());
    await mq.publisher(shop, "order.placed").send({ orderId: "A-19", totalCents: 12_950, v: 1 }, {
      messageId: ID,
      causedBy: { envelope: cause },
      headers: { "x-tenant": "north", traceparent: TRACE },
    });
    await run(new Example(scene, mq, queue));
  });
}

describe("the worked example on the wire", () => {
  it("published, retried in the consumer, retried on rungs and dead-lettered, has exactly the contract's headers", {
    skip,
  }, () =>
    play(async (example) => {
      const { scene: { bare, sink }, queue } = example;
      const published = await bare.peek(queue);
      assert.deepEqual(sorted(published.headers), sorted(PUBLISHED));
      assert.deepEqual([published.properties, text(published)], [PROPERTIES, BODY]);
      assert.match(published.exchange, /\.shop$/);
      assert.equal(published.routingKey, "order.placed");

      // 12.2: after one retry in the consumer.
      await example.failUntil(1, () => sink.count("acemq.messages.retried.total") === 1);
      const second = await bare.peek(queue);
      const headers2 = withHeader(PUBLISHED, ["x-acemq-attempt", "I", 2]);
      assert.deepEqual(sorted(second.headers), headers2);
      assert.deepEqual([second.properties, text(second), second.exchange, second.routingKey], [
        PROPERTIES,
        BODY,
        "",
        queue,
      ]);

      // 12.3: on the rung, and home again.
      const rung = `${queue}.retry.2s`;
      await example.failUntil(2, async () => await bare.depth(rung) === 1);
      const waiting = await bare.peek(rung);
      const headers3 = withHeader(PUBLISHED, ["x-acemq-attempt", "I", 3]);
      assert.deepEqual([sorted(waiting.headers), waiting.properties, text(waiting)], [headers3, PROPERTIES, BODY]);
      const third = await bare.peek(queue);
      assert.deepEqual(sorted(third.headers, DEATHS), headers3);
      assert.deepEqual([third.exchange, third.routingKey, text(third)], ["acemq.retry", queue, BODY]);
      const { queue: diedIn, reason, count, exchange } = lastDeath(third);
      assert.deepEqual([diedIn, reason, count, exchange], [rung, "expired", 1, ""]);
      assert.deepEqual(third.headers.filter(([name]) => name.startsWith("x-first-death")).toSorted(), [
        ["x-first-death-exchange", "S", ""],
        ["x-first-death-queue", "S", rung],
        ["x-first-death-reason", "S", "expired"],
      ]);

      // 12.4: the last attempt fails.
      await example.failUntil(3, async () => await bare.depth(`${queue}.retry.4s`) === 1);
      await example.failUntil(4, async () => await bare.depth(`${queue}.dlq`) === 1);
      const dead = await bare.peek(`${queue}.dlq`);
      const error = "exhausted 4 attempts: TimeoutError: payment gateway did not answer";
      const headers4 = withHeader(withHeader(PUBLISHED, ["x-acemq-attempt", "I", 4]), ["x-acemq-error", "S", error]);
      assert.deepEqual(sorted(dead.headers, DEATHS), headers4);
      assert.deepEqual([dead.properties, text(dead), dead.routingKey], [PROPERTIES, BODY, `${queue}.dlq`]);
      assert.equal(lastDeath(dead)["queue"], `${queue}.retry.4s`);
    }));

  it(
    "replayed has exactly the contract's headers: those it was published with, and three stamps [ENV-05]",
    { skip },
    () =>
      play(async ({ scene, mq, queue }) => {
        await mq.consume(queue, () => reject("no such product"));
        await scene.depth(`${queue}.dlq`, 1);
        await scene.quit();
        // 12.5: a day later.
        const clock = { ...systemClock(), now: () => 1_790_086_512_000 };
        const later = await scene.connect({ name: "operator", hostName: "desk-1", clock });
        assert.deepEqual(await later.replay(queue), { moved: 1, skipped: 0, reason: "drained" });
        const replayed = await scene.bare.peek(queue);
        const stamps: readonly RawHeader[] = [
          ["acemq-replayed-from", "S", `${queue}.dlq`],
          ["acemq-replayed-at", "S", "2026-09-22T14:15:12.000Z"],
          ["acemq-replay-count", "I", 1],
        ];
        assert.deepEqual(sorted(replayed.headers), sorted([...PUBLISHED, ...stamps]));
        assert.deepEqual([replayed.properties, text(replayed), replayed.exchange, replayed.routingKey], [
          PROPERTIES,
          BODY,
          "",
          queue,
        ]);
      }),
  );

  it(
    "parked because it cannot be decoded keeps its attempt and its bytes",
    { skip },
    () =>
      play(async ({ scene: { bare }, mq, queue }) => {
        await bare.take(queue);
        await bare.put(queue, `{"orderId":`, {
          contentType: "application/json",
          messageId: ID,
          headers: { "x-acemq-id": ID, "x-acemq-attempt": { "!": "int32", value: 3 }, "x-tenant": "north" },
        });
        await mq.consume(queue, () => assert.fail("It must not be handled"));
        const parked = await bare.take(`${queue}.parked`);
        assert.equal(text(parked), `{"orderId":`);
        assert.match(String(parked.table["x-acemq-error"]), /^could not be decoded: [A-Z]\w+: ./);
        assert.deepEqual(sorted(parked.headers, ["x-acemq-error"]), [
          ["x-acemq-attempt", "I", 3],
          ["x-acemq-correlation", "S", ID],
          ["x-acemq-first-seen", "l", NOW_MS],
          ["x-acemq-id", "S", ID],
          ["x-acemq-type", "S", queue],
          ["x-acemq-version", "I", 1],
          ["x-tenant", "S", "north"],
        ]);
        assert.deepEqual(parked.properties, PROPERTIES);
      }),
  );
});
