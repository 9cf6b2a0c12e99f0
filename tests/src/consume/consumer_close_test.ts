/** How a consumer ends: contract core 3.8. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asyncScope } from "../../../adapters/async_hooks/mod.ts";
import type { ConnectOptions } from "../../../src/connect_options.ts";
import type { Connection } from "../../../src/connection.ts";
import { reject, retry } from "../../../src/consume/ack.ts";
import type { Consumer } from "../../../src/consume/consumer.ts";
import type { Handler } from "../../../src/consume/interceptor.ts";
import { whenAborted } from "../../../src/internal/abort.ts";
import type { Message } from "../../../src/message/message.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { deferred } from "../../support/until.ts";

/** A handler that never ends. */
const stuck: Handler = () => new Promise<void>(() => {});

function putAll(world: MemoryWorld, queue: string, count: number): void {
  for (let n = 0; n < count; n++) world.put(queue, n);
}

/** How long a promise takes on the world's clock, to a tenth of a second. */
async function timeOf(world: MemoryWorld, promise: Promise<unknown>): Promise<number> {
  const started = world.clock.elapsed();
  let ended: number | undefined;
  const note = (): void => void (ended ??= world.clock.elapsed());
  promise.then(note, note);
  await world.settled();
  for (let steps = 0; ended === undefined && steps < 1_000; steps++) await world.clock.advance(100);
  return (ended ?? Infinity) - started;
}

describe("closing a consumer", () => {
  it("lets a running handler finish and hands back what nobody has begun [CON-08]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const finish = deferred();
    const handled: unknown[] = [];
    const consumer = await mq.consume("orders.new", async ({ payload }) => {
      handled.push(payload);
      await finish.promise;
    }, { prefetch: 5 });
    putAll(world, "orders.new", 5);
    await world.settled();
    const closing = consumer.close();
    await world.settled();
    assert.deepEqual([consumer.state.live, consumer.state.inFlight, consumer.state.held], [false, 1, 0]);
    assert.deepEqual(world.waiting("orders.new").map(({ redelivered }) => redelivered), [true, true, true, true]);
    finish.resolve();
    await world.settled();
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual([handled, world.depth("orders.new"), world.unsettled("orders.new")], [[0], 4, 0]);
    await world.close();
  });

  it("hands back only after the subscription has ended, so that nothing comes again and is counted twice", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const consumer = await mq.consume("orders.new", stuck, { prefetch: 5 });
    putAll(world, "orders.new", 7);
    await world.settled();
    const cancelled = deferred();
    world.faults.onEnd = (what) => {
      if (what === "cancel") assert.deepEqual(world.faults.settled, []);
      return what === "cancel" ? cancelled.promise : undefined;
    };
    const closing = consumer.close();
    await world.settled();
    assert.deepEqual([world.faults.settled, consumer.state.held], [[], 4]);
    cancelled.resolve();
    await world.settled();
    assert.deepEqual(world.faults.settled.map(({ as }) => as), ["requeue", "requeue", "requeue", "requeue"]);
    assert.equal(world.waiting("orders.new").at(-1)?.headers["x-delivery-count"], 1);
    await world.close();
    await closing;
  });

  it("twice is once", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const consumer = await mq.consume("orders.new", () => {});
    const reports = await Promise.all([consumer.close(), consumer.close(), consumer[Symbol.asyncDispose]()]);
    assert.deepEqual(reports, [{ drained: true, stranded: 0 }, { drained: true, stranded: 0 }, undefined]);
    assert.deepEqual(await consumer.close(), { drained: true, stranded: 0 });
    assert.equal(world.sink.events("acemq.consumer.stopped").length, 1);
    await world.close();
  });

  it("ends a wait between attempts at once, and its message goes back with no attempt spent [RET-03]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const consumer = await mq.consume("orders.new", () => retry("busy"), {
      retry: fixedRetry(5, { delayMs: 10_000 }),
      concurrency: 3,
    });
    putAll(world, "orders.new", 3);
    await world.settled();
    assert.equal(consumer.state.waiting, 3);
    const closing = consumer.close();
    assert.ok(await timeOf(world, closing) < 1_000);
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.equal(world.depth("orders.new"), 3);
    for (const { headers } of world.waiting("orders.new")) assert.equal(headers["x-acemq-attempt"], undefined);
    assert.equal(world.faults.published.length, 0);
    await world.close();
  });

  it("ends the waits of failures that come while it drains", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const fail = deferred();
    const consumer = await mq.consume("orders.new", () => fail.promise, { retry: fixedRetry(5, { delayMs: 10_000 }) });
    world.put("orders.new", 1);
    await world.settled();
    const closing = consumer.close();
    await world.settled();
    fail.reject(new Error("no"));
    assert.ok(await timeOf(world, closing) < 1_000);
    assert.deepEqual([world.depth("orders.new"), world.faults.published.length], [1, 0]);
    await world.close();
  });

  it("waits for a settlement under way: the copy and the acknowledgement are one [CON-07]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new", { queue: { retry: fixedRetry(3, { delayMs: 60_000 }) } });
    const line = deferred();
    world.faults.holdPublishes = line.promise;
    const fail = deferred();
    const consumer = await mq.consume("orders.new", () => fail.promise, { retry: fixedRetry(3, { delayMs: 60_000 }) });
    world.put("orders.new", 1);
    await world.settled();
    let isClosed = false;
    const closing = consumer.close().finally(() => isClosed = true);
    fail.reject(new Error("no"));
    await world.clock.advance(1_000);
    assert.equal(isClosed, false);
    line.resolve();
    await world.settled();
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    const copies = [world.depth("orders.new"), world.depth("orders.new.retry.1m"), world.unsettled("orders.new")];
    assert.deepEqual(copies, [0, 1, 0]);
    await world.close();
  });

  it("lets the last failed attempt reach the dead letters, though its own signal has aborted [CON-05]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new", { drainTimeoutMs: 1_000 });
    const consumer = await mq.consume("orders.new", async ({ signal }) => {
      await whenAborted(signal);
      throw signal.reason;
    });
    world.put("orders.new", 1);
    await world.settled();
    const closing = consumer.close();
    await world.clock.advance(1_000);
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual([world.depth("orders.new"), world.depth("orders.new.dlq"), world.unsettled("orders.new")], [
      0,
      1,
      0,
    ]);
    const [dead] = world.waiting("orders.new.dlq");
    assert.equal(dead?.headers["x-acemq-error"], "exhausted 1 attempt: AbortError: The drain budget has ended");
    await world.close();
  });
});

