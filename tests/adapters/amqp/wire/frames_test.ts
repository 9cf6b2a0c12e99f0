/** The frames the adapter writes, as another client reads them, and the other way round. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import * as calls from "../../../../adapters/amqp/wire/calls.ts";
import { writeMethod } from "../../../../adapters/amqp/wire/frame_writer.ts";
import * as handshake from "../../../../adapters/amqp/wire/handshake_frames.ts";
import * as method from "../../../../adapters/amqp/wire/method_frames.ts";
import { writeBodyFrame, writePublish } from "../../../../adapters/amqp/wire/publish_frames.ts";
import type { Outbound } from "../../../../src/message/outbound.ts";
import { hexOf, readerOf, written } from "../../../support/amqp_codec.ts";
import { messageFor } from "../../../support/amqp_connection.ts";
import { framesOf, type Method, methodFrame } from "../../../support/amqp_frames.ts";

const TARGET = { channel: 7, frameMax: 131_072 };

/** One call as another client reads it. */
function called(call: calls.Call): Pick<Method, "name" | "channel" | "fields"> {
  const [frame] = framesOf(written((writer) => writeMethod(writer, TARGET, call)));
  assert.ok(frame?.type === "method");
  return { name: frame.name, channel: frame.channel, fields: frame.fields };
}

function published(outbound: Outbound, frameMax = TARGET.frameMax): Uint8Array {
  return written((writer) => writePublish(writer, outbound, { ...TARGET, frameMax, messageId: "m" }));
}

/** Past the head of a method frame: where the adapter's readers begin. */
function argumentsOf(name: string, fields: object): Uint8Array {
  return methodFrame(name, 7, fields).subarray(11, -1);
}

describe("a call", () => {
  const args = { "x-max-length": 10, "x-expires": 3_000_000_000, "x-ratio": 3.14 };
  const cases: readonly (readonly [string, calls.Call, object])[] = [
    ["ChannelOpen", calls.openChannel(), { outOfBand: "" }],
    ["ChannelClose", calls.closeChannel(), { replyCode: 200, replyText: "", classId: 0, methodId: 0 }],
    ["ConfirmSelect", calls.selectConfirms(), { nowait: false }],
    ["BasicQos", calls.limitPrefetch(65_535), { prefetchSize: 0, prefetchCount: 65_535, global: false }],
    ["BasicConsume", calls.consume({ queue: "q", consumerTag: "t", arguments: args }), {
      ticket: 0,
      queue: "q",
      consumerTag: "t",
      noLocal: false,
      noAck: false,
      exclusive: false,
      nowait: false,
      arguments: args,
    }],
    ["BasicCancel", calls.cancelConsumer("t"), { consumerTag: "t", nowait: false }],
    ["BasicGet", calls.getMessage("q"), { ticket: 0, queue: "q", noAck: false }],
    ["QueuePurge", calls.purgeQueue("q"), { ticket: 0, queue: "q", nowait: false }],
    ["QueueDelete", calls.deleteQueue("q"), { ticket: 0, queue: "q", ifUnused: false, ifEmpty: false, nowait: false }],
    ["ExchangeDelete", calls.deleteExchange("x"), { ticket: 0, exchange: "x", ifUnused: false, nowait: false }],
  ];
  for (const [name, call, fields] of cases) {
    it(`is ${name} to another client`, () => {
      assert.deepEqual(called(call), { name, channel: 7, fields: fields });
    });
  }

  it("declares a queue with exactly the flags that were asked for", () => {
    for (const flag of ["durable", "exclusive", "autoDelete"]) {
      const spec = { durable: false, exclusive: false, autoDelete: false, [flag]: true };
      const { name, fields } = called(calls.declareQueue({ name: "q", ...spec, arguments: args }));
      const expected = { ticket: 0, queue: "q", passive: false, ...spec, nowait: false, arguments: args };
      assert.deepEqual({ name, fields }, { name: "QueueDeclare", fields: expected });
    }
    assert.equal(called(calls.checkQueue("q")).fields["passive"], true);
  });

  it("declares an exchange with exactly the flags that were asked for", () => {
    for (const flag of ["durable", "autoDelete"]) {
      const spec = { durable: false, autoDelete: false, [flag]: true };
      const { fields } = called(calls.declareExchange({ name: "x", type: "topic", ...spec, arguments: {} }));
      const kind = { ticket: 0, exchange: "x", type: "topic", passive: false };
      assert.deepEqual(fields, { ...kind, ...spec, internal: false, nowait: false, arguments: {} });
    }
    assert.equal(called(calls.checkExchange("x")).fields["passive"], true);
  });

  it("binds with every argument as it was given, a fraction in double precision (trap 2)", () => {
    const spec = { queue: "q", exchange: "x", routingKey: "k", arguments: { ...args, "x-match": "all" } };
    assert.deepEqual(called(calls.bindQueue(spec)), {
      name: "QueueBind",
      channel: 7,
      fields: { ticket: 0, ...spec, nowait: false },
    });
  });

  it("may have as many arguments as one frame holds, not 4 KB of them, and no more (trap 7)", () => {
    const spec = (bytes: number) => ({ queue: "q", consumerTag: "t", arguments: { a: "x".repeat(bytes) } });
    const largest = 131_064 - 22;
    assert.equal(called(calls.consume(spec(largest))).name, "BasicConsume");
    assert.throws(() => called(calls.consume(spec(largest + 1))), /takes more bytes than one frame holds/);
  });

  it("leaves nothing behind when it cannot be written", () => {
    const bytes = written((writer) => {
      writeMethod(writer, TARGET, calls.purgeQueue("before"));
      const bad = { queue: "q", consumerTag: "t", arguments: { a: { b: NaN } } };
      assert.throws(() => writeMethod(writer, TARGET, calls.consume(bad)), /^Unwritable: argument "a"\."b" is NaN/);
      writeMethod(writer, TARGET, calls.purgeQueue("after"));
    });
    assert.deepEqual(
      framesOf(bytes).map((frame) => frame.type === "method" && frame.fields["queue"]),
      ["before", "after"],
    );
  });
});

