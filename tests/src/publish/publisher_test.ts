import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesCodec } from "../../../src/codec/bytes.ts";
import { textCodec } from "../../../src/codec/text.ts";
import type { ConnectOptions } from "../../../src/connect_options.ts";
import { type Connection, openConnection } from "../../../src/connection.ts";
import { AceMqError, EncodeError, PublishError, type PublishErrorCode, RetryableError } from "../../../src/errors.ts";
import { newEnvelope } from "../../../src/message/envelope.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { PublishReceipt } from "../../../src/ports/broker.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import type { SendOptions } from "../../../src/publish/send_options.ts";
import { RecordingSink } from "../../support/recording_sink.ts";
import { PuppetBroker } from "../../support/puppet_broker.ts";
import { deferred } from "../../support/until.ts";

/** A connection whose ids are counted, and what is behind it. */
async function connected(
  options: ConnectOptions = {},
): Promise<
  { readonly puppet: PuppetBroker; readonly sink: RecordingSink; readonly mq: Connection; last(): Outbound }
> {
  const puppet = new PuppetBroker();
  const sink = new RecordingSink();
  let ids = 0;
  const mq = await openConnection(puppet, { telemetry: sink, newId: () => `id-${++ids}`, name: "shop", ...options });
  const last = (): Outbound => {
    const handed = puppet.handed.at(-1);
    assert.ok(handed !== undefined, "nothing was handed to the broker");
    return handed.outbound;
  };
  return { puppet, sink, mq, last };
}

/** The labels of the only publish that was counted, and the time that was measured with it. */
function onlyPublish(
  sink: RecordingSink,
): { readonly labels: Readonly<Record<string, string>>; readonly seconds: number } {
  const [total, duration] = sink.metrics;
  assert.deepEqual(sink.metrics.map(({ name, kind }) => [name, kind]), [
    ["acemq.publish.total", "counter"],
    ["acemq.publish.duration", "histogram"],
  ]);
  assert.ok(total !== undefined && duration !== undefined);
  assert.equal(total.value, 1);
  assert.deepEqual(duration.labels, total.labels);
  return { labels: total.labels, seconds: duration.value };
}

