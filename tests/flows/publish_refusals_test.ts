/** What is refused before a byte is sent, on RabbitMQ: the connection and everything else in flight stay as they were. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PublishError } from "../../src/errors.ts";
import type { HeaderValue } from "../../src/message/header_value.ts";
import type { WireValue } from "../../src/message/wire_value.ts";
import type { Publisher } from "../../src/publish/publisher.ts";
import { type RabbitWorld, rabbitWorlds } from "../support/rabbit_world.ts";
import { missing } from "../support/services.ts";
import { UNENCODABLE } from "../support/unencodable.ts";

const skip = await missing("rabbitmq");
const inWorld = rabbitWorlds("acemq-publish-refusals");

/** Those of them that nothing looks at before the adapter does, in a message made by hand. */
const BY_HAND: readonly string[] = [
  "NaN",
  "infinity",
  "minus infinity",
  "a number beyond 64 bits",
  "a bigint beyond 64 bits",
  "a function",
  "a symbol",
  "an invalid Date",
  "a name over 255 bytes",
];

/** Runs `act` while 100 messages are in flight, and holds that all of them arrive. */
async function amongOthers(
  { mq, bare }: RabbitWorld,
  act: (publisher: Publisher) => Promise<void>,
): Promise<void> {
  const queue = await bare.queue("q");
  const events: string[] = [];
  const watching = (async () => {
    for await (const { type } of mq.events()) events.push(type);
  })();
  const publisher = mq.publisher("", queue);
  const before = Array.from({ length: 50 }, (_, index) => publisher.send(index));
  const acting = act(publisher);
  const after = Array.from({ length: 50 }, (_, index) => publisher.send(index));
  const [, others] = await Promise.all([acting, Promise.allSettled([...before, ...after])]);
  assert.deepEqual(others.map(({ status }) => status), Array(100).fill("fulfilled"));
  assert.equal(await bare.depth(queue), 100);
  assert.equal((await mq.health()).status, "up");
  await mq.close();
  await watching;
  assert.deepEqual(events, []);
}

/** Holds that a send is refused and nothing was written. */
async function refused(sending: Promise<unknown>, what: string): Promise<void> {
  const error: unknown = await sending.then(() => assert.fail(`${what} was sent`), (reason) => reason);
  assert.ok(error instanceof PublishError, `${what}: ${error}`);
  assert.equal(error.code, "ACEMQ_PUBLISH_REFUSED", what);
}

