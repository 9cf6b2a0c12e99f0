/** One delivery from bytes to settlement: contract core 3.2. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asyncScope } from "../../../adapters/async_hooks/mod.ts";
import type { ConsumeInterceptor, Handler } from "../../../src/consume/interceptor.ts";
import { FatalError, RetryableError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { MemoryWorld } from "../../support/memory_world.ts";

const QUEUE = "orders.new";
const THREE_TIMES = fixedRetry(3, { delayMs: 100 });

/** A codec that says when it decodes, and what. */
function codecOf(decode: (text: string) => unknown): Codec {
  return {
    contentType: "application/json",
    canDecode: () => true,
    encode: () => assert.fail("Nothing is written"),
    decode: (body) => decode(new TextDecoder().decode(body)),
  };
}

describe("the way of a delivery", () => {
  it("is decoding, interceptors, handler, settlement, in this order, and again for every attempt", async () => {
    const world = new MemoryWorld();
    const steps: string[] = [];
    const traced = (name: string): ConsumeInterceptor => async (message, next) => {
      steps.push(name);
      return await next(message);
    };
    const mq = await world.withQueue(QUEUE, { interceptors: { consume: [traced("connection's")] } });
    world.faults.onSettle = (as) => void steps.push(as);
    await mq.consume(QUEUE, ({ envelope }) => {
      steps.push(`handler ${envelope.attempt}`);
      if (envelope.attempt === 1) throw new Error("no");
    }, {
      codec: codecOf((text) => steps.push(`decode ${text}`)),
      interceptors: [traced("consumer's")],
      retry: THREE_TIMES,
    });
    world.put(QUEUE, 7);
    await world.clock.advance(100);
    const around = ["decode 7", "connection's", "consumer's"];
    // The copy is in the queue before the original is acknowledged, and may be handled before.
    const handled = steps.filter((step) => step !== "ack");
    assert.deepEqual(handled, [...around, "handler 1", ...around, "handler 2"]);
    assert.deepEqual([steps.length, steps.at(-1)], [10, "ack"]);
    await world.close();
  });

  it("waits for a codec that takes its time, and starts other handlers meanwhile", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const handled: unknown[] = [];
    const codec = codecOf(async (text) => {
      if (text === "1") await world.clock.delay(1_000);
      return text;
    });
    await mq.consume(QUEUE, ({ payload }) => void handled.push(payload), { codec, concurrency: 2 });
    world.put(QUEUE, 1);
    world.put(QUEUE, 2);
    await world.settled();
    assert.deepEqual(handled, ["2"]);
    await world.clock.advance(1_000);
    assert.deepEqual(handled, ["2", "1"]);
    await world.close();
  });

  it("of an undecodable body meets neither interceptor nor handler", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE, { interceptors: { consume: [() => assert.fail("It must not run")] } });
    await mq.consume(QUEUE, () => assert.fail("It must not run"), {
      codec: codecOf(() => {
        throw new SyntaxError("no");
      }),
    });
    world.put(QUEUE, 1);
    await world.settled();
    assert.equal(world.depth(`${QUEUE}.parked`), 1);
    await world.close();
  });

  it("of a body whose codec must wait for something is the ladder, to its end if need be", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const codec = codecOf(() => Promise.reject(new RetryableError("The store is away")));
    await mq.consume(QUEUE, () => assert.fail("It must not run"), { codec, retry: THREE_TIMES });
    world.put(QUEUE, 1);
    await world.clock.advance(1_000);
    const [dead] = world.waiting(`${QUEUE}.dlq`);
    assert.equal(dead?.headers["x-acemq-error"], "exhausted 3 attempts: RetryableError: The store is away");
    await world.close();
  });

  it("ends in the dead letters for an interceptor that refuses, and on the ladder for one that throws", async () => {
    for (
      const [error, reason] of [
        [new FatalError("no tenant"), "an interceptor refused it: FatalError: no tenant"],
        [new Error("no tenant"), "exhausted 3 attempts: Error: no tenant"],
      ] as const
    ) {
      const world = new MemoryWorld();
      const mq = await world.withQueue(QUEUE);
      const throwing: ConsumeInterceptor = () => {
        throw error;
      };
      const handler: Handler = () => assert.fail("It must not run");
      await mq.consume(QUEUE, handler, { interceptors: [throwing], retry: THREE_TIMES });
      world.put(QUEUE, 1);
      await world.clock.advance(1_000);
      assert.equal(world.waiting(`${QUEUE}.dlq`)[0]?.headers["x-acemq-error"], reason);
      await world.close();
    }
  });

  it("is retried with what came in, whatever an interceptor made of it", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const changing: ConsumeInterceptor = (message, next) =>
      next(message.with({ payload: "changed", envelope: { ...message.envelope, type: "changed", attempt: 9 } }));
    const seen: unknown[] = [];
    await mq.consume(QUEUE, ({ payload, envelope }) => {
      seen.push([payload, envelope.type]);
      throw new Error("no");
    }, { interceptors: [changing], retry: fixedRetry(2, { delayMs: 0 }) });
    world.put(QUEUE, { n: 1 }, { headers: { "x-acemq-type": "order.placed" } });
    await world.settled();
    assert.deepEqual(seen, [["changed", "changed"], ["changed", "changed"]]);
    const [dead] = world.waiting(`${QUEUE}.dlq`);
    assert.deepEqual(
      [new TextDecoder().decode(dead?.body), dead?.headers["x-acemq-type"], dead?.headers["x-acemq-attempt"]],
      [`{"n":1}`, "order.placed", 2],
    );
    await world.close();
  });

  it("of two at once keeps each handler in a scope of its own", async () => {
    const world = new MemoryWorld();
    const scope = asyncScope();
    const mq = await world.withQueue(QUEUE, { scope });
    const scopes: (object | undefined)[] = [];
    await mq.consume(QUEUE, async () => {
      const before = scope.current();
      await world.clock.delay(100);
      scopes.push(before, scope.current());
    }, { concurrency: 2 });
    world.put(QUEUE, 1);
    world.put(QUEUE, 2);
    await world.clock.advance(100);
    assert.ok(scopes.every((one) => one !== undefined));
    assert.deepEqual([scopes[0] === scopes[1], scopes[2] === scopes[3], scopes[0] === scopes[2]], [true, true, false]);
    await world.close();
  });
});