describe("a publisher", () => {
  it("resolves with the id, the outcome and the time it took, and counts the publish", async () => {
    const { puppet, sink, mq } = await connected();
    puppet.hold();
    const sent = mq.publisher("orders", "order.placed").send({ orderId: "A-19" });
    await puppet.clock.advance(250);
    puppet.handed[0]?.answer({ outcome: "confirmed" });
    assert.deepEqual(await sent, { messageId: "id-1", outcome: "confirmed", latencyMs: 250 });
    assert.deepEqual(onlyPublish(sink), {
      labels: {
        exchange: "orders",
        "routing.key": "order.placed",
        "message.type": "order.placed",
        transport: "puppet",
        outcome: "confirmed",
      },
      seconds: 0.25,
    });
  });

  it("writes what the contract writes on every publish, each of the kind it has there", async () => {
    const { puppet, mq, last } = await connected();
    await mq.publisher("orders", "order.placed").send({ orderId: "A-19" });
    assert.deepEqual(last(), {
      exchange: "orders",
      routingKey: "order.placed",
      body: new TextEncoder().encode('{"orderId":"A-19"}'),
      contentType: "application/json",
      messageId: "id-1",
      headers: {
        "x-acemq-id": "id-1",
        "x-acemq-type": "order.placed",
        "x-acemq-version": 1,
        "x-acemq-correlation": "id-1",
        "x-acemq-attempt": 1,
        "x-acemq-first-seen": BigInt(puppet.clock.now()),
        "x-acemq-origin": "shop@host.test",
      },
      persistent: true,
      mandatory: true,
      replyTo: undefined,
      priority: undefined,
      expirationMs: undefined,
    });
  });

  it("takes everything a message may say of its own", async () => {
    const { mq, last } = await connected();
    const cause = newEnvelope({ type: "order.placed", id: "parent", correlationId: "cart-8812" });
    await mq.publisher("", "invoices", { codec: "text" }).send("due", {
      messageId: "invoice-7",
      type: "invoice.due",
      causedBy: { envelope: cause },
      headers: { tenant: "acme", retries: 3, skipped: undefined },
      claim: "bucket/7",
      priority: 255,
      expirationMs: 60_000,
      persistent: false,
      mandatory: false,
      replyTo: "answers",
    });
    const { headers, body, ...properties } = last();
    assert.deepEqual(properties, {
      exchange: "",
      routingKey: "invoices",
      contentType: "text/plain; charset=utf-8",
      messageId: "invoice-7",
      persistent: false,
      mandatory: false,
      replyTo: "answers",
      priority: 255,
      expirationMs: 60_000,
    });
    assert.equal(new TextDecoder().decode(body), "due");
    const { "x-acemq-first-seen": _, ...others } = headers;
    assert.deepEqual(others, {
      "x-acemq-id": "invoice-7",
      "x-acemq-type": "invoice.due",
      "x-acemq-version": 1,
      "x-acemq-correlation": "cart-8812",
      "x-acemq-causation": "parent",
      "x-acemq-attempt": 1,
      "x-acemq-origin": "shop@host.test",
      "x-acemq-claim": "bucket/7",
      tenant: "acme",
      retries: 3,
    });
  });

  it("takes what its messages have in common, and lets each message say otherwise", async () => {
    const { mq, last } = await connected();
    const headers = { tenant: "acme", region: "eu" };
    const publisher = mq.publisher("", "q", {
      type: "common",
      version: 4,
      mandatory: false,
      persistent: false,
      headers,
    });
    await publisher.send(1);
    assert.deepEqual(
      [last().headers["x-acemq-type"], last().headers["x-acemq-version"], last().mandatory, last().persistent],
      ["common", 4, false, false],
    );
    await publisher.send(1, { type: "own", mandatory: true, persistent: true, headers: { region: "us" } });
    assert.deepEqual([last().headers["x-acemq-type"], last().mandatory, last().persistent], ["own", true, true]);
    assert.deepEqual([last().headers["tenant"], last().headers["region"]], ["acme", "us"]);
  });

  it("lets a correlation of its own stand beside the cause", async () => {
    const { mq, last } = await connected();
    const causedBy = { envelope: newEnvelope({ type: "t", id: "parent", correlationId: "theirs" }) };
    await mq.publisher("", "q").send(1, { causedBy, correlationId: "ours" });
    assert.deepEqual(
      [last().headers["x-acemq-correlation"], last().headers["x-acemq-causation"]],
      ["ours", "parent"],
    );
  });

  it("takes empty text for not set", async () => {
    const { mq, last } = await connected();
    const causedBy = { envelope: newEnvelope({ type: "t", id: "parent", correlationId: "theirs" }) };
    const empty: SendOptions = { messageId: "", type: "", correlationId: "", claim: "", replyTo: "" };
    await mq.publisher("", "q").send(1, { ...empty, causedBy });
    const { headers, messageId, replyTo } = last();
    assert.deepEqual([messageId, headers["x-acemq-id"], headers["x-acemq-type"]], ["id-1", "id-1", "q"]);
    assert.deepEqual([headers["x-acemq-correlation"], replyTo], ["theirs", undefined]);
    assert.equal("x-acemq-claim" in headers, false);
  });

  it("calls a message without a routing key `message`, on the wire and in the metrics", async () => {
    const { sink, mq, last } = await connected();
    const publisher = mq.publisher("audit", "");
    await publisher.send(1);
    assert.equal(last().headers["x-acemq-type"], "message");
    await assert.rejects(publisher.send(undefined), EncodeError);
    assert.deepEqual(sink.metrics.map(({ labels }) => labels["message.type"]), Array(4).fill("message"));
  });

  it("leaves the broker's bookkeeping out of headers that are handed on", async () => {
    const { mq, last } = await connected();
    const received = { "x-death": [{ count: 1 }], "x-delivery-count": 2, "x-first-death-queue": "q", tenant: "acme" };
    await mq.publisher("", "q").send(1, { headers: received });
    const application = Object.keys(last().headers).filter((name) => !name.startsWith("x-acemq-"));
    assert.deepEqual(application, ["tenant"]);
  });

  it("prepares the bytes that send sends, and sends nothing", async () => {
    const { puppet, mq, last } = await connected({ newId: () => "one" });
    const publisher = mq.publisher("orders", "order.placed");
    const prepared = await publisher.prepare({ orderId: "A-19" }, { headers: { tenant: "acme" } });
    assert.equal(puppet.handed.length, 0);
    await publisher.send({ orderId: "A-19" }, { headers: { tenant: "acme" } });
    assert.deepEqual(prepared, last());
  });

  it("sends what was prepared as it is, also before it is ready", async () => {
    const { mq, last } = await connected();
    const publisher = mq.publisher("orders", "order.placed");
    const prepared = await publisher.prepare({ orderId: "A-19" });
    assert.equal((await publisher.sendPrepared(prepared)).messageId, prepared.messageId);
    assert.equal(last(), prepared);
    await publisher.sendPrepared(publisher.prepare(1));
    assert.equal(last().messageId, "id-2");
  });

  it("counts what it was to send and could not be prepared", async () => {
    const { sink, mq } = await connected();
    const publisher = mq.publisher("", "q");
    await assert.rejects(publisher.sendPrepared(publisher.prepare(undefined)), EncodeError);
    assert.equal(onlyPublish(sink).labels["outcome"], "refused");
  });

  it("sends bytes encoded elsewhere, under their own content type and with the headers the codec owns", async () => {
    const { mq, last } = await connected();
    const publisher = mq.publisher("", "scans", { codec: "bytes" });
    const encoded = { body: new Uint8Array([1, 2]), contentType: "image/png", headers: { digest: "d" } };
    await publisher.sendEncoded(encoded, { headers: { "claim-key": "k", digest: "overruled" } });
    assert.equal(last().body, encoded.body);
    assert.deepEqual([last().contentType, last().headers["claim-key"], last().headers["digest"]], [
      "image/png",
      "k",
      "d",
    ]);
    await publisher.sendEncoded({ body: new Uint8Array() });
    assert.equal(last().contentType, "application/octet-stream");
  });

  it("goes by the options it was made with, whatever becomes of the object", async () => {
    const { mq, last } = await connected();
    const options: { type: string; headers: Record<string, string> } = { type: "t", headers: { tenant: "acme" } };
    const publisher = mq.publisher("", "q", options);
    options.type = "other";
    options.headers["tenant"] = "other";
    await publisher.send(1);
    assert.deepEqual([last().headers["x-acemq-type"], last().headers["tenant"]], ["t", "acme"]);
  });

  it("is inert: making one declares nothing and sends nothing", async () => {
    const { puppet, mq } = await connected();
    mq.publisher("nowhere", "nothing");
    await puppet.clock.advance(0);
    assert.equal(puppet.handed.length, 0);
  });
});

