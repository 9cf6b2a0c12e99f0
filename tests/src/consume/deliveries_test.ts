/** Messages as an async iterable: the pull form of contract core 3. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, park, reject, retry } from "../../../src/consume/ack.ts";
import type { Delivery } from "../../../src/consume/deliveries.ts";
import type { DeliveriesOptions } from "../../../src/consume/options.ts";
import type { Connection } from "../../../src/connection.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { deferred } from "../../support/until.ts";

const QUEUE = "orders.new";

interface Scene {
  readonly world: MemoryWorld;
  readonly mq: Connection;
}

async function scene(...payloads: readonly unknown[]): Promise<Scene> {
  const world = new MemoryWorld();
  const mq = await world.withQueue(QUEUE);
  for (const payload of payloads) world.put(QUEUE, payload);
  return { world, mq };
}

async function next<T>(deliveries: AsyncIterator<Delivery<T>>): Promise<Delivery<T>> {
  const { value, done } = await deliveries.next();
  if (done) throw new Error("The loop has ended");
  return value;
}

describe("a loop over deliveries", () => {
  it("gets the messages of the queue in order, and settles each by its own word", async () => {
    const { world, mq } = await scene("a", "b", "c", "d");
    const words = { a: accept(), b: reject("no"), c: park("whose?"), d: retry("busy") };
    const seen: string[] = [];
    for await (
      const delivery of mq.deliveries<keyof typeof words>(QUEUE, { retry: fixedRetry(2, { delayMs: 60_000 }) })
    ) {
      seen.push(delivery.payload);
      await delivery.settle(words[delivery.payload]);
      if (delivery.payload === "d") break;
    }
    assert.deepEqual(seen, ["a", "b", "c", "d"]);
    assert.deepEqual(
      ["", ".dlq", ".parked", ".retry.1m"].map((suffix) => world.depth(`${QUEUE}${suffix}`)),
      [0, 1, 1, 1],
    );
    const outcomes = world.sink.metrics.filter(({ name }) => name === "acemq.consume.total");
    assert.deepEqual(outcomes.map(({ labels }) => labels["outcome"]), ["acked", "rejected", "parked", "retried"]);
    assert.equal(world.broker.inspect(QUEUE)?.consumers, 0);
    await world.close();
  });

  it("that is left hands back what was fetched and not settled", async () => {
    const { world, mq } = await scene(0, 1, 2, 3, 4);
    for await (const delivery of mq.deliveries<number>(QUEUE, { prefetch: 4 })) {
      if (delivery.payload === 0) await delivery.settle(accept());
      if (delivery.payload === 2) break;
    }
    assert.equal(world.unsettled(QUEUE), 0);
    const left = world.waiting(QUEUE).map(({ body }) => new TextDecoder().decode(body)).sort();
    assert.deepEqual(left, ["1", "2", "3", "4"]);
    await world.close();
  });

  it("that is left by an error hands back just the same, and the error goes on", async () => {
    const { world, mq } = await scene(1);
    const looping = (async () => {
      for await (const _ of mq.deliveries(QUEUE)) throw new Error("The loop broke");
    })();
    await assert.rejects(looping, { message: "The loop broke" });
    assert.deepEqual([world.depth(QUEUE), world.broker.inspect(QUEUE)?.consumers], [1, 0]);
    await world.close();
  });

  it("waits for messages that come later, and ends when its signal aborts", async () => {
    const { world, mq } = await scene();
    const over = new AbortController();
    const seen: unknown[] = [];
    const looping = (async () => {
      for await (const delivery of mq.deliveries(QUEUE, { signal: over.signal })) {
        seen.push(delivery.payload);
        await delivery.settle(accept());
      }
    })();
    await world.settled();
    world.put(QUEUE, "late");
    await world.settled();
    assert.deepEqual(seen, ["late"]);
    over.abort();
    await looping;
    assert.equal(world.broker.inspect(QUEUE)?.consumers, 0);
    await world.close();
  });

  it("ends when the connection closes", async () => {
    const { world, mq } = await scene();
    const looping = (async () => {
      for await (const _ of mq.deliveries(QUEUE)) assert.fail("Nothing was put in");
    })();
    await world.settled();
    await mq.close();
    await looping;
    assert.throws(() => mq.deliveries(QUEUE), { code: "ACEMQ_CONNECTION_CLOSED" });
    await world.close();
  });

  it("touches nothing until it is looped over", async () => {
    const { world, mq } = await scene(1);
    const { length } = world.faults.declared;
    mq.deliveries(QUEUE);
    const unread = mq.deliveries(QUEUE);
    await unread.return?.();
    await world.settled();
    assert.deepEqual([world.faults.declared.length, world.faults.subscribed], [length, []]);
    await world.close();
  });

  it("is refused like a consumer", async () => {
    const { world, mq } = await scene();
    const start = (queue: string, options: DeliveriesOptions = {}): Promise<unknown> =>
      mq.deliveries(queue, options).next();
    await assert.rejects(start("nowhere"), { code: "ACEMQ_TOPOLOGY_MISSING" });
    await assert.rejects(start(QUEUE, { prefetch: 0 }), RangeError);
    await assert.rejects(start(QUEUE, { signal: AbortSignal.abort(new Error("too late")) }), { message: "too late" });
    await world.close();
  });

  it("never sees an undecodable body: it is parked, and holds up nothing when it cannot be", async () => {
    const { world, mq } = await scene();
    const target = { queue: QUEUE, target: `${QUEUE}.parked` };
    world.faults.onPublish = () => ({ outcome: "nacked", reason: "full" });
    world.put(QUEUE, new TextEncoder().encode("{"));
    world.put(QUEUE, "good");
    const deliveries = mq.deliveries(QUEUE);
    const delivery = await next(deliveries);
    assert.equal(delivery.payload, "good");
    await delivery.settle(accept());
    assert.equal(world.sink.count("acemq.messages.set.aside.failed", target), 1);
    world.faults.onPublish = undefined;
    const waiting = deliveries.next();
    await world.clock.advance(1_000);
    assert.deepEqual([world.depth(`${QUEUE}.parked`), world.unsettled(QUEUE)], [1, 0]);
    await mq.close();
    assert.deepEqual(await waiting, { value: undefined, done: true });
    await world.close();
  });
});

describe("a delivery", () => {
  it("has everything a message in a handler has, the engine's fields of a half-finished message too [ENV-13]", async () => {
    const { world, mq } = await scene();
    world.put(QUEUE, { n: 1 }, {
      headers: {
        "x-acemq-route": "validate,reserve,dispatch",
        "x-acemq-route-position": 1,
        "x-acemq-route-id": "run-7",
        "x-acemq-error": "exhausted 3 attempts: Error: no",
        "x-acemq-attempt": 3,
        "acemq-routing-slip": "[]",
      },
    });
    for await (const delivery of mq.deliveries(QUEUE)) {
      assert.deepEqual(delivery.envelope.route, {
        steps: ["validate", "reserve", "dispatch"],
        position: 1,
        runId: "run-7",
      });
      assert.deepEqual([delivery.envelope.error, delivery.envelope.attempt], ["exhausted 3 attempts: Error: no", 3]);
      assert.deepEqual([{ ...delivery.headers }, delivery.queue], [{ "acemq-routing-slip": "[]" }, QUEUE]);
      await delivery.settle(accept());
      break;
    }
    await world.close();
  });

  it("is settled by the first word; the others change nothing", async () => {
    const { world, mq } = await scene(1);
    for await (const delivery of mq.deliveries(QUEUE)) {
      await Promise.all([delivery.settle(accept()), delivery.settle(reject("no"))]);
      break;
    }
    assert.deepEqual([world.depth(QUEUE), world.depth(`${QUEUE}.dlq`), world.faults.settled.length], [0, 0, 1]);
    await world.close();
  });

  it("that is settled when its loop is over stays what it is: back on its queue", async () => {
    const { world, mq } = await scene(1);
    const deliveries = mq.deliveries(QUEUE);
    const delivery = await next(deliveries);
    await deliveries.return?.();
    await delivery.settle(reject("too late"));
    assert.deepEqual([world.depth(QUEUE), world.faults.published, world.sink.count("acemq.consume.total")], [1, [], 0]);
    await world.close();
  });

  it("whose settlement is under way is waited for when the loop is left: the copy and the acknowledgement are one", async () => {
    const { world, mq } = await scene(1);
    const line = deferred();
    world.faults.holdPublishes = line.promise;
    let settling: Promise<void> | undefined;
    const looping = (async () => {
      for await (const delivery of mq.deliveries(QUEUE)) {
        settling = delivery.settle(reject("no"));
        break;
      }
    })();
    await world.clock.advance(1_000);
    assert.equal(world.broker.inspect(QUEUE)?.unsettled, 1);
    line.resolve();
    await looping;
    await settling;
    assert.deepEqual([world.depth(QUEUE), world.depth(`${QUEUE}.dlq`), world.unsettled(QUEUE)], [0, 1, 0]);
    await world.close();
  });

  it("whose wait for another attempt is under way goes back when the loop is left", async () => {
    const { world, mq } = await scene(1);
    for await (const delivery of mq.deliveries(QUEUE, { retry: fixedRetry(2, { delayMs: 20_000 }) })) {
      void delivery.settle(retry("busy"));
      break;
    }
    assert.deepEqual([world.depth(QUEUE), world.faults.published], [1, []]);
    await world.close();
  });

  it("whose connection is lost is delivered again, and its late word is discarded", async () => {
    const { world, mq } = await scene(1);
    const deliveries = mq.deliveries(QUEUE);
    const first = await next(deliveries);
    await world.faults.lose();
    await world.faults.recover();
    await first.settle(reject("too late"));
    const second = await next(deliveries);
    assert.deepEqual([second.redelivered, world.faults.published], [true, []]);
    await second.settle(accept());
    assert.equal(world.unsettled(QUEUE), 0);
    await deliveries.return?.();
    await world.close();
  });

  it("that is lost in its caller's hands is given again when it is settled there, others meanwhile", async () => {
    const { world, mq } = await scene("a");
    const deliveries = mq.deliveries(QUEUE);
    const first = await next(deliveries);
    await world.faults.lose();
    await world.faults.recover();
    world.put(QUEUE, "b");
    const other = await next(deliveries);
    assert.deepEqual([other.payload, first.signal.aborted], ["b", false]);
    const waiting = next(deliveries);
    await first.settle(accept());
    const again = await waiting;
    assert.deepEqual([again.payload, again.redelivered], ["a", true]);
    await Promise.all([other.settle(accept()), again.settle(accept())]);
    assert.equal(world.unsettled(QUEUE), 0);
    await deliveries.return?.();
    await world.close();
  });

  it("and that is in its caller's hands when the connection closes is waited for, and settled as it says", async () => {
    const { world, mq } = await scene(1, 2);
    const deliveries = mq.deliveries(QUEUE);
    const first = await next(deliveries);
    const closing = mq.close();
    await world.clock.advance(5_000);
    await first.settle(reject("no"));
    assert.deepEqual((await deliveries.next()).done, true);
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual([world.depth(QUEUE), world.depth(`${QUEUE}.dlq`), world.unsettled(QUEUE)], [1, 1, 0]);
    await world.close();
  });

  it("and that its caller never settles goes back when the budget ends, and a late word is discarded", async () => {
    const { world, mq } = await scene(1);
    const first = await next(mq.deliveries(QUEUE));
    const closing = mq.close();
    await world.clock.advance(20_000);
    assert.deepEqual(await closing, { drained: false, stranded: 1 });
    await first.settle(reject("too late"));
    assert.deepEqual([world.depth(QUEUE), world.depth(`${QUEUE}.dlq`)], [1, 0]);
    await world.close();
  });
});
