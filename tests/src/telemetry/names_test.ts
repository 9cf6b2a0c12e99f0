import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Ack, park, reject, retry } from "../../../src/consume/ack.ts";
import { newEnvelope } from "../../../src/message/envelope.ts";
import * as headerNames from "../../../src/message/header_names.ts";
import type { ReceivedMessage } from "../../../src/message/received.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import type { PublishInterceptor } from "../../../src/publish/interceptor.ts";
import { METRICS } from "../../../src/telemetry/names.ts";
import type { Metric } from "../../../src/telemetry/sink.ts";
import { memoryIdempotencyStore, memoryOutboxStore } from "../../../adapters/memory/mod.ts";
import { MemoryWorld } from "../../support/memory_world.ts";

/** The table of contract core 7.1, as far as there is anything to measure yet. */
const TABLE: Readonly<Record<string, readonly [kind: string, unit: string, labels: string]>> = {
  "acemq.publish.duration": ["histogram", "s", "exchange routing.key message.type transport outcome"],
  "acemq.publish.total": ["counter", "1", "exchange routing.key message.type transport outcome"],
  "acemq.consume.duration": ["histogram", "s", "queue message.type transport outcome"],
  "acemq.consume.total": ["counter", "1", "queue message.type transport outcome"],
  "acemq.consume.attempts": ["histogram", "1", "queue message.type outcome"],
  "acemq.consume.in.flight": ["gauge", "1", "queue"],
  "acemq.messages.retried.total": ["counter", "1", "queue"],
  "acemq.messages.dead.lettered.total": ["counter", "1", "queue outcome"],
  "acemq.messages.set.aside.failed": ["counter", "1", "queue target"],
  "acemq.retry.rung.missing": ["counter", "1", "queue rung"],
  "acemq.idempotency.claims.total": ["counter", "1", "queue outcome"],
  "acemq.idempotency.takeovers.total": ["counter", "1", "queue"],
  "acemq.idempotency.rows": ["gauge", "1", ""],
  "acemq.outbox.total": ["counter", "1", "exchange routing.key outcome"],
  "acemq.outbox.lag": ["histogram", "s", "exchange routing.key outcome"],
  "acemq.outbox.pending": ["gauge", "1", ""],
  "acemq.outbox.retired": ["gauge", "1", ""],
  "acemq.outbox.oldest.age": ["gauge", "s", ""],
};

/** Everything the library wrote while messages went every way there is. */
async function everyWay(): Promise<
  { readonly metrics: readonly Metric[]; readonly messages: readonly ReceivedMessage[] }
> {
  const world = new MemoryWorld();
  const policy = fixedRetry(2, { delayMs: 60_000 });
  const mq = await world.withQueue("q", { queue: { deadLetter: true, retry: policy } });
  const again = (): Ack => retry(new Error("again"));
  const decisions: (Ack | undefined)[] = [undefined, reject("no"), park("look"), again(), again(), reject("no")];
  const seen = memoryIdempotencyStore({ clock: world.clock, claimTimeoutMs: 1 });
  // Somebody else's claim, whose lease has ended.
  await seen.tryClaim("taken over");
  await world.clock.advance(1);
  await mq.consume("q", () => decisions.shift(), { retry: policy, idempotency: seen });
  const route = { steps: ["check", "charge"], position: 1, runId: "run-7" };
  const routed: PublishInterceptor = (context, next) => next({ ...context, envelope: { ...context.envelope, route } });
  const publisher = mq.publisher("", "q", { interceptors: [routed] });
  const options = { causedBy: { envelope: newEnvelope({ type: "cart.closed" }) }, claim: "bucket/7" };
  await publisher.sendAll([1, 2, 3], options);
  await publisher.send(4, { ...options, messageId: "taken over" });
  await world.settled();
  const messages = ["q.dlq", "q.parked", "q.retry.1m"].flatMap((queue) => world.waiting(queue));
  const vandal = await world.broker.open({ name: "vandal", clock: world.clock, onEvent: () => {} });
  for (const queue of ["q.retry.1m", "q.dlq"]) await vandal.deleteQueue(queue);
  await publisher.sendAll([5, 6], options);
  await world.settled();
  await vandal.close();
  const outbox = memoryOutboxStore({ clock: world.clock });
  await outbox.transaction((tx) => outbox.add(tx, publisher.prepare(7)));
  await mq.relay(outbox).start();
  await world.clock.advance(10_000);
  await world.close();
  return { metrics: world.sink.metrics, messages };
}

describe("the names of telemetry and headers", () => {
  it("are those of the contract: name, kind, unit and labels", () => {
    const ours = Object.entries(METRICS).map((
      [name, { kind, unit, labels }],
    ) => [name, [kind, unit, labels.join(" ")]]);
    assert.deepEqual(Object.fromEntries(ours), TABLE);
  });

  it("are all reached: every metric of the table is written, and every reserved header travels [ENV-12]", async () => {
    const { metrics, messages } = await everyWay();
    const written = new Set(metrics.map(({ name }) => name));
    assert.deepEqual(Object.keys(METRICS).filter((name) => !written.has(name)), []);
    const seen = new Set(messages.flatMap(({ headers }) => Object.keys(headers)));
    const reserved = Object.entries(headerNames).flatMap(([constant, name]) =>
      constant.startsWith("HEADER_") && typeof name === "string" && headerNames.isReserved(name) ? [name] : []
    );
    assert.equal(reserved.length, 13);
    assert.deepEqual(reserved.filter((name) => !seen.has(name)), []);
    assert.deepEqual([...seen].filter((name) => headerNames.isReserved(name) && !reserved.includes(name)), []);
  });

  it("carry the same labels every time, under the kind of the table", async () => {
    const { metrics } = await everyWay();
    for (const { name, kind, labels, value } of metrics) {
      const [wantedKind, , wantedLabels] = TABLE[name] ?? assert.fail(`${name} is in no table`);
      assert.deepEqual([kind, Object.keys(labels).sort()], [
        wantedKind,
        wantedLabels.split(" ").filter((label) => label !== "").sort(),
      ], name);
      assert.ok(Number.isFinite(value) && value >= 0, `${name} is ${value}`);
    }
  });
});
