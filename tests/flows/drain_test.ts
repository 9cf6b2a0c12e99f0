/** Closing on RabbitMQ: contract core 3.8. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asyncScope } from "../../adapters/async_hooks/mod.ts";
import { retry } from "../../src/consume/ack.ts";
import type { Consumer } from "../../src/consume/consumer.ts";
import type { Handler } from "../../src/consume/interceptor.ts";
import { whenAborted } from "../../src/internal/abort.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { missing } from "../support/services.ts";
import { deferred, until } from "../support/until.ts";

const skip = await missing("rabbitmq");
const JSON_BODY = { contentType: "application/json" };

/** A handler that never ends. */
const stuck: Handler = () => new Promise<void>(() => {});

/** A queue with as many messages, numbered from 0. */
async function filled({ bare }: RabbitScene, count: number): Promise<string> {
  const queue = await bare.queue("orders", { "x-queue-type": "quorum" });
  for (let n = 0; n < count; n++) await bare.put(queue, `${n}`, { ...JSON_BODY, messageId: `m-${n}` });
  return queue;
}

async function timed<T>(promise: Promise<T>): Promise<readonly [T, number]> {
  const started = performance.now();
  return [await promise, performance.now() - started];
}

describe("closing on RabbitMQ", () => {
  it(
    "finishes what runs and hands back what was fetched, flagged, counted once, untouched [CON-08]",
    { skip },
    () =>
      onRabbit("con08", async (scene) => {
        const queue = await filled(scene, 5);
        const mq = await scene.connect();
        const finish = deferred();
        const handled: unknown[] = [];
        const consumer = await mq.consume(queue, async ({ payload }) => {
          handled.push(payload);
          await finish.promise;
        }, { prefetch: 5 });
        await until("a full prefetch", () => consumer.state.held === 4);
        const closing = consumer.close();
        await scene.depth(queue, 4);
        assert.equal(consumer.state.live, false);
        finish.resolve();
        assert.deepEqual(await closing, { drained: true, stranded: 0 });
        assert.deepEqual(handled, [0]);
        for (let n = 1; n < 5; n++) {
          const { redelivered, table } = await scene.bare.take(queue);
          assert.deepEqual([redelivered, table["x-delivery-count"], table["x-acemq-attempt"]], [true, 1, undefined]);
        }
      }),
  );

  it(
    "hands a queue with a single active consumer on as it is: nothing is lost, and what was handled is not handled again",
    { skip },
    () =>
      onRabbit("single", async (scene) => {
        const queue = await scene.bare.queue("orders", { "x-single-active-consumer": true });
        const put = (n: number, persistent: boolean): Promise<void> =>
          scene.bare.put(queue, `${n}`, { ...JSON_BODY, messageId: `m-${n}`, persistent });
        const mq = await scene.connect();
        const finish = deferred();
        const handled: string[] = [];
        const first = await mq.consume(queue, async ({ payload }) => {
          handled.push(`first ${payload}`);
          await finish.promise;
        }, { prefetch: 1 });
        const second = await mq.consume(queue, ({ payload, redelivered }) => {
          handled.push(`second ${payload}${redelivered ? " again" : ""}`);
        }, { prefetch: 1 });
        for (let n = 0; n < 4; n++) await put(n, n !== 2);
        await until("a handler", () => first.state.inFlight === 1);
        const closing = first.close();
        await until("the other consumer to go on", () => handled.length === 4);
        await put(4, false);
        await until("what came meanwhile", () => handled.length === 5);
        finish.resolve();
        assert.deepEqual(await closing, { drained: true, stranded: 0 });
        await second.close();
        assert.equal(await scene.bare.depth(queue), 0);
        assert.deepEqual(handled, ["first 0", "second 1", "second 2", "second 3", "second 4"]);
      }),
  );

  it(
    "ends a wait between attempts at once; its message goes back with no attempt spent [RET-03]",
    { skip },
    () =>
      onRabbit("ret03", async (scene) => {
        const queue = await filled(scene, 1);
        const mq = await scene.connect();
        const consumer = await mq.consume(queue, () => retry("busy"), { retry: fixedRetry(3, { delayMs: 10_000 }) });
        await until("a wait", () => consumer.state.waiting === 1);
        const [report, tookMs] = await timed(mq.close());
        assert.deepEqual([report, tookMs < 1_000], [{ drained: true, stranded: 0 }, true]);
        const { redelivered, table } = await scene.bare.take(queue);
        assert.deepEqual([redelivered, table["x-acemq-attempt"]], [true, undefined]);
      }),
  );

  it("leaves one copy of a message whose handler asks for a retry meanwhile: on its rung or on its queue [CON-07]", {
    skip,
  }, () =>
    onRabbit("con07", async (scene) => {
      const queue = await filled(scene, 10);
      const mq = await scene.connect();
      const go = deferred();
      const consumer = await mq.consume(queue, async () => {
        await go.promise;
        return retry("busy");
      }, { retry: fixedRetry(3, { delayMs: 60_000 }), concurrency: 5, prefetch: 5 });
      await until("five in a handler", () => consumer.state.inFlight === 5);
      const closing = mq.close();
      go.resolve();
      assert.deepEqual(await closing, { drained: true, stranded: 0 });
      await scene.depth(`${queue}.retry.1m`, 5);
      await scene.depth(queue, 5);
    }));

  it(
    "lets a last attempt that gives up because it was told to reach the dead letters [CON-05]",
    { skip },
    () =>
      onRabbit("con05", async (scene) => {
        const queue = await filled(scene, 1);
        const mq = await scene.connect({ drainTimeoutMs: 200 });
        const consumer = await mq.consume(queue, async ({ signal }) => {
          await whenAborted(signal);
          throw signal.reason;
        });
        await until("a handler", () => consumer.state.inFlight === 1);
        assert.deepEqual(await mq.close(), { drained: true, stranded: 0 });
        await scene.depth(`${queue}.dlq`, 1);
        assert.equal(await scene.bare.depth(queue), 0);
      }),
  );

  it("discards what a handler decides after the budget: the message is handled once by the next consumer [CON-06]", {
    skip,
  }, () =>
    onRabbit("con06", async (scene) => {
      const queue = await filled(scene, 1);
      const mq = await scene.connect({ drainTimeoutMs: 500 });
      const late = deferred();
      const consumer = await mq.consume(queue, () => late.promise);
      await until("a handler", () => consumer.state.inFlight === 1);
      assert.deepEqual(await consumer.close(), { drained: false, stranded: 1 });
      const handled: boolean[] = [];
      const next = await mq.consume(queue, ({ redelivered }) => void handled.push(redelivered));
      await until("the next consumer", () => handled.length === 1);
      late.reject(new Error("too late"));
      await scene.bare.put(queue, "1", JSON_BODY);
      await until("another message", () => handled.length === 2);
      await next.close();
      assert.deepEqual(handled, [true, false]);
      const depths = ["", ".dlq", ".parked"].map((suffix) => scene.bare.depth(`${queue}${suffix}`));
      assert.deepEqual(await Promise.all(depths), [0, 0, 0]);
    }));

  it(
    "takes one budget for all: three queues, two busy consumers each, 800 ms in all [CON-11]",
    { skip },
    () =>
      onRabbit("con11", async (scene) => {
        const mq = await scene.connect({ drainTimeoutMs: 800 });
        const consumers: Consumer[] = [];
        for (const suffix of ["a", "b", "c"]) {
          const queue = await scene.bare.queue(suffix);
          for (let n = 0; n < 2; n++) {
            await scene.bare.put(queue, "1", JSON_BODY);
            consumers.push(await mq.consume(queue, stuck, { prefetch: 1 }));
          }
        }
        await until("six busy consumers", () => consumers.every(({ state }) => state.inFlight === 1));
        const [report, tookMs] = await timed(mq.close());
        assert.deepEqual(report, { drained: false, stranded: 6 });
        assert.ok(tookMs < 1_600, `${tookMs} ms, two budgets and not six`);
      }),
  );

  it(
    "from inside a handler does not wait for that handler; its message is delivered again [CON-13]",
    { skip },
    () =>
      onRabbit("con13", async (scene) => {
        const queue = await filled(scene, 3);
        const mq = await scene.connect({ scope: asyncScope() });
        const [consuming, closed] = [deferred(), deferred<number>()];
        await mq.consume(queue, async () => {
          await consuming.promise;
          closed.resolve((await timed(mq.close()))[1]);
        });
        consuming.resolve();
        assert.ok(await closed.promise < 1_000);
        await scene.depth(queue, 3);
      }),
  );

  it(
    "that is aborted rejects with the reason, and the consumer is gone from the broker [CON-16]",
    { skip },
    () =>
      onRabbit("con16", async (scene) => {
        const queue = await filled(scene, 2);
        const mq = await scene.connect();
        const consumer = await mq.consume(queue, stuck, { prefetch: 2 });
        await until("a handler", () => consumer.state.inFlight === 1);
        await assert.rejects(consumer.close({ signal: AbortSignal.timeout(100) }), { name: "TimeoutError" });
        await until("the broker to let go", async () => {
          const { consumerCount, messageCount } = await scene.bare.once((channel) => channel.checkQueue(queue));
          return consumerCount === 0 && messageCount === 2;
        });
        assert.equal((await mq.health()).status, "up");
      }),
  );

  it(
    "cut by its caller throws, cut by its own time reports [CON-23]",
    { skip },
    () =>
      onRabbit("con23", async (scene) => {
        const queue = await filled(scene, 2);
        const mq = await scene.connect({ drainTimeoutMs: 200 });
        const consumers = [
          await mq.consume(queue, stuck, { prefetch: 1 }),
          await mq.consume(queue, stuck, { prefetch: 1 }),
        ] as const;
        await until("two handlers", () => consumers.every(({ state }) => state.inFlight === 1));
        await assert.rejects(consumers[0].close({ signal: AbortSignal.abort() }), { name: "AbortError" });
        assert.deepEqual(await consumers[1].close(), { drained: false, stranded: 1 });
        await scene.depth(queue, 2);
      }),
  );
});

describe("a loop over deliveries on RabbitMQ", () => {
  it(
    "that is left hands everything back that was not settled, counted once",
    { skip },
    () =>
      onRabbit("loop", async (scene) => {
        const queue = await filled(scene, 5);
        const mq = await scene.connect();
        for await (const delivery of mq.deliveries<number>(queue, { prefetch: 4 })) {
          if (delivery.payload === 2) break;
        }
        await scene.depth(queue, 5);
        const counts: unknown[] = [];
        for (let n = 0; n < 5; n++) counts.push((await scene.bare.take(queue)).table["x-delivery-count"]);
        assert.deepEqual(counts.toSorted(), [0, 1, 1, 1, 1]);
      }),
  );
});