describe("a handler that outlasts the drain", () => {
  it("is told, and what it decides later is discarded, since the message is delivered again [CON-06]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new", { drainTimeoutMs: 500 });
    const late = deferred();
    const messages: Message[] = [];
    const slow: Handler = (message) => {
      messages.push(message);
      return late.promise;
    };
    const consumer = await mq.consume("orders.new", slow, { concurrency: 4 });
    putAll(world, "orders.new", 4);
    await world.settled();
    const closing = consumer.close();
    await world.clock.advance(499);
    assert.deepEqual(messages.map(({ signal }) => signal.aborted), [false, false, false, false]);
    await world.clock.advance(1);
    assert.deepEqual(messages.map(({ signal }) => signal.aborted), [true, true, true, true]);
    await world.clock.advance(100);
    assert.deepEqual(await closing, { drained: false, stranded: 4 });

    const again: unknown[] = [];
    await mq.consume("orders.new", ({ payload, redelivered }) => void again.push([payload, redelivered]));
    await world.settled();
    const traces = (): number[] => [
      world.faults.published.length,
      world.faults.settled.length,
      world.sink.count("acemq.consume.total"),
      world.sink.logs.length,
    ];
    const before = traces();
    late.reject(new Error("too late"));
    await world.clock.advance(60_000);
    assert.deepEqual(traces(), before);
    assert.deepEqual(again, [[0, true], [1, true], [2, true], [3, true]]);
    assert.deepEqual([world.depth("orders.new.dlq"), world.depth("orders.new.parked"), world.depth("orders.new")], [
      0,
      0,
      0,
    ]);
    await world.close();
  });

  it("may do nothing later whatever its word: acknowledge, try again, reject, park", async () => {
    for (const word of ["accept", "retry", "reject", "park"] as const) {
      const world = new MemoryWorld();
      const mq = await world.withQueue("orders.new", { drainTimeoutMs: 0 });
      const late = deferred();
      const consumer = await mq.consume("orders.new", async () => {
        await late.promise;
        return word === "retry" ? { kind: word, error: "late" } : { kind: word, reason: "late" };
      }, { retry: fixedRetry(9, { delayMs: 60_000 }) });
      world.put("orders.new", 1);
      await world.settled();
      assert.ok(await timeOf(world, consumer.close()) < 1_000);
      late.resolve();
      await world.clock.advance(1_000);
      assert.deepEqual([world.faults.published, world.faults.settled, world.depth("orders.new")], [[], [], 1]);
      await world.close();
    }
  });

  it("makes close report; a caller who does not wait that long gets the reason instead [CON-23] [CON-16]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new", { drainTimeoutMs: 500 });
    const timedOut = await mq.consume("orders.new", stuck, { prefetch: 1 });
    const aborted = await mq.consume("orders.new", stuck, { prefetch: 1 });
    putAll(world, "orders.new", 2);
    await world.settled();

    const impatient = new AbortController();
    const closing = aborted.close({ signal: impatient.signal });
    await world.clock.advance(100);
    impatient.abort();
    const refused = assert.rejects(closing, { name: "AbortError" });
    assert.ok(await timeOf(world, refused) <= 200);
    assert.equal(world.broker.inspect("orders.new")?.consumers, 1);

    const report = timedOut.close();
    assert.ok(await timeOf(world, report) < 1_000);
    assert.deepEqual(await report, { drained: false, stranded: 1 });
    assert.equal(world.broker.inspect("orders.new")?.consumers, 0);
    assert.equal(world.depth("orders.new"), 2);
    assert.deepEqual(world.sink.events("acemq.consumer.drain_timeout").map(({ fields }) => fields), [
      { queue: "orders.new", stranded: 1 },
      { queue: "orders.new", stranded: 1 },
    ]);
    await world.close();
  });

  it("is left by a second caller's abort, which ends the wait of the first as well", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const consumer = await mq.consume("orders.new", stuck);
    world.put("orders.new", 1);
    await world.settled();
    const patient = consumer.close();
    await world.clock.advance(1_000);
    const impatient = consumer.close({ signal: AbortSignal.abort(new Error("now")) });
    const refused = assert.rejects(impatient, { message: "now" });
    assert.ok(await timeOf(world, Promise.all([patient, refused])) <= 200);
    assert.deepEqual(await patient, { drained: false, stranded: 1 });
    await world.close();
  });
});