describe("the outcome of a publish", () => {
  const answers: readonly (readonly [PublishReceipt, PublishErrorCode, string])[] = [
    [{ outcome: "unroutable", reason: "312 NO_ROUTE" }, "ACEMQ_PUBLISH_UNROUTABLE", "unroutable"],
    [{ outcome: "nacked", reason: "the broker rejected the message" }, "ACEMQ_PUBLISH_NACKED", "failed"],
    [{ outcome: "paused", reason: "the connection is recovering" }, "ACEMQ_PUBLISH_PAUSED", "refused"],
    [{ outcome: "refused", reason: "the body is too large", written: false }, "ACEMQ_PUBLISH_REFUSED", "refused"],
    [{ outcome: "refused", reason: "404 NOT_FOUND", written: true }, "ACEMQ_PUBLISH_REFUSED", "failed"],
    [{ outcome: "unknown", reason: "the connection was lost" }, "ACEMQ_PUBLISH_UNKNOWN", "failed"],
  ];
  for (const [receipt, code, word] of answers) {
    it(`is ${code}, counted as ${word}, when the broker says ${JSON.stringify(receipt)}`, async () => {
      const { puppet, sink, mq } = await connected();
      puppet.respond = () => receipt;
      await assert.rejects(mq.publisher("orders", "order.placed").send(1), (error: unknown) => {
        assert.ok(error instanceof PublishError);
        const { exchange, routingKey, messageId, reason, message } = error;
        assert.deepEqual([error.code, exchange, routingKey, messageId], [code, "orders", "order.placed", "id-1"]);
        assert.equal(reason, "reason" in receipt && receipt.reason);
        const why = error.unroutable ? "no queue is bound for this key (312 NO_ROUTE)" : reason;
        assert.equal(message, `Cannot publish message "id-1" to exchange "orders" with key "order.placed": ${why}`);
        assert.equal(error.unroutable, code === "ACEMQ_PUBLISH_UNROUTABLE");
        assert.equal(error.paused, code === "ACEMQ_PUBLISH_PAUSED");
        return true;
      });
      assert.equal(onlyPublish(sink).labels["outcome"], word);
    });
  }

  it("is `published` on a connection without confirms, in the result and in the metrics", async () => {
    const { puppet, sink, mq } = await connected({ confirms: false });
    puppet.respond = (_, { confirm }) => ({ outcome: confirm ? "confirmed" : "published" });
    assert.equal((await mq.publisher("", "q").send(1)).outcome, "published");
    assert.equal(onlyPublish(sink).labels["outcome"], "published");
  });

  it("counts a publish that is declined while the connection is blocked as refused [TEL-10]", async () => {
    const { puppet, sink, mq } = await connected();
    puppet.state = { status: "open", blockedReason: "low on memory" };
    await assert.rejects(mq.publisher("", "q").send(1), { code: "ACEMQ_PUBLISH_PAUSED" });
    assert.equal(puppet.handed.length, 0);
    assert.equal(onlyPublish(sink).labels["outcome"], "refused");
  });

  it("is ACEMQ_ENCODE, counted as refused, when the payload cannot be encoded", async () => {
    const { puppet, sink, mq } = await connected();
    await assert.rejects(mq.publisher("", "q").send({ total: NaN }), { name: "EncodeError", code: "ACEMQ_ENCODE" });
    assert.equal(puppet.handed.length, 0);
    assert.equal(onlyPublish(sink).labels["outcome"], "refused");
  });

  it("is ACEMQ_PUBLISH_REFUSED, counted as refused, when a header cannot be written", async () => {
    const { puppet, sink, mq } = await connected();
    await assert.rejects(mq.publisher("", "q").send(1, { headers: { rate: NaN } }), {
      code: "ACEMQ_PUBLISH_REFUSED",
      reason: 'header "rate" is NaN, which no AMQP kind holds',
    });
    assert.equal(puppet.handed.length, 0);
    assert.equal(onlyPublish(sink).labels["outcome"], "refused");
  });

  it("is the signal's reason, counted as refused, when it aborts before the write", async () => {
    const { puppet, sink, mq } = await connected();
    const signal = AbortSignal.abort(new Error("no longer wanted"));
    await assert.rejects(mq.publisher("", "q", { type: "t" }).send(1, { signal }), { message: "no longer wanted" });
    assert.equal(puppet.handed.length, 0);
    const { labels } = onlyPublish(sink);
    assert.deepEqual([labels["outcome"], labels["message.type"]], ["refused", "t"]);
  });

  it("is ACEMQ_PUBLISH_UNKNOWN, counted as failed, when the signal aborts after the write", async () => {
    const { puppet, sink, mq } = await connected();
    puppet.hold();
    const leaving = new AbortController();
    const sent = mq.publisher("", "q").send(1, { signal: leaving.signal });
    leaving.abort();
    await assert.rejects(sent, { code: "ACEMQ_PUBLISH_UNKNOWN" });
    assert.equal(onlyPublish(sink).labels["outcome"], "failed");
  });

  it("is ACEMQ_PUBLISH_UNKNOWN with the id to resend under when no confirm comes in time", async () => {
    const { puppet, mq } = await connected({ publishTimeoutMs: 2_000 });
    puppet.hold();
    const sent = mq.publisher("", "q").send(1, { messageId: "mine" });
    await Promise.all([
      puppet.clock.advance(2_000),
      assert.rejects(sent, {
        code: "ACEMQ_PUBLISH_UNKNOWN",
        messageId: "mine",
        reason: "no confirm came within 2000 ms",
      }),
    ]);
  });
});

