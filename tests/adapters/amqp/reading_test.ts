/** Reading what arrives on the socket: in pieces of any size, from buffers shared with anything, and malformed. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { after, before, describe, it } from "node:test";
import type { LinkChannel } from "../../../adapters/amqp/link_channel.ts";
import type { LinkFailure } from "../../../adapters/amqp/link_failure.ts";
import type { SocketClient } from "../../../adapters/amqp/socket_client.ts";
import type { Content } from "../../../adapters/amqp/wire/content_assembler.ts";
import { WireUnsigned } from "../../../src/message/wire_value.ts";
import { messageFor, openAmqp, queueSpec, reading } from "../../support/amqp_connection.ts";
import { openSocket } from "../../support/amqp_socket.ts";
import { bodyFrame, deliveryFrames, headerFrame, joined, methodFrame } from "../../support/amqp_frames.ts";
import { confirmAll, ScriptedBroker } from "../../support/scripted_broker.ts";
import { until } from "../../support/until.ts";

const BODY = Uint8Array.from({ length: 40 }, (_, index) => index);
const HEADERS = { "x-text": "gr\u00fcn", "x-bytes": Buffer.from([1, 2, 3]), "x-list": ["a", { b: true }] };

/** A connection of the client alone, whose socket a test feeds. */
interface Fed {
  readonly client: SocketClient;
  readonly channel: LinkChannel;
  readonly contents: Content[];
  readonly failures: readonly LinkFailure[];
  /** As if the socket had read these bytes. */
  readonly feed: (chunk: Buffer) => void;
}

async function fed(broker: ScriptedBroker): Promise<Fed> {
  const { client, failures } = await openSocket(broker);
  const contents: Content[] = [];
  const channel = await client.openChannel();
  channel.listen({ onContent: (content) => contents.push(content) });
  return { client, channel, contents, failures, feed: (chunk) => void client.socket?.emit("data", chunk) };
}

