/** A running consumer: contract core 3.1, 3.2 and 4.4. Closing has a file of its own. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { retry } from "../../../src/consume/ack.ts";
import type { Handler } from "../../../src/consume/interceptor.ts";
import type { Message } from "../../../src/message/message.ts";
import { exponentialRetry, fixedRetry } from "../../../src/retry/policy.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { type Deferred, deferred } from "../../support/until.ts";

/** A handler whose every call waits until it is let go. */
class Gatekeeper {
  readonly begun: unknown[] = [];
  readonly #calls: Deferred[] = [];

  readonly handle: Handler = ({ payload }) => {
    this.begun.push(payload);
    const call = deferred();
    this.#calls.push(call);
    return call.promise;
  };

  letGo(count: number = 1): void {
    for (const call of this.#calls.splice(0, count)) call.resolve();
  }
}

function putAll(world: MemoryWorld, queue: string, count: number): void {
  for (let n = 0; n < count; n++) world.put(queue, n);
}

describe("a consumer that starts", () => {
  it("is refused before anything is declared when an option is out of range", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const before = world.broker.queues;
    for (
      const options of [
        { prefetch: 0 },
        { concurrency: 0 },
        { concurrency: 1.5 },
        { rungsMs: [1_500] },
        { retry: exponentialRetry(3, { initialDelayMs: 45_500 }) },
      ]
    ) {
      await assert.rejects(mq.consume("orders.new", () => {}, options), RangeError);
    }
    await assert.rejects(mq.consume("", () => {}), TypeError);
    await assert.rejects(mq.consume("q".repeat(256), () => {}), RangeError);
    await assert.rejects(mq.consume("orders.new", "no function" as unknown as Handler), TypeError);
    assert.deepEqual(world.broker.queues, before);
    await world.close();
  });

  it("is refused when the names beside its queue do not fit, unless it declares nothing", async () => {
    const world = new MemoryWorld();
    const name = "q".repeat(250);
    await world.bareQueue(name);
    const mq = await world.connect();
    await assert.rejects(mq.consume(name, () => {}), {
      name: "RangeError",
      message: "Cannot use a queue name: it must fit 255 bytes of UTF-8, found 257",
    });
    assert.deepEqual(world.broker.queues, [name]);
    const consumer = await mq.consume(name, () => {}, { declare: false });
    assert.deepEqual([consumer.state.live, world.broker.queues], [true, [name]]);
    await world.close();
  });

  it("says which queue is missing, and declares nothing for it", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await assert.rejects(mq.consume("nowhere", () => {}), {
      name: "TopologyError",
      code: "ACEMQ_TOPOLOGY_MISSING",
      message: `Cannot consume from queue "nowhere": the broker has no queue of that name`,
      findings: [`queue "nowhere": missing`],
    });
    assert.deepEqual(world.broker.queues, []);
    await world.close();
  });

  it("has a tag of its own that fits 255 bytes for any queue name", async () => {
    const world = new MemoryWorld();
    for (const name of ["a", "ü".repeat(120), "🧀".repeat(60), "q".repeat(240)]) {
      const mq = await world.withQueue(name);
      const first = await mq.consume(name, () => {});
      const second = await mq.consume(name, () => {});
      assert.deepEqual([first.state.live, second.state.live], [true, true]);
    }
    const tags = world.faults.subscribed.map(({ consumerTag }) => consumerTag);
    assert.equal(new Set(tags).size, 8);
    for (const tag of tags) {
      assert.match(tag, /^acemq-.*-[0-9a-f]{8}$/u);
      assert.ok(Buffer.byteLength(tag) <= 255);
      assert.ok(tag.isWellFormed());
    }
    await world.close();
  });

  it("closes at once when its signal aborted meanwhile, and later when it aborts later", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    await assert.rejects(mq.consume("orders.new", () => {}, { signal: AbortSignal.abort(new Error("too late")) }), {
      message: "too late",
    });
    const meanwhile = new AbortController();
    const opening = mq.consume("orders.new", () => {}, { signal: meanwhile.signal });
    meanwhile.abort();
    const later = new AbortController();
    const consumer = await mq.consume("orders.new", () => {}, { signal: later.signal });
    assert.deepEqual([(await opening).state.live, consumer.state.live], [false, true]);
    later.abort();
    await world.settled();
    assert.deepEqual([consumer.state.live, world.broker.inspect("orders.new")?.consumers], [false, 0]);
    await world.close();
  });
});

