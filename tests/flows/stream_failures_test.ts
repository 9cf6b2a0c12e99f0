/** What becomes of a stream's entries in the hands of a consumer: contract core 3.11. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import { randomUuid, systemClock } from "../../src/clock.ts";
import { accept, park, reject, retry } from "../../src/consume/ack.ts";
import type { ReceivedMessage } from "../../src/message/received.ts";
import type { BrokerConnection } from "../../src/ports/broker.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { type OnBroker, onBroker } from "../support/brokers.ts";
import { pulled } from "../support/pulling.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../support/services.ts";
import { until } from "../support/until.ts";

const BROKERS = [
  { name: "RabbitMQ 3", url: AMQP_URL, skip: await missing("rabbitmq") },
  { name: "RabbitMQ 4", url: RABBITMQ4_URL, skip: await missing("rabbitmq4") },
] as const;

/** A stream, and somebody beside the library who looks into queues. */
interface Scene extends OnBroker {
  readonly stream: string;
  readonly sink: RecordingSink;
  readonly other: BrokerConnection;
}

for (const { name, url, skip } of BROKERS) {
  const inScene = (play: (scene: Scene) => Promise<void>): () => Promise<void> => () => withStream(url, play);

  describe(`an entry of a stream on ${name}`, () => {
    for (
      const policy of [
        { what: "at once", retry: fixedRetry(3, { delayMs: 0 }), rungsMs: [] },
        { what: "by a rung", retry: fixedRetry(3, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 }), rungsMs: [2_000] },
      ]
    ) {
      it(
        `that would be tried again ${policy.what} is copied to the dead letters instead, and never into the stream [STR-03]`,
        { skip },
        inScene(async ({ mq, stream, sink, other }) => {
          const attempts: number[] = [];
          const consumer = await mq.consume<string>(stream, ({ payload, envelope }) => {
            attempts.push(envelope.attempt);
            if (payload === "thrown") throw new Error("no");
            return retry(new Error("no"), { delayMs: policy.rungsMs[0] ?? 0 });
          }, { retry: policy.retry, rungsMs: policy.rungsMs });
          await mq.publisher<string>("", stream).sendAll(["thrown", "asked"]);
          const dead = [await taken(other, `${stream}.dlq`), await taken(other, `${stream}.dlq`)];
          assert.deepEqual(dead.map(bodyOf), [`"thrown"`, `"asked"`]);
          for (const { headers } of dead) {
            assert.equal(headers["x-acemq-error"], "a stream's entry is not tried again: Error: no");
            assert.deepEqual([headers["x-acemq-attempt"], headers["x-stream-offset"]], [1, undefined]);
          }
          await consumer.close();
          assert.deepEqual(await entries(mq, other, stream), [`"thrown"`, `"asked"`]);
          assert.deepEqual(attempts, [1, 1]);
          assert.equal(sink.count("acemq.messages.retried.total"), 0);
          assert.equal(sink.count("acemq.messages.dead.lettered.total", { outcome: "dead_lettered" }), 2);
        }),
      );
    }

    it(
      "that is rejected, parked or unreadable leaves a copy beside the stream, and stays in it [STR-11]",
      { skip },
      inScene(async ({ mq, stream, sink, other }) => {
        const consumer = await mq.consume<string>(
          stream,
          ({ payload }) => payload === "parked" ? park("look") : reject("bad"),
        );
        const send = mq.publisher<string>("", stream);
        await send.sendAll(["rejected", "parked"]);
        await mq.publisher<string>("", stream, { codec: "text" }).send("unreadable");
        assert.equal(bodyOf(await taken(other, `${stream}.dlq`)), `"rejected"`);
        const parked = [await taken(other, `${stream}.parked`), await taken(other, `${stream}.parked`)];
        assert.deepEqual(parked.map(bodyOf), [`"parked"`, "unreadable"]);
        await consumer.close();
        assert.deepEqual(await entries(mq, other, stream), [`"rejected"`, `"parked"`, "unreadable"]);
        assert.equal(sink.count("acemq.consume.total", { outcome: "rejected" }), 1);
        assert.equal(sink.count("acemq.consume.total", { outcome: "parked" }), 2);
      }),
    );

    it(
      "that cannot be set aside stays in hand until it can, and is not handled a second time",
      { skip },
      inScene(async ({ mq, stream, sink, other }) => {
        let handled = 0;
        await mq.consume<string>(stream, () => {
          handled++;
          return reject("bad");
        });
        await other.deleteQueue(`${stream}.dlq`);
        await mq.publisher<string>("", stream).send("entry");
        await until("two failures", () => sink.count("acemq.messages.set.aside.failed") >= 2);
        const spec = { name: `${stream}.dlq`, durable: true, exclusive: false, autoDelete: false };
        await other.declareQueue({ ...spec, arguments: { "x-queue-type": "quorum" } });
        assert.equal(bodyOf(await taken(other, `${stream}.dlq`)), `"entry"`);
        await until("the outcome", () => sink.count("acemq.consume.total", { outcome: "rejected" }) === 1);
        assert.equal(handled, 1);
      }),
    );

    it(
      "that a consumer has fetched and not handled is left with the stream at a close, which costs nobody the connection",
      { skip },
      inScene(async ({ mq, stream, other }) => {
        const lost: string[] = [];
        void (async () => {
          for await (const { type } of mq.events()) if (type === "lost") lost.push(type);
        })();
        const first = { "x-stream-offset": "first" };
        const consumer = await mq.consume<string>(stream, () => {}, { arguments: first });
        consumer.pause();
        await mq.publisher<string>("", stream).sendAll(["1", "2", "3"]);
        await until("three entries in hand", () => consumer.state.held === 3);
        assert.deepEqual(await consumer.close(), { drained: true, stranded: 0 });
        const again: string[] = [];
        for await (const delivery of mq.deliveries<string>(stream, { arguments: first })) {
          again.push(delivery.payload);
          await delivery.settle(accept());
          if (again.length === 2) break;
        }
        assert.deepEqual(again, ["1", "2"]);
        assert.deepEqual(await entries(mq, other, stream), [`"1"`, `"2"`, `"3"`]);
        assert.deepEqual(lost, []);
      }),
    );
  });
}