describe("a publish", () => {
  const message = messageFor("order.\u00fc", { exchange: "sh\u00f6p", contentType: "text/plain" });

  it("is a method and a content header to another client", () => {
    for (const mandatory of [true, false]) {
      const [publish, header] = framesOf(published({ ...message, mandatory }));
      assert.ok(publish?.type === "method" && header?.type === "header");
      const { name, channel, fields } = publish;
      assert.deepEqual({ name, channel }, { name: "BasicPublish", channel: 7 });
      assert.deepEqual(
        { ...fields },
        { ticket: 0, exchange: "sh\u00f6p", routingKey: "order.\u00fc", mandatory, immediate: false },
      );
      assert.equal(header.bodySize, 3);
      assert.equal(header.fields["messageId"], "m");
    }
  });

  it("has its body in frames", () => {
    const [frame] = framesOf(written((writer) => writeBodyFrame(writer, 7, Uint8Array.of(1, 2))));
    assert.deepEqual(frame, { type: "body", channel: 7, payload: Uint8Array.of(1, 2) });
  });

  it("takes a routing key of 255 bytes and refuses one of 256, counted in UTF-8 [SR-20]", () => {
    for (const part of ["exchange", "routingKey"]) {
      const [name, words] = ["\u00fc".repeat(127), part === "exchange" ? "exchange" : "routing key"];
      const [publish] = framesOf(published({ ...message, [part]: `${name}a` }));
      assert.ok(publish?.type === "method");
      assert.equal(publish.fields[part], `${name}a`);
      assert.throws(() => published({ ...message, [part]: `${name}ab` }), {
        message: `the ${words} must fit 255 bytes of UTF-8, found 256`,
      });
    }
  });

  it("has headers up to the last byte of a frame, and is refused with one more (trap 7)", () => {
    const frameMax = 4_096;
    const headers = (bytes: number) => ({ ...message, headers: { h: "x".repeat(bytes) } });
    const empty = published(headers(0)).byteLength - published(headers(0)).indexOf(0xce) - 1;
    const room = frameMax - empty;
    const frames = framesOf(published(headers(room), frameMax));
    assert.equal(frames.length, 2);
    assert.throws(() => published(headers(room + 1), frameMax), /takes more bytes than one frame holds/);
  });

  it("leaves nothing behind when it cannot be written [BRK-07]", () => {
    const bytes = written((writer) => {
      const to = { ...TARGET, messageId: "m" };
      writePublish(writer, message, to);
      assert.throws(() => writePublish(writer, { ...message, headers: { a: 1, b: Infinity } }, to), /^Unwritable: /);
      writePublish(writer, message, to);
    });
    assert.equal(hexOf(bytes), hexOf(published(message)).repeat(2));
  });
});

describe("a settlement", () => {
  it("is an ack or a nack of one delivery to another client", () => {
    const tag = 2 ** 40 + 5;
    const bytes = written((writer) => {
      method.writeAck(writer, 3, tag);
      method.writeNack(writer, 3, { deliveryTag: tag, requeue: true });
      method.writeNack(writer, 3, { deliveryTag: 2 ** 32 - 1, requeue: false });
      method.writeCancelOk(writer, 3, "tag");
    });
    const found = framesOf(bytes).map((frame) => frame.type === "method" && [frame.name, { ...frame.fields }]);
    assert.deepEqual(found, [
      ["BasicAck", { deliveryTag: tag, multiple: false }],
      ["BasicNack", { deliveryTag: tag, multiple: false, requeue: true }],
      ["BasicNack", { deliveryTag: 2 ** 32 - 1, multiple: false, requeue: false }],
      ["BasicCancelOk", { consumerTag: "tag" }],
    ]);
  });
});