describe("a running consumer", () => {
  it("handles one message at a time in the order of the queue, and acknowledges each", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const gatekeeper = new Gatekeeper();
    await mq.consume("orders.new", gatekeeper.handle);
    putAll(world, "orders.new", 3);
    for (const begun of [[0], [0, 1], [0, 1, 2]]) {
      await world.settled();
      assert.deepEqual(gatekeeper.begun, begun);
      gatekeeper.letGo();
    }
    await world.settled();
    assert.deepEqual([world.depth("orders.new"), world.unsettled("orders.new")], [0, 0]);
    assert.deepEqual(world.faults.settled.map(({ as }) => as), ["ack", "ack", "ack"]);
    await world.close();
  });

  it("runs as many handlers at once as it was told, and no more", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const gatekeeper = new Gatekeeper();
    const consumer = await mq.consume("orders.new", gatekeeper.handle, { concurrency: 3 });
    putAll(world, "orders.new", 5);
    await world.settled();
    assert.deepEqual([gatekeeper.begun, consumer.state.inFlight, consumer.state.held], [[0, 1, 2], 3, 2]);
    gatekeeper.letGo(5);
    await world.settled();
    gatekeeper.letGo(5);
    await world.settled();
    assert.deepEqual([gatekeeper.begun.length, consumer.state.inFlight, consumer.state.held], [5, 0, 0]);
    await world.close();
  });

  it("really overlaps as many handlers as were asked for, over all consumers of a connection [CON-21]", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    const all = deferred();
    let inside = 0;
    const handler: Handler = async () => {
      inside++;
      if (inside === 100) all.resolve();
      await all.promise;
    };
    for (let n = 0; n < 10; n++) {
      const queue = `orders.${n}`;
      await world.withQueue(queue);
      await mq.consume(queue, handler, { concurrency: 10 });
      putAll(world, queue, 10);
    }
    await all.promise;
    assert.equal(inside, 100);
    await world.close();
  });

  it("never holds more unsettled messages than its prefetch, fifty by default, whatever waits [CN-32]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    putAll(world, "orders.new", 5_000);
    let most = 0;
    let handled = 0;
    await mq.consume("orders.new", () => {
      most = Math.max(most, world.unsettled("orders.new"));
      handled++;
    });
    await world.settled();
    assert.deepEqual([handled, most], [5_000, 50]);
    await world.close();
  });

  it("without a bound holds everything, since that is what it was told in words", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    putAll(world, "orders.new", 500);
    const gatekeeper = new Gatekeeper();
    const consumer = await mq.consume("orders.new", gatekeeper.handle, { prefetch: "unlimited" });
    await world.settled();
    assert.deepEqual([consumer.state.inFlight, consumer.state.held], [1, 499]);
    await world.close();
  });

  it("goes on after handlers that throw, as many as the prefetch holds and one more [SC-23]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const handled: unknown[] = [];
    await mq.consume("orders.new", ({ payload }) => {
      handled.push(payload);
      if (payload !== 11) throw new Error("no");
    }, { prefetch: 10 });
    putAll(world, "orders.new", 12);
    await world.settled();
    assert.deepEqual(handled, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert.deepEqual([world.depth("orders.new.dlq"), world.unsettled("orders.new")], [11, 0]);
    await world.close();
  });
});

describe("a message that waits for its next attempt in the consumer", () => {
  it("takes up prefetch and no concurrency: others are handled meanwhile", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const handled: string[] = [];
    const consumer = await mq.consume<string>("orders.new", ({ payload, envelope }) => {
      handled.push(`${payload} ${envelope.attempt}`);
      if (payload === "bad") throw new Error("no");
    }, { retry: fixedRetry(2, { delayMs: 10_000 }) });
    for (const payload of ["bad", "good", "better"]) world.put("orders.new", payload);
    await world.settled();
    assert.deepEqual(handled, ["bad 1", "good 1", "better 1"]);
    assert.deepEqual({ ...consumer.state }, {
      queue: "orders.new",
      live: true,
      paused: false,
      inFlight: 0,
      held: 0,
      waiting: 1,
    });
    assert.equal(world.unsettled("orders.new"), 1);
    await world.clock.advance(10_000);
    assert.deepEqual(handled, ["bad 1", "good 1", "better 1", "bad 2"]);
    await world.close();
  });

  it("holds up the queue only when every prefetch slot waits", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const handled: unknown[] = [];
    await mq.consume("orders.new", ({ payload }) => {
      handled.push(payload);
      return retry("busy");
    }, { prefetch: 2, retry: fixedRetry(2, { delayMs: 5_000 }) });
    putAll(world, "orders.new", 3);
    await world.settled();
    assert.deepEqual(handled, [0, 1]);
    await world.clock.advance(5_000);
    assert.deepEqual(handled.slice(0, 3), [0, 1, 2]);
    await world.close();
  });

  it("waits no longer when the broker has taken it back, and is delivered again at once", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const handled: number[] = [];
    const consumer = await mq.consume("orders.new", ({ envelope, redelivered }) => {
      handled.push(envelope.attempt);
      if (!redelivered) throw new Error("no");
    }, { retry: fixedRetry(3, { delayMs: 3_600_000, brokerWaitThresholdMs: 0 }), prefetch: 1 });
    world.put("orders.new", 1);
    await world.settled();
    await world.faults.lose();
    await world.settled();
    assert.deepEqual([consumer.state.live, consumer.state.waiting], [false, 0]);
    await world.faults.recover();
    await world.settled();
    assert.deepEqual([consumer.state.live, handled, world.unsettled("orders.new")], [true, [1, 1], 0]);
    await world.clock.advance(3_600_000);
    assert.deepEqual([handled, world.faults.published.length], [[1, 1], 0]);
    await world.close();
  });
});