describe("bytes from the socket", () => {
  let broker: ScriptedBroker;
  before(async () => void (broker = await ScriptedBroker.open()));
  after(() => broker.close());

  it("are read from a pooled buffer at every offset and over every split [CN-02]", async () => {
    const { client, channel, contents, failures, feed } = await fed(broker);
    const frames = deliveryFrames(channel.id, {
      fields: { consumerTag: "t", deliveryTag: 7, exchange: "x", routingKey: "order.placed" },
      properties: { messageId: "m", headers: HEADERS },
      body: BODY,
    });
    const pool = Buffer.alloc(frames.byteLength + 64, 0xee);
    for (let offset = 0; offset < 64; offset += offset < 9 ? 1 : 11) {
      for (let split = 0; split <= frames.byteLength; split++) {
        pool.fill(0xee);
        pool.set(frames, offset);
        feed(pool.subarray(offset, offset + split));
        feed(pool.subarray(offset + split, offset + frames.byteLength));
      }
    }
    pool.fill(0xee);
    assert.deepEqual(failures, []);
    const offsets = 9 + 5;
    assert.equal(contents.length, offsets * (frames.byteLength + 1));
    for (const { method, message } of contents) {
      assert.equal(method.kind === "delivery" && method.deliveryTag, 7);
      assert.deepEqual([message.exchange, message.routingKey], ["x", "order.placed"]);
      assert.deepEqual(message.headers, { ...HEADERS, "x-bytes": Uint8Array.of(1, 2, 3) });
      assert.deepEqual(message.body, BODY);
    }
    client.abort({ kind: "hung_up" });
  });

  it("are read byte by byte", async () => {
    const { client, channel, contents, feed } = await fed(broker);
    const fields = { consumerTag: "t", deliveryTag: 1 };
    for (const byte of deliveryFrames(channel.id, { fields, body: BODY })) feed(Buffer.from([byte]));
    assert.deepEqual(contents.map(({ message }) => message.body), [BODY]);
    client.abort({ kind: "hung_up" });
  });

  it("are read many frames at a time", async () => {
    const { client, channel, contents, feed } = await fed(broker);
    const one = (deliveryTag: number) =>
      deliveryFrames(channel.id, { fields: { consumerTag: "t", deliveryTag }, body: new Uint8Array(deliveryTag % 3) });
    feed(Buffer.from(joined(...Array.from({ length: 500 }, (_, index) => one(index + 1)))));
    const tags = contents.map(({ method }) => method.kind === "delivery" && method.deliveryTag);
    assert.deepEqual(tags, Array.from({ length: 500 }, (_, index) => index + 1));
    client.abort({ kind: "hung_up" });
  });

  it("are not read any more once the link is given up", async () => {
    const { client, channel, contents, failures, feed } = await fed(broker);
    client.abort({ kind: "silent" });
    feed(Buffer.from(deliveryFrames(channel.id, { fields: { consumerTag: "t", deliveryTag: 1 }, body: BODY })));
    assert.deepEqual([contents.length, failures], [0, [{ kind: "silent" }]]);
  });

  const frame = (type: number, payload: Uint8Array, { size = payload.byteLength, end = 0xce } = {}): Uint8Array => {
    const bytes = new Uint8Array(payload.byteLength + 8);
    const view = new DataView(bytes.buffer);
    view.setUint8(0, type);
    view.setUint16(1, 1);
    view.setUint32(3, size);
    bytes.set(payload, 7);
    view.setUint8(7 + payload.byteLength, end);
    return bytes;
  };
  const malformed: readonly (readonly [string, Uint8Array])[] = [
    ["a frame that does not end where it should", frame(1, Uint8Array.of(0, 60, 0, 80), { end: 0 })],
    ["a frame longer than any", joined(frame(3, new Uint8Array(4), { size: 0x7fff_fff0 }), new Uint8Array(200_000))],
    ["a frame of a negative size", frame(3, new Uint8Array(4), { size: 0xffff_ff00 })],
    ["a frame whose size is minus eight, which never ends", frame(3, new Uint8Array(4), { size: 0xffff_fff8 })],
    ["a frame of an unknown type", frame(9, new Uint8Array(4))],
    ["a method cut off", frame(1, Uint8Array.of(0, 60, 0, 60, 5))],
    ["a method without a number", frame(1, Uint8Array.of(0, 60))],
    ["a body that nothing announced", frame(3, new Uint8Array(4))],
    ["a header that nothing announced", headerFrame(1, 0)],
    ["a body larger than can be", joined(delivery(), headerFrame(1, Number.MAX_SAFE_INTEGER), bodyFrame(1, BODY))],
    ["a header of an unknown kind", joined(delivery(), frame(2, headerOfKind("z")))],
  ];
  for (const [what, bytes] of malformed) {
    it(`end the link instead of throwing out of the socket or wedging it: ${what} (trap 5)`, async () => {
      const { client, failures, feed } = await fed(broker);
      feed(Buffer.from(bytes));
      await client.over;
      assert.deepEqual(failures.map(({ kind }) => kind), ["protocol"]);
      assert.equal(client.socket === undefined || client.socket.destroyed, true);
    });
  }
});