describe("one budget", () => {
  it("is shared by all consumers of a connection: six busy ones are closed in little more than one's time [CON-11]", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect({ drainTimeoutMs: 800 });
    for (const queue of ["a", "b", "c"]) {
      await world.withQueue(queue);
      for (let n = 0; n < 2; n++) await mq.consume(queue, stuck, { prefetch: 1 });
      putAll(world, queue, 2);
    }
    await world.settled();
    const closing = mq.close();
    assert.ok(await timeOf(world, closing) < 1_000);
    assert.deepEqual(await closing, { drained: false, stranded: 6 });
    await world.close();
  });
});

describe("a close from inside a handler", () => {
  /** Consumes one message whose handler closes something, and answers how long that took. */
  async function closeInside(
    what: (consumer: Consumer, world: MemoryWorld) => Promise<unknown>,
    outside: (consumer: Consumer) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<{ world: MemoryWorld; tookMs: number }> {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new", { scope: asyncScope() });
    const closed = deferred();
    const go = deferred();
    const consumer: Consumer = await mq.consume("orders.new", async () => {
      await go.promise;
      await what(consumer, world);
      closed.resolve();
    });
    putAll(world, "orders.new", 1);
    await world.settled();
    const other = outside(consumer);
    await world.settled();
    go.resolve();
    const tookMs = await timeOf(world, Promise.all([closed.promise, other]));
    return { world, tookMs };
  }

  it("does not wait for that handler, whose message is delivered again [CON-13]", async () => {
    const { world, tookMs } = await closeInside((consumer) => consumer.close());
    assert.ok(tookMs < 1_000);
    assert.deepEqual([world.depth("orders.new"), world.unsettled("orders.new")], [1, 0]);
    await world.close();
  });

  it("of the connection does not wait for that handler either [CON-13]", async () => {
    const { world, tookMs } = await closeInside((_consumer, { connections: [mq] }) => mq?.close() ?? Promise.reject());
    assert.ok(tookMs < 1_000);
    assert.deepEqual([world.depth("orders.new"), world.unsettled("orders.new")], [1, 0]);
    await world.close();
  });

  it("and one from outside at the same time do not wait for each other", async () => {
    const { world, tookMs } = await closeInside((consumer) => consumer.close(), (consumer) => consumer.close());
    assert.ok(tookMs < 1_000);
    assert.deepEqual([world.depth("orders.new"), world.unsettled("orders.new")], [1, 0]);
    await world.close();
  });

  it("of the connection waits for no handler that asks for it as well, one after the other or after an outsider", async () => {
    for (const outsider of [false, true]) {
      const world = new MemoryWorld();
      const mq = await world.withQueue("orders.new", { scope: asyncScope() });
      const closed: unknown[] = [];
      const close = async ({ payload }: { payload: unknown }): Promise<void> => {
        await world.clock.delay(100 * (Number(payload) + 1));
        await mq.close();
        closed.push(payload);
      };
      await mq.consume("orders.new", close, { concurrency: 2 });
      putAll(world, "orders.new", 2);
      await world.clock.advance(50);
      if (outsider) void mq.close();
      await world.clock.advance(1_000);
      assert.deepEqual(closed, [0, 1]);
      await world.close();
    }
  });

  it("waits for the other handlers", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new", { scope: asyncScope() });
    const other = deferred();
    let closed = "not yet";
    const consumer: Consumer = await mq.consume("orders.new", async ({ payload }) => {
      if (payload === 0) return await other.promise;
      await consumer.close();
      closed = "closed";
    }, { concurrency: 2 });
    putAll(world, "orders.new", 2);
    await world.clock.advance(1_000);
    assert.equal(closed, "not yet");
    other.resolve();
    await world.settled();
    assert.deepEqual([closed, world.depth("orders.new")], ["closed", 1]);
    await world.close();
  });
});

