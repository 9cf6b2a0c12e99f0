/** Recorded messages of other languages, put into a queue as they are, and consumed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jsonCodec } from "../../src/codec/json.ts";
import { textCodec } from "../../src/codec/text.ts";
import type { Message } from "../../src/message/message.ts";
import type { ReceivedMessage } from "../../src/message/received.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { fixtureCases, LANGUAGES } from "../support/fixtures.ts";
import { MemoryWorld } from "../support/memory_world.ts";
import { type MessageCase, receivedMessage } from "../support/recorded_messages.ts";
import { NOW_MS } from "../support/sources.ts";

/** JSON and text by content type, integers exact, as the fixtures mean them; anything else, and what is framed, as its bytes. */
function codecFor({ means }: MessageCase): Codec {
  const codecs = [jsonCodec({ integers: "bigint" }), textCodec()];
  return {
    contentType: "application/json",
    canDecode: () => true,
    encode: () => assert.fail("Nothing is written"),
    decode: (body, context) => {
      const one = means.claimCheck === undefined && codecs.find((codec) => codec.canDecode(context.contentType));
      return one ? one.decode(body, context) : body;
    },
  };
}

interface Consumed {
  readonly world: MemoryWorld;
  readonly queue: string;
  readonly handled: readonly Message[];
}

/** Puts one recorded message in under its exchange and routing key; the handler fails the first time it sees it. */
async function consume(recorded: MessageCase): Promise<Consumed> {
  const { exchange, routingKey, properties, headers, body } = receivedMessage(recorded);
  const world = new MemoryWorld();
  const mq = await world.connect({ codec: codecFor(recorded) });
  const queue = exchange === "" ? routingKey : "orders.new";
  const alone = topology().queue(queue);
  await mq.declare(exchange === "" ? alone : alone.exchange(exchange, "direct").bind(queue, { exchange, routingKey }));
  const handled: Message[] = [];
  await mq.consume(queue, (message) => {
    handled.push(message);
    if (handled.length === 1) throw new Error("no");
  }, { retry: fixedRetry(2 ** 40, { delayMs: 1_000 }) });
  world.broker.put({ exchange, routingKey, properties, headers, body });
  await world.clock.advance(1_000);
  return { world, queue, handled };
}

/** Everything outside the engine's prefix that a copy keeps (contract core 1.2). */
function kept(headers: ReceivedMessage["headers"]): object {
  const dropped = /^(x-acemq-.*|x-death|x-(first|last)-death-.*|x-delivery-count|CC|BCC)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.test(name)));
}

for (const language of LANGUAGES) {
  describe(`a message from ${language}`, () => {
    for (const recorded of fixtureCases<MessageCase>("messages", language)) {
      const { name, means } = recorded;
      if (means.undecodable) {
        it(`that cannot be read is parked with its bytes as they are: ${name}`, async () => {
          const { world, queue, handled } = await consume(recorded);
          assert.deepEqual([handled, world.depth(queue), world.unsettled(queue)], [[], 0, 0]);
          const [parked] = world.waiting(`${queue}.parked`);
          assert.deepEqual(parked?.body, receivedMessage(recorded).body);
          assert.match(String(parked?.headers["x-acemq-error"]), /^could not be decoded: /);
          await world.close();
        });
        continue;
      }
      it(`is what its writer meant, and so is its retry, with everything that came along: ${name}`, async () => {
        const { world, queue, handled } = await consume(recorded);
        const original = receivedMessage(recorded);
        const [first, second] = handled;
        if (first === undefined || second === undefined) return assert.fail("It was not handled twice");
        assert.equal(first.envelope.type, means.type);
        if (means.id !== "fresh-uuid") assert.equal(first.envelope.id, means.id);
        assert.equal(first.envelope.attempt, means.attempt);
        assert.equal(first.envelope.firstSeenMs, means.firstSeenMs === "now" ? NOW_MS : means.firstSeenMs);
        assert.equal(
          first.envelope.correlationId,
          means.correlation === "fresh-uuid" ? first.envelope.id : means.correlation,
        );
        for (const [header, value] of Object.entries(means.headers)) {
          // The broker obeys it and takes it away.
          if (header !== "BCC") assert.deepEqual(first.headers[header], value, header);
        }
        if ("payload" in means && means.claimCheck === undefined) assert.deepEqual(first.payload, means.payload);

        // The attempt is of the 32-bit kind (contract core 1.1), whatever came.
        const attempt = Math.min(first.envelope.attempt + 1, 2 ** 31 - 1);
        assert.deepEqual(second.envelope, { ...first.envelope, attempt });
        assert.deepEqual(second.payload, first.payload);
        const [copy] = world.faults.published;
        assert.deepEqual([copy?.body, copy?.contentType ?? "", copy?.replyTo ?? ""], [
          original.body,
          original.properties.contentType ?? "",
          original.properties.replyTo ?? "",
        ]);
        // Replay stamps of the old spelling go on under the new names.
        assert.deepEqual({ ...kept(copy?.headers ?? {}), ...kept(original.headers) }, kept(copy?.headers ?? {}));
        const gained = Object.keys(kept(copy?.headers ?? {})).filter((header) =>
          !Object.hasOwn(original.headers, header)
        );
        for (const header of gained) assert.ok(Object.hasOwn(original.headers, `x-${header}`), header);
        assert.deepEqual([world.depth(queue), world.unsettled(queue), world.depth(`${queue}.dlq`)], [0, 0, 0]);
        await world.close();
      });
    }
  });
}
