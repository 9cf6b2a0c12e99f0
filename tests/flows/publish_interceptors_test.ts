/** Which messages pass the publish interceptors: those an application makes, once, and none of the copies of the library. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Ack, park, reject, retry } from "../../src/consume/ack.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { MemoryWorld } from "../support/memory_world.ts";

/** How often the chain ran after a message was handled once, and where the message went. */
async function runsAfter(handler: () => Ack): Promise<{ readonly runs: number; readonly copies: readonly string[] }> {
  let runs = 0;
  const world = new MemoryWorld();
  const mq = await world.withQueue("q", {
    queue: { deadLetter: true, retry: fixedRetry(3, { delayMs: 60_000 }) },
    interceptors: {
      publish: [(context, next) => {
        runs++;
        return next({ ...context, headers: { ...context.headers, stamped: true } });
      }],
    },
  });
  await mq.consume("q", handler, { retry: fixedRetry(3, { delayMs: 60_000 }) });
  await mq.publisher("", "q").send(1);
  await world.clock.advance(1_000);
  const copies = ["q.retry.1m", "q.dlq", "q.parked"].filter((queue) => world.depth(queue) > 0);
  const stamps = copies.flatMap((queue) => world.waiting(queue).map(({ headers }) => headers["stamped"]));
  assert.deepEqual(stamps, copies.map(() => true));
  await world.close();
  return { runs, copies };
}

describe("publish interceptors", () => {
  const paths: readonly (readonly [path: string, handler: () => Ack, copy: string])[] = [
    ["a rung", () => retry(new Error("again")), "q.retry.1m"],
    ["a dead letter", () => reject("no"), "q.dlq"],
    ["a parked message", () => park("look"), "q.parked"],
  ];
  for (const [path, handler, copy] of paths) {
    it(`see the message once, not the copy that goes out as ${path}, which keeps what they stamped [INT-05]`, async () => {
      assert.deepEqual(await runsAfter(handler), { runs: 1, copies: [copy] });
    });
  }

  it("see no retry that waits in the consumer, however often [INT-05]", async () => {
    let runs = 0;
    const attempts: number[] = [];
    const world = new MemoryWorld();
    const mq = await world.withQueue("q", {
      queue: { deadLetter: true },
      interceptors: { publish: [(context, next) => (runs++, next(context))] },
    });
    await mq.consume("q", ({ envelope }) => {
      attempts.push(envelope.attempt);
      throw new Error("again");
    }, { retry: fixedRetry(3, { delayMs: 1_000 }) });
    await mq.publisher("", "q").send(1);
    for (let second = 0; second < 5; second++) await world.clock.advance(1_000);
    assert.deepEqual([runs, attempts, world.depth("q.dlq")], [1, [1, 2, 3], 1]);
    await world.close();
  });

  it("see what a handler publishes: that is a message of its own [INT-05]", async () => {
    const types: string[] = [];
    const world = new MemoryWorld();
    const mq = await world.withQueue("q", {
      interceptors: { publish: [(context, next) => (types.push(context.envelope.type), next(context))] },
    });
    const next = mq.publisher("", "q2", { type: "order.charged" });
    await mq.declare(topology().queue("q2"));
    await mq.consume("q", async (message) => void await next.send(1, { causedBy: message }));
    await mq.publisher("", "q", { type: "order.placed" }).send(1);
    await world.settled();
    assert.deepEqual([types, world.depth("q2")], [["order.placed", "order.charged"], 1]);
    await world.close();
  });
});