describe("a broker that has blocked the connection", () => {
  /** A connection whose copy has gone into a block: the original is in hand. */
  async function copyInBlock(options: ConnectOptions): Promise<{ world: MemoryWorld; mq: Connection }> {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new", options);
    await mq.consume("orders.new", () => reject("no"));
    world.broker.block("low on memory");
    world.put("orders.new", 1);
    await world.settled();
    return { world, mq };
  }

  it("is waited for within the budget while a copy is on the wire, and answers it in time [SC-21]", async () => {
    const { world, mq } = await copyInBlock({ publishTimeoutMs: 1_000 });
    const closing = mq.close();
    await world.clock.advance(15_000);
    world.broker.unblock();
    await world.settled();
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual([world.depth("orders.new"), world.depth("orders.new.dlq")], [0, 1]);
    await world.close();
  });

  it("is left at the end of the budget with a copy on the wire; the message is delivered again", async () => {
    const { world, mq } = await copyInBlock({ drainTimeoutMs: 2_000, publishTimeoutMs: 1_000 });
    const closing = mq.close();
    assert.ok(await timeOf(world, closing) < 3_000);
    assert.deepEqual(await closing, { drained: false, stranded: 1 });
    assert.deepEqual([world.depth("orders.new"), world.unsettled("orders.new")], [1, 0]);
    await world.close();
  });
});

describe("a broker that does not let go", () => {
  it("and refuses the cancel or the close does not keep the consumer from ending", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const consumer = await mq.consume("orders.new", () => {});
    world.faults.onEnd = () => Promise.reject(new Error("the link is gone"));
    assert.deepEqual(await consumer.close(), { drained: true, stranded: 0 });
    world.faults.onEnd = undefined;
    await world.close();
  });

  it("and never answers is left within the budget and a moment", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new", { drainTimeoutMs: 2_000 });
    const consumer = await mq.consume("orders.new", () => {});
    world.faults.onEnd = () => new Promise(() => {});
    const closing = consumer.close();
    assert.ok(await timeOf(world, closing) <= 2_300);
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    world.faults.onEnd = undefined;
    await world.close();
  });

  it("and drops the connection while the consumer drains gets no late settlement [CN-11]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const finish = deferred();
    const consumer = await mq.consume("orders.new", () => finish.promise);
    world.put("orders.new", 1);
    await world.settled();
    const closing = consumer.close();
    await world.settled();
    await world.faults.lose();
    finish.resolve();
    await world.settled();
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual([world.faults.settled, world.depth("orders.new")], [[], 1]);
    await world.close();
  });
});