describe("a message of another client", () => {
  it("may have an unsigned 64-bit header, which wedges the bare client (trap 5)", async () => {
    await withConsumer(async ({ broker, channel, deliveries, events }) => {
      const header = Buffer.from(headerOfKind("L", Buffer.alloc(8, 0xff)));
      const raw = frameOf(2, channel, header);
      broker.send(delivery(channel), raw);
      await until("the delivery", () => deliveries.length === 1);
      assert.deepEqual(deliveries[0]?.message.headers, { h: new WireUnsigned(2n ** 64n - 1n) });
      assert.deepEqual(events, []);
    });
  });

  it("may have 100 KB of headers (trap 6)", async () => {
    await withConsumer(async ({ broker, channel, deliveries }) => {
      const text = Buffer.alloc(100_000, "x");
      const length = Buffer.alloc(4);
      length.writeUInt32BE(text.byteLength);
      broker.send(delivery(channel), frameOf(2, channel, headerOfKind("S", joined(length, text))));
      await until("the delivery", () => deliveries.length === 1);
      assert.equal(deliveries[0]?.message.headers["h"], text.toString());
    });
  });

  it("keeps its bytes while others arrive after it (trap 8)", async () => {
    await withConsumer(async ({ broker, channel, deliveries }) => {
      const total = 2_000;
      for (let index = 0; index < total; index++) {
        const mark = Buffer.alloc(50, index % 251);
        const properties = { headers: { mark } };
        broker.send(deliveryFrames(channel, { fields: fieldsOf("t", index + 1), properties, body: mark }));
      }
      await until("all deliveries", () => deliveries.length === total);
      for (const [index, { message }] of deliveries.entries()) {
        const mark = new Uint8Array(50).fill(index % 251);
        assert.deepEqual([message.headers["mark"], message.body], [mark, mark], String(index));
      }
    });
  });

  it("that cannot be read costs the link, not the process: the connection comes back (trap 5)", async () => {
    await withConsumer(async ({ broker, channel, events, publish }) => {
      broker.send(joined(delivery(channel), frameOf(2, channel, headerOfKind("z"))));
      await until("a new link", () => events.includes("recovered"));
      assert.deepEqual(events.filter((type) => type !== "retrying"), ["lost", "recovered"]);
      assert.equal((await publish()).outcome, "confirmed");
    });
  });
});

/** Runs something with a consumer on a scripted broker. */
async function withConsumer(
  run: (under: {
    readonly broker: { readonly send: (...frames: readonly Uint8Array[]) => void };
    readonly channel: number;
    readonly deliveries: Awaited<ReturnType<typeof reading>>["deliveries"];
    readonly events: readonly string[];
    readonly publish: () => Promise<{ readonly outcome: string }>;
  }) => Promise<void>,
): Promise<void> {
  const broker = await ScriptedBroker.open({ onMessage: confirmAll });
  const events: string[] = [];
  const { mq } = await openAmqp(broker.url, { onEvent: ({ type }) => events.push(type) });
  await mq.declareQueue(queueSpec("q"));
  const { deliveries } = await reading(mq, "q", { tag: "t" });
  const client = await broker.client();
  const { channel } = await client.received("BasicConsume");
  const publish = () => mq.publish(messageFor("q"), { lane: 1, confirm: true });
  try {
    await run({ broker: client, channel, deliveries, events, publish });
  } finally {
    await mq.close();
    await broker.close();
  }
}

function fieldsOf(consumerTag: string, deliveryTag: number): object {
  return { consumerTag, deliveryTag };
}

function delivery(channel = 1): Uint8Array {
  return methodFrame("BasicDeliver", channel, {
    consumerTag: "t",
    deliveryTag: 1,
    redelivered: false,
    exchange: "",
    routingKey: "",
  });
}

/** The payload of a content header with one header `h` of a kind, for a message without a body. */
function headerOfKind(kind: string, value: Uint8Array = new Uint8Array()): Uint8Array {
  const entry = joined(Uint8Array.of(1, 0x68, kind.charCodeAt(0)), value);
  const fixed = Buffer.alloc(18);
  fixed.writeUInt16BE(60, 0);
  fixed.writeUInt16BE(0x2000, 12);
  fixed.writeUInt32BE(entry.byteLength, 14);
  return joined(fixed, entry);
}

function frameOf(type: number, channel: number, payload: Uint8Array): Uint8Array {
  const head = Buffer.alloc(7);
  head.writeUInt8(type, 0);
  head.writeUInt16BE(channel, 1);
  head.writeUInt32BE(payload.byteLength, 3);
  return joined(head, payload, Uint8Array.of(0xce));
}
