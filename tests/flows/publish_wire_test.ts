/** What a published message looks like to programs that are not this library, and theirs to this one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rabbitWorlds } from "../support/rabbit_world.ts";
import { missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq");
const inWorld = rabbitWorlds("acemq-publish-wire");

describe("a message on the wire", () => {
  it(
    "has the integer kinds AceMQ Java reads: 32 bits where they fit, else 64 [SR-17]",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const headers = { a: 3, b: 200, c: 40_000, d: 2 ** 40, e: -1, f: 2 ** 31, g: 5n, h: 1.5 };
      await mq.publisher("", queue).send(1, { headers });
      const kinds = Object.fromEntries((await bare.take(queue)).headers.map(([name, kind]) => [name, kind]));
      const { a, b, c, d, e, f, g, h, ...envelope } = kinds;
      assert.deepEqual([a, b, c, d, e, f, g, h], ["I", "I", "I", "l", "I", "l", "l", "d"]);
      assert.deepEqual(envelope, {
        "x-acemq-id": "S",
        "x-acemq-type": "S",
        "x-acemq-version": "I",
        "x-acemq-correlation": "S",
        "x-acemq-attempt": "I",
        "x-acemq-first-seen": "l",
        "x-acemq-origin": "S",
      });
    }),
  );

  it(
    "has the properties that were asked for, and no others",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q", { "x-max-priority": 9 });
      const options = { messageId: "m-1", priority: 7, expirationMs: 60_000, persistent: false, replyTo: "answers" };
      await mq.publisher("", queue, { codec: "bytes" }).send(new Uint8Array([0, 255]), options);
      const { properties, body } = await bare.take(queue);
      assert.deepEqual(properties, {
        "content-type": "application/octet-stream",
        "delivery-mode": 1,
        "priority": 7,
        "reply-to": "answers",
        "expiration": "60000",
        "message-id": "m-1",
      });
      assert.deepEqual([...body], [0, 255]);
    }),
  );

  it(
    "is byte for byte the same whether it was sent or prepared first",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const publisher = mq.publisher("", queue);
      const prepared = await publisher.prepare({ orderId: "A-19" }, { headers: { tenant: "acme" }, priority: 1 });
      await publisher.sendPrepared(prepared);
      await publisher.sendPrepared(Promise.resolve(prepared));
      const [first, second] = [await bare.take(queue), await bare.take(queue)];
      assert.deepEqual(second, first);
      assert.deepEqual([...first.body], [...prepared.body]);
      assert.equal(first.table["tenant"], "acme");
    }),
  );

  it(
    "may have a body of no bytes, and one of many frames",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const large = Uint8Array.from({ length: 1_000_000 }, (_, index) => index * 31);
      const publisher = mq.publisher<Uint8Array>("", queue, { codec: "bytes" });
      await publisher.sendAll([new Uint8Array(), large, new Uint8Array([1])]);
      const bodies = [await bare.take(queue), await bare.take(queue), await bare.take(queue)].map(({ body }) => body);
      assert.deepEqual(bodies, [new Uint8Array(), large, new Uint8Array([1])]);
    }),
  );

  it(
    "is read as JSON under every content type that means it, and parked under others [COD-11]",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const types = [
        "application/json",
        "text/json",
        "application/vnd.shop.order+json",
        "Application/JSON; charset=utf-8",
      ];
      for (const contentType of types) await bare.put(queue, JSON.stringify(contentType), { contentType });
      await bare.put(queue, '"none"');
      await bare.put(queue, "<xml/>", { contentType: "application/xml" });
      const payloads: unknown[] = [];
      await mq.consume(queue, ({ payload }) => void payloads.push(payload));
      await until(
        "one parked, the rest handled",
        async () => payloads.length === types.length + 1 && await bare.depth(`${queue}.parked`) === 1,
      );
      assert.deepEqual(payloads, [...types, "none"]);
    }),
  );
});