async function withStream(url: string, play: (scene: Scene) => Promise<void>): Promise<void> {
  const sink = new RecordingSink();
  await onBroker(url, async (on) => {
    const stream = `${on.prefix}.stream`;
    await on.mq.declare(on.removes(topology().queue(stream, { type: "stream" })));
    const rungs = ["1s", "2s"].map((rung) => `retry.${rung}`);
    for (const beside of ["dlq", "parked", ...rungs]) on.removes(topology().queue(`${stream}.${beside}`));
    const other = await amqpBroker(url).open({ name: "acemq-test", clock: systemClock(), onEvent: () => {} });
    try {
      await play({ ...on, stream, sink, other });
    } finally {
      await other.close();
    }
  }, { telemetry: sink });
}

function taken(by: BrokerConnection, queue: string): Promise<ReceivedMessage> {
  return until(`a message on ${queue}`, async () => {
    const delivery = await pulled(by, queue);
    delivery?.settle("ack");
    return delivery?.message;
  });
}

/** Everything a stream has, from the first entry to one that is added for the purpose. */
async function entries(
  mq: OnBroker["mq"],
  by: BrokerConnection,
  stream: string,
): Promise<readonly string[]> {
  const mark = randomUuid();
  const found: string[] = [];
  const subscription = await by.subscribe(stream, {
    prefetch: 1_000,
    consumerTag: mark,
    arguments: { "x-stream-offset": "first" },
    onDelivery: ({ message }) => found.push(bodyOf(message)),
    onLost: () => {},
    onRecovered: () => {},
  });
  await mq.publisher<string>("", stream).send(mark);
  await until("the mark", () => found.includes(`"${mark}"`));
  await subscription.close();
  return found.slice(0, found.indexOf(`"${mark}"`));
}

function bodyOf({ body }: ReceivedMessage): string {
  return new TextDecoder().decode(body);
}