describe("what is refused before anything is sent", () => {
  const faults: readonly (readonly [what: string, options: SendOptions, error: RegExp | Record<string, unknown>])[] = [
    ["a priority over 255", { priority: 256 }, { name: "RangeError" }],
    ["a priority that is no whole number", { priority: 1.5 }, { name: "RangeError" }],
    ["a negative expiration", { expirationMs: -1 }, { name: "RangeError" }],
    ["an expiration that is no whole number", { expirationMs: 0.5 }, { name: "RangeError" }],
    ["a message id over 255 bytes", { messageId: "ü".repeat(128) }, { code: "ACEMQ_PUBLISH_REFUSED" }],
    ["a reply address over 255 bytes", { replyTo: "ü".repeat(128) }, { code: "ACEMQ_PUBLISH_REFUSED" }],
    ["a header name over 255 bytes", { headers: { ["ü".repeat(128)]: 1 } }, { code: "ACEMQ_PUBLISH_REFUSED" }],
    ["half a surrogate pair in the id", { messageId: "\ud800" }, { code: "ACEMQ_PUBLISH_REFUSED" }],
    ["half a surrogate pair in the claim", { claim: "\udc00" }, { code: "ACEMQ_PUBLISH_REFUSED" }],
    ["half a surrogate pair in the type", { type: "a\ud800" }, { code: "ACEMQ_PUBLISH_REFUSED" }],
    ["half a surrogate pair in the reply address", { replyTo: "a\ud800" }, { code: "ACEMQ_PUBLISH_REFUSED" }],
    ["a CC that is no list", { headers: { CC: "q" } }, { code: "ACEMQ_PUBLISH_REFUSED" }],
  ];
  for (const [what, options, error] of faults) {
    it(`is ${what}`, async () => {
      const { puppet, sink, mq } = await connected();
      await assert.rejects(mq.publisher("", "q").send("payload", options), error);
      assert.equal(puppet.handed.length, 0);
      assert.equal(onlyPublish(sink).labels["outcome"], "refused");
    });
  }

  it("is a version that does not fit the contract's 32 bits", async () => {
    const { mq } = await connected();
    for (const version of [0, -1, 1.5, 2 ** 31, NaN]) {
      assert.throws(() => mq.publisher("", "q", { version }), RangeError, `version ${version}`);
    }
  });

  it("is a name AMQP cannot hold", async () => {
    const { mq } = await connected();
    assert.throws(() => mq.publisher("ü".repeat(128), "key"), RangeError);
    assert.throws(() => mq.publisher("", "ü".repeat(128)), RangeError);
    const half = mq.publisher("", "queue-\ud800");
    await assert.rejects(half.send(1), { code: "ACEMQ_PUBLISH_REFUSED" });
  });

  it("is what a codec makes that is no message", async () => {
    const { puppet, mq } = await connected();
    const codecs: readonly Partial<Codec>[] = [
      { encode: () => ({ body: "text" as unknown as Uint8Array }) },
      { encode: () => undefined as unknown as { body: Uint8Array } },
      { encode: () => Promise.resolve(undefined as unknown as { body: Uint8Array }) },
      { encode: () => ({ body: new Uint8Array(), contentType: "x".repeat(256) }) },
      { encode: () => ({ body: new Uint8Array(), headers: { "x-acemq-attempt": 7 } }) },
    ];
    for (const codec of codecs) {
      await assert.rejects(
        mq.publisher("", "q", { codec: { ...bytesCodec(), ...codec } as Codec }).send(1),
        AceMqError,
      );
    }
    assert.equal(puppet.handed.length, 0);
  });
});

