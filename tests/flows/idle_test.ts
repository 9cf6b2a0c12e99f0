/** Waiting until a connection is idle, where messages take a way of their own to get there. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { retry } from "../../src/consume/ack.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { onBroker } from "../support/brokers.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../support/services.ts";

const BROKERS = [
  { name: "RabbitMQ 3", url: AMQP_URL, skip: await missing("rabbitmq") },
  { name: "RabbitMQ 4", url: RABBITMQ4_URL, skip: await missing("rabbitmq4") },
] as const;

for (const { name, url, skip } of BROKERS) {
  describe(`an idle connection to ${name}`, () => {
    for (const type of ["classic", "quorum"] as const) {
      it(
        `has handled what was sent to a ${type} queue, and what its handlers sent on from there`,
        { skip },
        () =>
          onBroker(url, async ({ mq, prefix, removes }) => {
            const [first, second] = [`${prefix}.first`, `${prefix}.second`];
            await mq.declare(
              removes(topology().queue(first, { type, deadLetter: true }).queue(second, { type, deadLetter: true })),
            );
            const handled: number[] = [];
            await mq.consume<number>(first, ({ payload }) => void mq.publisher("", second).send(payload));
            await mq.consume<number>(second, ({ payload }) => void handled.push(payload), { concurrency: 3 });
            const wanted: number[] = [];
            for (let round = 1; round <= 20; round++) {
              const payloads = Array.from({ length: round }, (_, index) => 100 * round + index);
              wanted.push(...payloads);
              void mq.publisher("", first).sendAll(payloads);
              await mq.idle();
              assert.deepEqual(handled.toSorted((a, b) => a - b), wanted);
            }
          }),
      );
    }

    it(
      "has put back what a replay puts back, and has back what a look holds",
      { skip },
      () =>
        onBroker(url, async ({ mq, prefix, removes }) => {
          const queue = `${prefix}.orders`;
          await mq.declare(removes(topology().queue(queue, { deadLetter: true })));
          const payloads = Array.from({ length: 60 }, (_, index) => index);
          const handled: number[] = [];
          for (let round = 1; round <= 5; round++) {
            await mq.publisher("", `${queue}.dlq`).sendAll(payloads);
            const pass = mq.replay(queue);
            await mq.idle();
            assert.deepEqual(await pass, { moved: 60, skipped: 0, reason: "drained" });
            assert.deepEqual(await mq.replay(queue), { moved: 0, skipped: 0, reason: "drained" });
            const looking = mq.peek(queue, { from: "queue" });
            const looked = (async () => {
              for await (const { envelope } of looking) assert.equal(envelope.replayCount, 1);
            })();
            await mq.idle();
            const consumer = await mq.consume<number>(queue, ({ payload }) => void handled.push(payload));
            await mq.idle();
            assert.equal(handled.length, 60 * round);
            await consumer.close();
            await looked;
          }
        }),
    );

    it(
      "has read a stream to its end, which never is an empty queue",
      { skip },
      () =>
        onBroker(url, async ({ mq, prefix, removes }) => {
          const stream = `${prefix}.entries`;
          await mq.declare(removes(topology().queue(stream, { type: "stream" })));
          await mq.publisher("", stream).sendAll(Array.from({ length: 200 }, (_, index) => index));
          let read = 0;
          await mq.consume(stream, () => void read++, {
            prefetch: 20,
            declare: false,
            arguments: { "x-stream-offset": "first" },
          });
          await mq.idle();
          assert.equal(read, 200);
        }),
    );

    it(
      "leaves a message on its rung, and waits for one that somebody else has published",
      { skip },
      () =>
        onBroker(url, (on) =>
          onBroker(url, async ({ mq: other }) => {
            const { mq, prefix, removes } = on;
            const [queue, policy] = [`${prefix}.orders`, fixedRetry(2, { delayMs: 3_600_000 })];
            await mq.declare(removes(topology().queue(queue, { deadLetter: true, retry: policy })));
            const attempts: number[] = [];
            await mq.consume(queue, ({ envelope }) => {
              attempts.push(envelope.attempt);
              return retry("busy");
            }, { retry: policy });
            for (let round = 1; round <= 20; round++) {
              await other.publisher("", queue).send(round);
              await mq.idle();
              assert.equal(attempts.length, round);
            }
          })),
    );
  });
}
