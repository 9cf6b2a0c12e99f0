/** What the documentation says is lost: the place of a message that failed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Connection } from "../../src/connection.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { onBroker } from "../support/brokers.ts";
import { MemoryWorld } from "../support/memory_world.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import { deferred } from "../support/until.ts";

const skip = await missing("rabbitmq");
const RETRY = fixedRetry(2, { delayMs: 50 });

/** Sends three numbers and fails the first of them once; answers with the order they were handled in. */
async function handledInOrder(
  mq: Connection,
  queue: string,
  pass: () => Promise<void> = () => Promise.resolve(),
): Promise<number[]> {
  const handled: number[] = [];
  const all = deferred();
  await mq.publisher<number>("", queue).sendAll([1, 2, 3]);
  await mq.consume<number>(queue, ({ payload, envelope }) => {
    if (payload === 1 && envelope.attempt === 1) throw new Error("Not yet");
    handled.push(payload);
    if (handled.length === 3) all.resolve();
  }, { retry: RETRY, concurrency: 1 });
  await pass();
  await all.promise;
  return handled;
}

describe("a message that is retried", () => {
  it("is handled after those that were behind it, also with one handler at a time [RET-17]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("orders.new");
    assert.deepEqual(await handledInOrder(mq, "orders.new", () => world.clock.advance(50)), [2, 3, 1]);
    await mq.close();
  });

  it(
    "is handled after those that were behind it on RabbitMQ as well [RET-17]",
    { skip },
    () =>
      onBroker(AMQP_URL, async ({ mq, prefix, removes }) => {
        const queue = `${prefix}.orders.new`;
        await mq.declare(removes(topology().queue(queue, { deadLetter: true, retry: RETRY })));
        assert.deepEqual(await handledInOrder(mq, queue), [2, 3, 1]);
      }),
  );
});
