/** Another prefetch while a consumer runs: what its handlers have in hand, and what the broker may hand out beyond that. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connect } from "../../connect.ts";
import { memoryBroker } from "../../adapters/memory/mod.ts";
import { topology } from "../../src/topology/topology.ts";
import { type OnBroker, onBroker } from "../support/brokers.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../support/services.ts";
import { type Deferred, deferred, until } from "../support/until.ts";

const MESSAGES = 12;

type Play = (body: (on: OnBroker) => Promise<void>) => Promise<void>;

const inMemory: Play = async (body) => {
  const mq = await connect(memoryBroker());
  try {
    await body({ mq, prefix: "acemq-test", removes: (topology) => topology });
  } finally {
    await mq.close();
  }
};

const BROKERS: readonly { readonly name: string; readonly on: Play; readonly skip: string | false }[] = [
  { name: "the memory broker", on: inMemory, skip: false },
  { name: "RabbitMQ 3.10", on: (body) => onBroker(AMQP_URL, body), skip: await missing("rabbitmq") },
  { name: "RabbitMQ 4", on: (body) => onBroker(RABBITMQ4_URL, body), skip: await missing("rabbitmq4") },
];

for (const { name, on, skip } of BROKERS) {
  describe(`a changed prefetch on ${name}`, () => {
    for (const type of ["classic", "quorum"] as const) {
      it(
        `is what the handlers of a ${type} queue have in hand at most, though more may have been handed out`,
        { skip },
        () =>
          on(async ({ mq, prefix, removes }) => {
            const queue = `${prefix}.orders`;
            await mq.declare(removes(topology().queue(queue, { type, deadLetter: true })));
            await mq.publisher<number>("", queue).sendAll(Array.from({ length: MESSAGES }, (_, n) => n));
            const begun: Deferred[] = [];
            const consumer = await mq.consume(queue, async () => {
              const end = deferred();
              begun.push(end);
              await end.promise;
            }, { prefetch: 3, concurrency: MESSAGES });
            const stands = (inFlight: number, held: number): Promise<true> =>
              until(`${inFlight} in handlers, ${held} held`, () => {
                const { state } = consumer;
                return state.inFlight === inFlight && state.held === held;
              });
            await stands(3, 0);
            await consumer.retune({ prefetch: 5 });
            // The three of the old prefetch do not count against the five of the new one.
            await stands(5, 3);
            await consumer.retune({ prefetch: 2 });
            for (let ended = 1; ended <= 3; ended++) {
              begun[ended - 1]?.resolve();
              await until("a handler to end", () => consumer.state.inFlight === 5 - ended);
            }
            assert.equal(begun.length, 5);
            for (let ended = 4; ended <= MESSAGES; ended++) {
              begun[ended - 1]?.resolve();
              await until("the next to begin", () => begun.length === Math.min(ended + 2, MESSAGES));
              assert.ok(consumer.state.inFlight <= 2);
            }
            await mq.idle();
            assert.deepEqual([consumer.state.inFlight, consumer.state.held, begun.length], [0, 0, MESSAGES]);
          }),
      );
    }
  });
}
