import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesCodec } from "../../../src/codec/bytes.ts";
import type { ConnectOptions } from "../../../src/connect_options.ts";
import { type Connection, openConnection } from "../../../src/connection.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { PublishContext, PublishInterceptor } from "../../../src/publish/interceptor.ts";
import { RecordingSink } from "../../support/recording_sink.ts";
import { PuppetBroker } from "../../support/puppet_broker.ts";
import { deferred } from "../../support/until.ts";

async function connected(
  options: ConnectOptions = {},
): Promise<
  { readonly puppet: PuppetBroker; readonly sink: RecordingSink; readonly mq: Connection; last(): Outbound }
> {
  const puppet = new PuppetBroker();
  const sink = new RecordingSink();
  const mq = await openConnection(puppet, { telemetry: sink, ...options });
  const last = (): Outbound => {
    const handed = puppet.handed.at(-1);
    assert.ok(handed !== undefined, "nothing was handed to the broker");
    return handed.outbound;
  };
  return { puppet, sink, mq, last };
}

/** The application headers of an outbound message. */
function applicationHeaders({ headers }: Outbound): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("x-acemq-")));
}

describe("publish interceptors", () => {
  it("see the message before it is encoded, with everything that will be sent", async () => {
    const seen: PublishContext[] = [];
    const look: PublishInterceptor = (context, next) => {
      seen.push(context);
      return next(context);
    };
    const { mq } = await connected({ interceptors: { publish: [look] }, newId: () => "id-1" });
    const payload = { orderId: "A-19" };
    await mq.publisher("orders", "order.placed").send(payload, { headers: { tenant: "acme" }, priority: 3 });
    const [{ envelope, ...context }] = seen as [PublishContext];
    assert.equal(context.payload, payload);
    assert.deepEqual([envelope.id, envelope.type], ["id-1", "order.placed"]);
    assert.deepEqual(context, {
      exchange: "orders",
      routingKey: "order.placed",
      payload,
      headers: { tenant: "acme" },
      persistent: true,
      mandatory: true,
      replyTo: undefined,
      priority: 3,
      expirationMs: undefined,
    });
  });

  it("change whatever the context has", async () => {
    const change: PublishInterceptor = (context, next) =>
      next({
        exchange: "elsewhere",
        routingKey: "other.key",
        envelope: { ...context.envelope, type: "changed", correlationId: "c" },
        payload: "changed",
        headers: { added: 1 },
        persistent: false,
        mandatory: false,
        replyTo: "answers",
        priority: 9,
        expirationMs: 1_000,
      });
    const { mq, last } = await connected();
    await mq.publisher("", "q", { codec: "text", interceptors: [change] }).send("original");
    const { headers, body, contentType: _, messageId: __, ...others } = last();
    assert.equal(new TextDecoder().decode(body), "changed");
    assert.deepEqual([headers["x-acemq-type"], headers["x-acemq-correlation"], headers["added"]], ["changed", "c", 1]);
    assert.deepEqual(others, {
      exchange: "elsewhere",
      routingKey: "other.key",
      persistent: false,
      mandatory: false,
      replyTo: "answers",
      priority: 9,
      expirationMs: 1_000,
    });
  });

  it("keep every other field and header when one changes the type alone [ENV-09]", async () => {
    const retype: PublishInterceptor = (context, next) =>
      next({ ...context, envelope: { ...context.envelope, type: "order.created" } });
    const { mq, last } = await connected({ newId: () => "id-1" });
    const options = {
      correlationId: "cart-8812",
      claim: "bucket/7",
      headers: { tenant: "acme", traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
    };
    await mq.publisher("", "q").send(1, options);
    const plain = last();
    await mq.publisher("", "q", { interceptors: [retype] }).send(1, options);
    assert.deepEqual(last(), { ...plain, headers: { ...plain.headers, "x-acemq-type": "order.created" } });
  });

  it("run outermost first: the connection's before the publisher's, each in the order it was registered", async () => {
    const order: string[] = [];
    const named = (name: string): PublishInterceptor => async (context, next) => {
      order.push(`${name} in`);
      const outbound = await next(context);
      order.push(`${name} out`);
      return outbound;
    };
    const { mq } = await connected({ interceptors: { publish: [named("a"), named("b")] } });
    await mq.publisher("", "q", { interceptors: [named("c")] }).send(1);
    assert.deepEqual(order, ["a in", "b in", "c in", "c out", "b out", "a out"]);
  });

  it("run for send, sendAll, sendEncoded and prepare, and not again for what was prepared", async () => {
    let runs = 0;
    const count: PublishInterceptor = (context, next) => {
      runs++;
      return next(context);
    };
    const { mq } = await connected({ interceptors: { publish: [count] } });
    const publisher = mq.publisher("", "q");
    await publisher.send(1);
    await publisher.sendAll([1, 2]);
    await publisher.sendEncoded({ body: new Uint8Array() });
    const prepared = await publisher.prepare(1);
    assert.equal(runs, 5);
    await publisher.sendPrepared(prepared);
    assert.equal(runs, 5);
  });

  it("see the bytes as payload of what is encoded already, and leave them as they are", async () => {
    const seen: unknown[] = [];
    const look: PublishInterceptor = (context, next) => {
      seen.push(context.payload);
      return next({ ...context, payload: "ignored", headers: { stamped: true } });
    };
    const { mq, last } = await connected({ interceptors: { publish: [look] } });
    const body = new Uint8Array([1, 2]);
    await mq.publisher("", "q").sendEncoded({ body });
    assert.deepEqual([seen, last().body, last().headers["stamped"]], [[body], body, true]);
  });

  it("refuse a message by throwing: the caller sees the error, and nothing was sent", async () => {
    const refusal = new Error("no tenant");
    const refuses: readonly PublishInterceptor[] = [
      () => Promise.reject(refusal),
      () => {
        throw refusal;
      },
    ];
    for (const refuse of refuses) {
      const { puppet, sink, mq } = await connected({ interceptors: { publish: [refuse] } });
      await assert.rejects(mq.publisher("", "q").send(1), refusal);
      assert.equal(puppet.handed.length, 0);
      assert.equal(sink.count("acemq.publish.total", { outcome: "refused" }), 1);
    }
  });

  it("get an object that cannot be changed in place: the attempt throws, and the caller's own headers stay [INT-04]", async () => {
    const attempts: readonly ((context: Record<string, unknown>) => void)[] = [
      (context) => context["routingKey"] = "elsewhere",
      (context) => (context["headers"] as Record<string, unknown>)["tenant"] = "other",
      (context) => (context["envelope"] as Record<string, unknown>)["type"] = "other",
    ];
    for (const attempt of attempts) {
      const tamper: PublishInterceptor = (context, next) => {
        attempt(context as unknown as Record<string, unknown>);
        return next(context);
      };
      const headers = { tenant: "acme" };
      const { puppet, mq } = await connected({ interceptors: { publish: [tamper] } });
      await assert.rejects(mq.publisher("", "q").send(1, { headers }), TypeError);
      assert.deepEqual([headers, puppet.handed.length], [{ tenant: "acme" }, 0]);
    }
  });

  it("leave what one of them handed on unfrozen for that one", async () => {
    const shared: Record<string, string> = { tenant: "acme" };
    const stamp: PublishInterceptor = (context, next) => next({ ...context, headers: shared });
    const look: PublishInterceptor = (context, next) => next(context);
    const { mq, last } = await connected({ interceptors: { publish: [stamp, look] } });
    await mq.publisher("", "q").send(1);
    shared["tenant"] = "other";
    await mq.publisher("", "q").send(1);
    assert.deepEqual(applicationHeaders(last()), { tenant: "other" });
  });

  it("cannot make a message the contract has no place for", async () => {
    const faults: readonly (readonly [string, (context: PublishContext) => PublishContext])[] = [
      ["a reserved header", (context) => ({ ...context, headers: { "x-acemq-attempt": 7 } })],
      ["a priority over 255", (context) => ({ ...context, priority: 256 })],
      ["an expiration that is no whole number", (context) => ({ ...context, expirationMs: 1.5 })],
      ["a long routing key", (context) => ({ ...context, routingKey: "k".repeat(256) })],
      ["a long exchange name", (context) => ({ ...context, exchange: "e".repeat(256) })],
      ["half a surrogate pair as routing key", (context) => ({ ...context, routingKey: "\ud800" })],
      ["an empty id", (context) => ({ ...context, envelope: { ...context.envelope, id: "" } })],
      ["a long id", (context) => ({ ...context, envelope: { ...context.envelope, id: "i".repeat(256) } })],
      ["an attempt of 0", (context) => ({ ...context, envelope: { ...context.envelope, attempt: 0 } })],
      ["a fraction of a version", (context) => ({ ...context, envelope: { ...context.envelope, version: 1.5 } })],
      [
        "a first sight that is no time",
        (context) => ({ ...context, envelope: { ...context.envelope, firstSeenMs: NaN } }),
      ],
    ];
    for (const [what, change] of faults) {
      const { puppet, mq } = await connected({ interceptors: { publish: [(context, next) => next(change(context))] } });
      await assert.rejects(mq.publisher("", "q").send(1), { code: "ACEMQ_PUBLISH_REFUSED" }, what);
      assert.equal(puppet.handed.length, 0, what);
    }
  });

  it("are told when they forget to return the message", async () => {
    const forget =
      ((...[context, next]: Parameters<PublishInterceptor>) => void next(context)) as unknown as PublishInterceptor;
    const { puppet, mq } = await connected({ interceptors: { publish: [forget] } });
    await assert.rejects(mq.publisher("", "q").send(1), {
      name: "TypeError",
      message: "Cannot publish: an interceptor must return what next returned, found no message",
    });
    assert.equal(puppet.handed.length, 0);
  });

  it("may answer with a message of their own without calling next", async () => {
    const { mq } = await connected();
    const prepared = await mq.publisher("", "q").prepare("kept");
    const { mq: other, last } = await connected({ interceptors: { publish: [() => Promise.resolve(prepared)] } });
    await other.publisher("", "q").send("dropped");
    assert.equal(last(), prepared);
  });

  it("end no process when one does not wait for what next began", async () => {
    const detached: PublishInterceptor = async (context, next) => {
      void next({ ...context, payload: NaN });
      return await next(context);
    };
    const { puppet, mq } = await connected({ interceptors: { publish: [detached] } });
    await mq.publisher("", "q").send(1);
    await puppet.clock.advance(0);
    assert.equal(puppet.handed.length, 1);
  });

  it("run interleaved for the messages of a batch, each with a context of its own, and the order stays [INT-06]", async () => {
    const gates = Array.from({ length: 4 }, () => deferred());
    let inside = 0;
    let most = 0;
    const waits: PublishInterceptor = async (context, next) => {
      most = Math.max(most, ++inside);
      await gates[context.payload as number]?.promise;
      inside--;
      return await next({ ...context, headers: { n: context.payload as number } });
    };
    const { puppet, mq } = await connected({ interceptors: { publish: [waits] } });
    const sent = mq.publisher("", "q").sendAll([0, 1, 2, 3]);
    for (const index of [2, 0, 3, 1]) {
      gates[index]?.resolve();
      await puppet.clock.advance(0);
    }
    await sent;
    assert.equal(most, 4);
    const numbers = puppet.handed.map((
      { outbound },
    ) => [outbound.headers["n"], new TextDecoder().decode(outbound.body)]);
    assert.deepEqual(numbers, [[0, "0"], [1, "1"], [2, "2"], [3, "3"]]);
  });

  it("keep the codec's own word on what it cannot encode", async () => {
    const { mq } = await connected({ interceptors: { publish: [(context, next) => next(context)] } });
    const codec = { ...bytesCodec(), encode: () => assert.fail("no") };
    await assert.rejects(mq.publisher("", "q", { codec }).send("x"), { code: "ACEMQ_ENCODE" });
  });
});
