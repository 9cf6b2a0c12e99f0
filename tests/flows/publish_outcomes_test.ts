/** What a publisher says of a message, on RabbitMQ: confirmed, returned, rejected, refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PublishError } from "../../src/errors.ts";
import { rabbitWorlds } from "../support/rabbit_world.ts";
import { missing } from "../support/services.ts";

const skip = await missing("rabbitmq");
const inWorld = rabbitWorlds("acemq-publish-outcomes");

describe("a publish to RabbitMQ", () => {
  it(
    "is confirmed when it is in a queue, and is what another program reads there",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const { messageId, outcome, latencyMs } = await mq.publisher("", queue).send({ orderId: "A-19" });
      assert.deepEqual([outcome, latencyMs > 0], ["confirmed", true]);
      const { properties, body, table } = await bare.take(queue);
      assert.deepEqual(properties, {
        "content-type": "application/json",
        "delivery-mode": 2,
        "message-id": messageId,
      });
      assert.deepEqual([new TextDecoder().decode(body), table["x-acemq-id"]], ['{"orderId":"A-19"}', messageId]);
    }),
  );

  it(
    "rejects when the broker nacks it: a full queue that refuses [PUB-03]",
    { skip },
    inWorld(async ({ mq, bare, sink }) => {
      const queue = await bare.queue("full", { "x-max-length": 1, "x-overflow": "reject-publish" });
      const publisher = mq.publisher("", queue);
      await publisher.send(1);
      await assert.rejects(publisher.send(2), {
        name: "PublishError",
        code: "ACEMQ_PUBLISH_NACKED",
        unroutable: false,
      });
      assert.equal(sink.count("acemq.publish.total", { outcome: "failed" }), 1);
      assert.equal(await bare.depth(queue), 1);
    }),
  );

  it(
    "is unroutable in the broker's words when no queue is bound, and counted so [PUB-07]",
    { skip },
    inWorld(async ({ mq, bare, sink }) => {
      const exchange = bare.exchangeName("x");
      await bare.once((channel) => channel.assertExchange(exchange, "direct"));
      await assert.rejects(mq.publisher(exchange, "nobody").send(1), (error: unknown) => {
        assert.ok(error instanceof PublishError);
        const { code, unroutable, paused, reason } = error;
        assert.deepEqual(
          { code, unroutable, paused, reason },
          { code: "ACEMQ_PUBLISH_UNROUTABLE", unroutable: true, paused: false, reason: "312 NO_ROUTE" },
        );
        return true;
      });
      assert.equal(sink.count("acemq.publish.total", { outcome: "unroutable" }), 1);
    }),
  );

  it(
    "is mandatory unless the publisher or the message says otherwise; then it is dropped unseen [PUB-22]",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = bare.queueName("nobody-there");
      await assert.rejects(mq.publisher("", queue).send(1), { code: "ACEMQ_PUBLISH_UNROUTABLE" });
      const careless = mq.publisher("", queue, { mandatory: false });
      assert.equal((await careless.send(1)).outcome, "confirmed");
      assert.equal((await mq.publisher("", queue).send(1, { mandatory: false })).outcome, "confirmed");
      await assert.rejects(careless.send(1, { mandatory: true }), { code: "ACEMQ_PUBLISH_UNROUTABLE" });
    }),
  );

  it(
    "has its own fate among 1,000 in flight, every other one of them unroutable [CN-18] [PUB-05]",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const lost = bare.queueName("nobody-there");
      const publisher = mq.publisher("", queue, {
        interceptors: [
          (context, next) => next((context.payload as number) % 2 === 0 ? context : { ...context, routingKey: lost }),
        ],
      });
      const sends = Array.from({ length: 1_000 }, (_, index) => publisher.send(index, { messageId: `m-${index}` }));
      const settled = await Promise.allSettled(sends);
      settled.forEach((one, index) => {
        if (index % 2 === 0) assert.ok(one.status === "fulfilled" && one.value.messageId === `m-${index}`);
        else {
          assert.ok(one.status === "rejected" && one.reason instanceof PublishError && one.reason.unroutable);
          assert.deepEqual([one.reason.messageId, one.reason.routingKey], [`m-${index}`, lost]);
        }
      });
      assert.equal(await bare.depth(queue), 500);
    }),
  );

  it(
    "settles all 500 that were sent in one turn, which the broker confirms together [PUB-15]",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const publisher = mq.publisher("", queue);
      const began = performance.now();
      const results = await Promise.all(Array.from({ length: 500 }, (_, index) => publisher.send(index)));
      assert.ok(performance.now() - began < 5_000);
      assert.deepEqual([results.length, await bare.depth(queue)], [500, 500]);
    }),
  );

  it(
    "keeps the order of one publisher's calls, over any number of channels of others",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const publishers = Array.from({ length: 6 }, () => mq.publisher("", queue));
      await Promise.all(
        Array.from({ length: 300 }, (_, index) => publishers[index % 6]?.send([index % 6, Math.floor(index / 6)])),
      );
      const numbers: number[][] = publishers.map(() => []);
      for (let taken = 0; taken < 300; taken++) {
        const [who, number] = JSON.parse(new TextDecoder().decode((await bare.take(queue)).body));
        numbers[who]?.push(number);
      }
      const inOrder = Array.from({ length: 50 }, (_, index) => index);
      assert.deepEqual(numbers, publishers.map(() => inOrder));
    }),
  );

  it(
    "is refused with the broker's code and words when its exchange is not there, alone on its channel",
    { skip },
    inWorld(async ({ mq, bare, sink }) => {
      const exchange = bare.exchangeName("not-there");
      await assert.rejects(mq.publisher(exchange, "key").send(1), (error: unknown) => {
        assert.ok(error instanceof PublishError && error.code === "ACEMQ_PUBLISH_REFUSED");
        assert.match(error.reason, new RegExp(`404.*NOT_FOUND - no exchange '${exchange}'`));
        return true;
      });
      assert.equal(sink.count("acemq.publish.total", { outcome: "failed" }), 1);
    }),
  );

  it(
    "is unknown when the channel closes with others in flight, and the publisher goes on afterwards",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const exchange = bare.exchangeName("not-there");
      const publisher = mq.publisher(exchange, "key");
      const settled = await Promise.allSettled([publisher.send(1), publisher.send(2)]);
      for (const one of settled) assert.ok(one.status === "rejected" && one.reason.code === "ACEMQ_PUBLISH_UNKNOWN");
      await bare.once((channel) => channel.assertExchange(exchange, "fanout"));
      const queue = await bare.queue("q");
      await bare.once((channel) => channel.bindQueue(queue, exchange, ""));
      assert.equal((await publisher.send(3)).outcome, "confirmed");
    }),
  );
});

describe("a connection without confirms", () => {
  it(
    "says published, never confirmed, and learns nothing of a message without a queue [PUB-19]",
    { skip },
    inWorld(async ({ mq, bare, sink }) => {
      const queue = await bare.queue("q");
      assert.equal((await mq.publisher("", queue).send(1)).outcome, "published");
      assert.equal((await mq.publisher("", bare.queueName("nobody-there")).send(1)).outcome, "published");
      const outcomes = new Set(sink.metrics.map(({ labels }) => labels["outcome"]));
      assert.deepEqual([...outcomes], ["published"]);
      assert.equal(new TextDecoder().decode((await bare.take(queue)).body), "1");
    }, { connect: { confirms: false } }),
  );
});