describe("what is refused before it is sent", () => {
  it(
    "is NaN or an infinity in a header, at the top and nested: the connection stays, and so does the rest [BRK-04]",
    {
      skip,
    },
    inWorld(async (world) => {
      await amongOthers(world, async (publisher) => {
        for (const value of [NaN, Infinity, -Infinity]) {
          for (const header of [value, [1, value], { a: { b: [value] } }]) {
            await refused(publisher.send("x", { headers: { header } }), String(value));
          }
        }
      });
      assert.equal(world.sink.count("acemq.publish.total", { outcome: "refused" }), 9);
    }),
  );

  it(
    "is each value no AMQP kind holds, alone and nested, in a window of 100 others [BRK-07]",
    { skip },
    inWorld((world) =>
      amongOthers(world, async (publisher) => {
        for (const [what, value] of Object.entries(UNENCODABLE)) {
          for (const header of [value, [value], { deep: [{ value }] }] as HeaderValue[]) {
            await refused(publisher.send("x", { headers: { header, tenant: "acme" } }), what);
          }
        }
      })
    ),
  );

  it(
    "is such a value also in a message made by hand, which nothing but the adapter looks at",
    { skip },
    inWorld((world) =>
      amongOthers(world, async (publisher) => {
        const prepared = await publisher.prepare("x");
        for (const what of BY_HAND) {
          for (const bad of [UNENCODABLE[what], [UNENCODABLE[what]], { deep: UNENCODABLE[what] }] as WireValue[]) {
            await refused(publisher.sendPrepared({ ...prepared, headers: { ...prepared.headers, bad } }), what);
          }
        }
        const faults = { expirationMs: 1.5, priority: 256, replyTo: "r".repeat(256), routingKey: "k".repeat(256) };
        for (const [name, value] of Object.entries(faults)) {
          await refused(publisher.sendPrepared({ ...prepared, [name]: value }), name);
        }
      })
    ),
  );

  it(
    "is a header under the reserved prefix, at once, with nothing on the queue [ENV-08]",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const publisher = mq.publisher("", queue);
      await assert.rejects(publisher.send(1, { headers: { "x-acemq-mine": 1 } }), {
        code: "ACEMQ_PUBLISH_REFUSED",
        reason: 'the prefix x-acemq- is reserved: found "x-acemq-mine"',
      });
      await assert.rejects(publisher.prepare(1, { headers: { "x-acemq-attempt": 2, "x-acemq-id": "i" } }), {
        reason: 'the prefix x-acemq- is reserved: found "x-acemq-attempt", "x-acemq-id"',
      });
      assert.equal(await bare.depth(queue), 0);
    }),
  );

  it(
    "is a body larger than the broker takes, with 100 confirms open on the channel: they all come [CC-07]",
    { skip },
    inWorld(async (world) => {
      await amongOthers(world, async (publisher) => {
        const body = new Uint8Array(17 * 1_048_576);
        await refused(publisher.sendEncoded({ body, contentType: "application/octet-stream" }), "17 MiB");
      });
    }, { amqp: { maxMessageBytes: 16_777_216 } }),
  );

  it(
    "is a header table over what one frame holds; one that just fits is sent",
    { skip },
    inWorld(async (world) => {
      const { mq, bare } = world;
      const queue = await bare.queue("large");
      const fits = { stops: "s".repeat(130_000) };
      assert.equal((await mq.publisher("", queue).send(1, { headers: fits })).outcome, "confirmed");
      await amongOthers(world, async (publisher) => {
        await refused(publisher.send(1, { headers: { stops: "s".repeat(131_072) } }), "128 KB of headers");
        await refused(
          publisher.send(1, { headers: { done: Array(8_000).fill("a stop on the way") } }),
          "a long list",
        );
      });
    }),
  );

  it(
    "is a name over 255 bytes of UTF-8, however few characters it has; exactly 255 pass [SR-20]",
    { skip },
    inWorld(async (world) => {
      const { mq, bare } = world;
      const exchange = bare.exchangeName("x");
      const queue = await bare.queue("named");
      await bare.once(async (channel) => {
        await channel.assertExchange(exchange, "fanout");
        await channel.bindQueue(queue, exchange, "");
      });
      const umlauts = "ü".repeat(127);
      const exact = `${umlauts}x`;
      const sends = [`${"📦".repeat(63)}abc`, exact];
      for (const name of sends) {
        assert.equal(new TextEncoder().encode(name).byteLength, 255);
        await mq.publisher(exchange, name).send(1, { messageId: name, replyTo: name, headers: { [name]: "v" } });
        const { routingKey, properties, table } = await bare.take(queue);
        assert.deepEqual([routingKey, properties["message-id"], properties["reply-to"], table[name]], [
          name,
          name,
          name,
          "v",
        ]);
      }
      const long = `${umlauts}xy`;
      assert.throws(() => mq.publisher(exchange, long), RangeError);
      assert.throws(() => mq.publisher(long, "key"), RangeError);
      await amongOthers(world, async (publisher) => {
        await refused(publisher.send(1, { messageId: long }), "the id");
        await refused(publisher.send(1, { replyTo: long }), "the reply address");
        await refused(publisher.send(1, { headers: { [long]: 1 } }), "the header name");
        await refused(publisher.send(1, { headers: { deep: [{ [long]: 1 }] } }), "the name inside");
      });
      assert.equal(await bare.depth(queue), 0);
    }),
  );

  it(
    "is an object for the text codec; nothing is on the queue [COD-02]",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      await assert.rejects(mq.publisher("", queue, { codec: "text" }).send({}), { code: "ACEMQ_ENCODE" });
      assert.equal(await bare.depth(queue), 0);
    }),
  );
});