describe("a method from the broker", () => {
  it("is read as another client wrote it", () => {
    const where = { exchange: "sh\u00f6p", routingKey: "k" };
    const delivery = { consumerTag: "t", deliveryTag: 2 ** 33 + 1, redelivered: true, ...where };
    assert.deepEqual(method.readDelivery(readerOf(argumentsOf("BasicDeliver", delivery))), {
      kind: "delivery",
      ...delivery,
    });
    const got = { deliveryTag: 9, redelivered: false, ...where, messageCount: 4 };
    assert.deepEqual(method.readGetOk(readerOf(argumentsOf("BasicGetOk", got))), {
      kind: "got",
      ...got,
    });
    const returned = argumentsOf("BasicReturn", { replyCode: 312, replyText: "NO_ROUTE", ...where });
    assert.deepEqual(method.readReturn(readerOf(returned)), {
      kind: "returned",
      code: 312,
      text: "NO_ROUTE",
      ...where,
    });
    for (const multiple of [true, false]) {
      const confirm = argumentsOf("BasicAck", { deliveryTag: 5, multiple });
      assert.deepEqual(method.readConfirm(readerOf(confirm)), { tag: 5, multiple });
      const nack = argumentsOf("BasicNack", { deliveryTag: 6, multiple, requeue: true });
      assert.deepEqual(method.readConfirm(readerOf(nack)), { tag: 6, multiple });
      const cancel = argumentsOf("BasicCancel", { consumerTag: "t", nowait: multiple });
      assert.deepEqual(method.readCancel(readerOf(cancel)), { consumerTag: "t", noWait: multiple });
    }
    const close = { replyCode: 404, replyText: "NOT_FOUND - \u00fc", classId: 60, methodId: 40 };
    assert.deepEqual(method.readClose(readerOf(argumentsOf("ChannelClose", close))), {
      code: 404,
      text: "NOT_FOUND - \u00fc",
      classId: 60,
      methodId: 40,
    });
  });
});

describe("the handshake", () => {
  it("reads what the broker says of itself", () => {
    const start = {
      serverProperties: { product: "RabbitMQ", inner: { yes: true } },
      mechanisms: bytes("PLAIN EXTERNAL"),
    };
    assert.deepEqual(handshake.readStart(readerOf(argumentsOf("ConnectionStart", start))), {
      serverProperties: { product: "RabbitMQ", inner: { yes: true } },
      mechanisms: ["PLAIN", "EXTERNAL"],
    });
    const tune = { channelMax: 2_047, frameMax: 131_072, heartbeat: 60 };
    assert.deepEqual(handshake.readTune(readerOf(argumentsOf("ConnectionTune", tune))), {
      channelMax: 2_047,
      frameMax: 131_072,
      heartbeatSeconds: 60,
    });
  });

  it("names the connection, the library and what it understands", () => {
    const answer = { connectionName: "checkout", mechanism: "PLAIN", response: bytes("\0u\0p") };
    const [frame] = framesOf(written((writer) => handshake.writeStartOk(writer, answer)));
    assert.ok(frame?.type === "method");
    const { clientProperties, mechanism, response, locale } = frame.fields as Record<string, Record<string, unknown>>;
    assert.deepEqual({ ...clientProperties, capabilities: { ...clientProperties?.["capabilities"] as object } }, {
      connection_name: "checkout",
      product: "@acemq/amqp",
      capabilities: {
        "authentication_failure_close": true,
        "basic.nack": true,
        "connection.blocked": true,
        "consumer_cancel_notify": true,
        "publisher_confirms": true,
      },
    });
    assert.deepEqual([mechanism, hexOf(response as unknown as Uint8Array), locale], ["PLAIN", "00750070", "en_US"]);
  });

  it("settles on the lower wish, and on the other's where one side has none", () => {
    const ours = { channelMax: 0, frameMax: 131_072, heartbeatSeconds: 30 };
    const of = (channelMax: number, frameMax: number, heartbeatSeconds: number) =>
      handshake.negotiate(ours, { channelMax, frameMax, heartbeatSeconds });
    assert.deepEqual(of(2_047, 131_072, 60), { channelMax: 2_047, frameMax: 131_072, heartbeatSeconds: 30 });
    assert.deepEqual(of(100, 4_096, 10), { channelMax: 100, frameMax: 4_096, heartbeatSeconds: 10 });
    assert.deepEqual(of(0, 0, 0), { channelMax: 0, frameMax: 131_072, heartbeatSeconds: 30 });
  });

  it("opens the virtual host it was told to", () => {
    const bytesWritten = written((writer) => {
      handshake.writeTuneOk(writer, { channelMax: 5, frameMax: 4_096, heartbeatSeconds: 10 });
      handshake.writeOpen(writer, "a/b");
    });
    const found = framesOf(bytesWritten).map((frame) => frame.type === "method" && [frame.name, { ...frame.fields }]);
    assert.deepEqual(found, [
      ["ConnectionTuneOk", { channelMax: 5, frameMax: 4_096, heartbeat: 10 }],
      ["ConnectionOpen", { virtualHost: "a/b", capabilities: "", insist: false }],
    ]);
  });
});

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}