describe("a codec that fails", () => {
  it("makes an EncodeError that names the failure, keeps the cause, and does not show the payload", async () => {
    const { mq } = await connected();
    const cause = new SyntaxError("cannot encode s3cret");
    for (const encode of [() => assert.fail(cause), () => Promise.reject(cause)]) {
      const publisher = mq.publisher("", "q", { codec: { ...bytesCodec(), encode } as Codec });
      await assert.rejects(publisher.send("s3cret"), (error: unknown) => {
        assert.ok(error instanceof EncodeError);
        assert.equal(error.message, "Cannot encode the payload: the codec failed with SyntaxError");
        assert.equal(error.cause, cause);
        return true;
      });
    }
  });

  it("is not hidden behind an EncodeError when it says that what it depends on is away", async () => {
    const { mq } = await connected();
    const away = new RetryableError("Cannot reach the registry");
    const codec = { ...bytesCodec(), encode: () => Promise.reject(away) } as Codec;
    await assert.rejects(mq.publisher("", "q", { codec }).send(1), away);
  });
});

describe("the order of one publisher", () => {
  it("is that of the calls, however long each message takes to encode", async () => {
    const { puppet, mq } = await connected();
    const making = new Map(["slow", "quick"].map((name) => [name, deferred<void>()]));
    const codec: Codec<string> = {
      ...textCodec() as Codec<string>,
      encode: (payload) => {
        const made = { body: new TextEncoder().encode(payload) };
        return making.get(payload)?.promise.then(() => made) ?? made;
      },
    };
    const publisher = mq.publisher("", "q", { codec });
    const sent = ["slow", "quick", "at once"].map((payload) => publisher.send(payload));
    making.get("quick")?.resolve();
    await puppet.clock.advance(0);
    assert.equal(puppet.handed.length, 0);
    making.get("slow")?.resolve();
    await Promise.all(sent);
    const bodies = puppet.handed.map(({ outbound }) => new TextDecoder().decode(outbound.body));
    assert.deepEqual(bodies, ["slow", "quick", "at once"]);
  });

  it("is not held up by a message that is given up or cannot be made", async () => {
    const { puppet, sink, mq } = await connected();
    const codec: Codec<string> = {
      ...textCodec() as Codec<string>,
      encode: (payload) => payload === "fails" ? Promise.reject(new Error("no")) : new Promise<never>(() => {}),
    };
    const slow = mq.publisher("", "q", { codec });
    const leaving = new AbortController();
    const [hung, failed] = [slow.send("hangs", { signal: leaving.signal }), slow.send("fails")];
    const sent = slow.sendPrepared(mq.publisher("", "q").prepare("a"));
    await assert.rejects(failed, EncodeError);
    leaving.abort(new Error("no longer wanted"));
    await assert.rejects(hung, { message: "no longer wanted" });
    assert.equal((await sent).outcome, "confirmed");
    assert.equal(puppet.handed.length, 1);
    assert.deepEqual(
      [sink.count("acemq.publish.total", { outcome: "refused" }), sink.count("acemq.publish.total")],
      [2, 3],
    );
  });
});