describe("a message that was lost while its handler runs", () => {
  const KINDS: readonly (readonly [name: string, ids: readonly (string | undefined)[]])[] = [
    ["with ids", ["m-0", "m-1"]],
    ["without ids", [undefined, undefined]],
  ];
  for (const [name, ids] of KINDS) {
    it(`is not begun beside itself: it comes again when that handler has ended, others meanwhile (${name})`, async () => {
      const world = new MemoryWorld();
      const mq = await world.withQueue("orders.new");
      const gatekeeper = new Gatekeeper();
      const consumer = await mq.consume("orders.new", gatekeeper.handle, { concurrency: 4 });
      ids.forEach((messageId, n) => world.put("orders.new", n, { messageId }));
      await world.settled();
      await world.faults.lose();
      await world.faults.recover();
      await world.settled();
      assert.deepEqual([gatekeeper.begun, consumer.state.inFlight, consumer.state.held], [[0, 1], 2, 2]);
      world.put("orders.new", "other", { messageId: ids[0] === undefined ? undefined : "m-2" });
      await world.settled();
      assert.deepEqual(gatekeeper.begun, [0, 1, "other"]);
      for (const begun of [[0, 1, "other", 0], [0, 1, "other", 0, 1]]) {
        gatekeeper.letGo();
        await world.settled();
        assert.deepEqual(gatekeeper.begun, begun);
      }
      gatekeeper.letGo(3);
      await world.settled();
      assert.deepEqual([world.depth("orders.new"), world.unsettled("orders.new")], [0, 0]);
      assert.deepEqual(world.faults.settled.map(({ answer }) => answer), ["sent", "sent", "sent"]);
      await world.close();
    });
  }

  it("and lost again before it could begin again still waits, and its handler is told nothing of either loss", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const messages: Message[] = [];
    const ends = [deferred(), deferred()] as const;
    const consumer = await mq.consume("orders.new", async (message) => {
      await ends[messages.push(message) === 1 ? 0 : 1].promise;
    }, { concurrency: 2 });
    world.put("orders.new", 1, { messageId: "m-1" });
    await world.settled();
    for (let loss = 0; loss < 2; loss++) {
      await world.faults.lose();
      await world.faults.recover();
      await world.settled();
    }
    assert.deepEqual([messages.length, consumer.state.held, messages[0]?.signal.aborted], [1, 1, false]);
    ends[0].resolve();
    await world.settled();
    assert.deepEqual(messages.map(({ redelivered }) => redelivered), [false, true]);
    ends[1].resolve();
    await world.settled();
    assert.equal(world.unsettled("orders.new"), 0);
    await world.close();
  });

  it("shares its wait with another of the same id, and both are handled", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const gatekeeper = new Gatekeeper();
    await mq.consume("orders.new", gatekeeper.handle, { concurrency: 4 });
    for (const payload of ["first", "second"]) world.put("orders.new", payload, { messageId: "m-1" });
    await world.settled();
    assert.deepEqual(gatekeeper.begun, ["first", "second"], "Nothing was lost, so nobody waits");
    await world.faults.lose();
    await world.faults.recover();
    gatekeeper.letGo();
    await world.settled();
    assert.equal(gatekeeper.begun.length, 2);
    gatekeeper.letGo();
    await world.settled();
    assert.deepEqual(gatekeeper.begun.slice(2), ["first", "second"]);
    gatekeeper.letGo(2);
    await world.settled();
    assert.equal(world.unsettled("orders.new"), 0);
    await world.close();
  });

  it("and waits for its first handler when the consumer closes goes back untouched", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const gatekeeper = new Gatekeeper();
    const consumer = await mq.consume("orders.new", gatekeeper.handle, { concurrency: 2 });
    world.put("orders.new", 1, { messageId: "m-1" });
    await world.settled();
    await world.faults.lose();
    await world.faults.recover();
    await world.settled();
    const closing = consumer.close();
    await world.settled();
    assert.deepEqual([world.depth("orders.new"), consumer.state.inFlight, consumer.state.held], [1, 1, 0]);
    gatekeeper.letGo();
    await world.settled();
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual([gatekeeper.begun, world.depth("orders.new")], [[1], 1]);
    await world.close();
  });
});

