/** A message that fails for ever, and one that takes its process down: what becomes of it, and of its neighbours. */
import { AMQPClient } from "@cloudamqp/amqp-client";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { BareClient } from "../support/rabbitmq.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../support/services.ts";
import { until } from "../support/until.ts";

const BROKERS = [
  { name: "RabbitMQ 3.10", url: AMQP_URL, skip: await missing("rabbitmq") },
  { name: "RabbitMQ 4", url: RABBITMQ4_URL, skip: await missing("rabbitmq4") },
] as const;

/** More than the 20 deliveries RabbitMQ 4 gives a quorum queue's message unless told otherwise. */
const CRASHES = 25;
const MESSAGES = 50;

/** A consumer that takes everything the queue has in hand, and whose process dies. */
async function crash(url: string, queue: string, expected: number): Promise<void> {
  const client = new AMQPClient(url);
  client.onerror = () => {};
  await client.connect();
  const channel = await client.channel();
  await channel.basicQos(MESSAGES);
  let held = 0;
  const consumer = await channel.basicConsume(queue, { noAck: false }, () => void held++);
  consumer.wait().catch(() => {});
  await until("everything is in hand", () => held >= expected);
  client.socket?.destroy();
}

for (const { name, url, skip } of BROKERS) {
  describe(`a poisonous message on ${name}`, () => {
    const inWorld = (body: (bare: BareClient, mq: Connection) => Promise<void>) => async (): Promise<void> => {
      const bare = await BareClient.open("poison", url);
      const mq = await openConnection(amqpBroker(url));
      try {
        await body(bare, mq);
      } finally {
        await mq.close();
        await bare.close();
      }
    };

    it(
      "is tried exactly as often as the policy says, whatever the broker counts, and then dead-lettered [SC-16]",
      { skip },
      inWorld(async (bare, mq) => {
        const queue = await bare.queue("orders", { "x-queue-type": "quorum" });
        let attempts = 0;
        await mq.consume(queue, () => {
          attempts++;
          throw new Error("always");
        }, { retry: fixedRetry(4, { delayMs: 10 }) });
        await mq.publisher("", queue).send({ order: 1 });
        await until("it is dead-lettered", async () => await bare.depth(`${queue}.dlq`) === 1);
        assert.deepEqual([attempts, await bare.depth(queue)], [4, 0]);
      }),
    );

    it(
      `that takes its process down ${CRASHES} times costs none of the ${MESSAGES - 1} in hand beside it [SC-18]`,
      { skip },
      inWorld(async (bare, mq) => {
        const queue = bare.queueName("orders");
        await mq.declare(topology().queue(queue, { deadLetter: true }));
        const publisher = mq.publisher("", queue);
        await publisher.sendAll(Array.from({ length: MESSAGES }, (_, order) => ({ order })));
        const dead = async (): Promise<number> => await bare.depth(`${queue}.dlq`) ?? 0;
        const back = (): Promise<number> => allBack(async () => await bare.depth(queue) ?? 0, dead);
        for (let time = 0; time < CRASHES; time++) {
          const waiting = await back();
          if (waiting > 0) await crash(url, queue, waiting);
        }
        const left = await back();
        assert.equal(left + await dead(), MESSAGES);
        const handled: unknown[] = [];
        await mq.consume(queue, ({ payload }) => void handled.push(payload));
        await until("what is left is handled", () => handled.length === left);
      }),
    );
  });
}

/** What waits, once everything is back from the consumer that died: in the queue, or with the dead letters. */
async function allBack(waiting: () => Promise<number>, dead: () => Promise<number>): Promise<number> {
  let found = 0;
  await until("everything is back", async () => (found = await waiting()) + await dead() === MESSAGES);
  return found;
}