describe("a consumer at work", () => {
  it("begins no handler while it is paused, holds what is fetched apart from what is in a handler [CON-22]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const gatekeeper = new Gatekeeper();
    const consumer = await mq.consume("orders.new", gatekeeper.handle, { prefetch: 10 });
    putAll(world, "orders.new", 1);
    await world.settled();
    consumer.pause();
    putAll(world, "orders.new", 12);
    await world.settled();
    assert.deepEqual([consumer.state.paused, consumer.state.inFlight, consumer.state.held], [true, 1, 9]);
    gatekeeper.letGo();
    await world.settled();
    const { parts } = await mq.health();
    const detail = (parts?.["consumers"] as { parts: Record<string, { parts: object }> }).parts["orders.new"]?.parts;
    assert.deepEqual(detail, { consumers: 1, live: 1, paused: 1, inFlight: 0, waiting: 0, held: 10 });
    assert.equal(gatekeeper.begun.length, 1);
    consumer.resume();
    await world.settled();
    assert.deepEqual([consumer.state.paused, consumer.state.inFlight, gatekeeper.begun.length], [false, 1, 2]);
    await world.close();
  });

  it("takes another concurrency at once, and another prefetch without dropping a delivery", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const gatekeeper = new Gatekeeper();
    const consumer = await mq.consume("orders.new", gatekeeper.handle, { prefetch: 2 });
    putAll(world, "orders.new", 9);
    await world.settled();
    assert.deepEqual([consumer.state.inFlight, consumer.state.held], [1, 1]);
    await consumer.retune({ concurrency: 3, prefetch: 5 });
    await world.settled();
    // As many as the new prefetch allows, beside the two that were in hand.
    assert.deepEqual([consumer.state.inFlight, consumer.state.held], [3, 4]);
    await consumer.retune({ concurrency: 1 });
    gatekeeper.letGo(2);
    await world.settled();
    assert.deepEqual([consumer.state.inFlight, gatekeeper.begun], [1, [0, 1, 2]]);
    await consumer.retune({ concurrency: 9, prefetch: "unlimited" });
    await world.settled();
    assert.equal(consumer.state.inFlight, 7);
    gatekeeper.letGo(9);
    await world.settled();
    assert.deepEqual([gatekeeper.begun.length, world.unsettled("orders.new")], [9, 0]);
    for (const bounds of [{ concurrency: 0 }, { prefetch: 0 }, { prefetch: 70_000 }, { concurrency: 2.5 }]) {
      await assert.rejects(consumer.retune(bounds), RangeError);
    }
    await world.close();
  });

  it("comes back after a lost connection; what was fetched and not begun is forgotten, since it is delivered again", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const gatekeeper = new Gatekeeper();
    const consumer = await mq.consume("orders.new", gatekeeper.handle, { prefetch: 4 });
    putAll(world, "orders.new", 3);
    await world.settled();
    await world.faults.lose();
    assert.deepEqual([consumer.state.live, consumer.state.inFlight, consumer.state.held], [false, 1, 0]);
    await world.faults.recover();
    gatekeeper.letGo();
    await world.settled();
    assert.deepEqual([consumer.state.live, gatekeeper.begun], [true, [0, 0]]);
    for (let n = 0; n < 3; n++) {
      gatekeeper.letGo();
      await world.settled();
    }
    assert.deepEqual([gatekeeper.begun, world.unsettled("orders.new")], [[0, 0, 1, 2], 0]);
    assert.deepEqual(world.faults.settled.map(({ as, answer }) => `${as} ${answer}`), [
      "ack sent",
      "ack sent",
      "ack sent",
    ]);
    await world.close();
  });

  it("gives its handler everything that came along, and leaves reserved names out [ENV-01]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    const seen: Message[] = [];
    await mq.consume("orders.new", (message) => void seen.push(message));
    world.put("orders.new", { n: 1 }, {
      headers: { "x-acemq-foo": 1, "acemq-foo": 2, "x-tenant": "north" },
      messageId: "m-1",
    });
    await world.settled();
    const [message] = seen;
    assert.deepEqual({ ...message?.headers }, { "acemq-foo": 2, "x-tenant": "north" });
    assert.deepEqual(
      [
        message?.payload,
        message?.queue,
        message?.exchange,
        message?.routingKey,
        message?.contentType,
        message?.redelivered,
      ],
      [{ n: 1 }, "orders.new", "", "orders.new", "application/json", false],
    );
    assert.deepEqual([message?.envelope.id, message?.envelope.attempt, message?.envelope.type], [
      "m-1",
      1,
      "orders.new",
    ]);
    assert.equal(message?.signal.aborted, false);
    await world.close();
  });
});
