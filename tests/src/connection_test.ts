import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryBroker, virtualClock } from "../../adapters/memory/mod.ts";
import type { jsonCodec } from "../../src/codec/json.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import { reject } from "../../src/consume/ack.ts";
import { ConnectionError } from "../../src/errors.ts";
import type { BrokerEvent } from "../../src/ports/broker.ts";
import { topology } from "../../src/topology/topology.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { MemoryWorld } from "../support/memory_world.ts";
import { PuppetBroker } from "../support/puppet_broker.ts";
import { deferred } from "../support/until.ts";

/** Everything a reader of events gets until it ends. */
async function collect(events: AsyncIterable<BrokerEvent>): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of events) types.push(type);
  return types;
}

/** A memory broker, a connection to it and a queue. */
async function withQueue(
  options: ConnectOptions = {},
): Promise<
  {
    readonly broker: ReturnType<typeof memoryBroker>;
    readonly clock: ReturnType<typeof virtualClock>;
    readonly mq: Connection;
  }
> {
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  const mq = await openConnection(broker, options);
  await mq.declare(topology().queue("q", { deadLetter: true }));
  return { broker, clock, mq };
}

describe("connecting", () => {
  const wrong: readonly ConnectOptions[] = [
    { name: "" },
    { name: "ü".repeat(128) },
    { maxOutstandingPublishes: 0 },
    { maxOutstandingPublishes: 1.5 },
    { publishTimeoutMs: 0 },
    { publishTimeoutMs: Infinity },
    { permitTimeoutMs: -1 },
    { permitTimeoutMs: NaN },
    { drainTimeoutMs: -1 },
    { drainTimeoutMs: "20s" as unknown as number },
    { codec: "yaml" },
    { codec: "nonsense" as "json" },
    { codec: {} as ReturnType<typeof jsonCodec> },
    { codecs: [{} as ReturnType<typeof jsonCodec>] },
  ];
  for (const options of wrong) {
    it(`refuses ${JSON.stringify(options)} before anything is dialled`, async () => {
      const broker = { open: () => assert.fail("dialled") };
      await assert.rejects(openConnection(broker, options), /^(RangeError|TypeError|CodecMissingError): Cannot use /);
    });
  }

  it("fails as the broker does, and hands its own signal and name on", async () => {
    const refused = new ConnectionError("ACEMQ_CONNECT_REFUSED", "Cannot connect");
    const { signal } = new AbortController();
    const open: Parameters<typeof openConnection>[0]["open"] = (options) => {
      assert.deepEqual([options.name, options.signal], ["order-service", signal]);
      return Promise.reject(refused);
    };
    await assert.rejects(openConnection({ open }, { name: "order-service", signal }), refused);
  });

  it("lives by the broker's clock, or by the one it is given", async () => {
    const puppet = new PuppetBroker();
    const firstSeen = async (options: ConnectOptions): Promise<unknown> => {
      await (await openConnection(puppet, options)).publisher("", "q").send(1);
      return puppet.handed.at(-1)?.outbound.headers["x-acemq-first-seen"];
    };
    assert.equal(await firstSeen({}), BigInt(puppet.clock.now()));
    assert.equal(await firstSeen({ clock: virtualClock("2027-01-01") }), BigInt(Date.parse("2027-01-01")));
  });

  it("names itself and its host as the origin of messages", async () => {
    const origin = async (options: ConnectOptions): Promise<unknown> => {
      const puppet = new PuppetBroker();
      await (await openConnection(puppet, options)).publisher("", "q").send(1);
      return puppet.handed[0]?.outbound.headers["x-acemq-origin"];
    };
    assert.deepEqual([await origin({}), await origin({ name: "shop" })], ["acemq@host.test", "shop@host.test"]);
  });

  it("hears what happens while it is being opened", async () => {
    const puppet = new PuppetBroker();
    const sink = new RecordingSink();
    const open: PuppetBroker["open"] = async (options) => {
      options.onEvent({ type: "retrying", attempt: 1, delayMs: 10, reason: "refused" });
      return await puppet.open(options);
    };
    await openConnection({ open }, { telemetry: sink });
    assert.deepEqual(sink.logs.map(({ event }) => event), ["acemq.connection.retrying"]);
  });
});

describe("the default codec of a connection", () => {
  it("is JSON", async () => {
    const { broker, mq } = await withQueue();
    await mq.publisher("", "q").send({ a: 1 });
    const [message] = broker.inspect("q")?.waiting ?? [];
    assert.equal(message?.properties.contentType, "application/json");
    await mq.close();
  });

  it("serves every publisher and consumer that names none of its own", async () => {
    const { broker, clock, mq } = await withQueue({ codec: "text" });
    await mq.publisher("", "q").send("plain");
    await mq.publisher("", "q", { codec: "json" }).send("quoted");
    const types = broker.inspect("q")?.waiting.map(({ properties }) => properties.contentType);
    assert.deepEqual(types, ["text/plain; charset=utf-8", "application/json"]);
    const payloads: unknown[] = [];
    await mq.consume("q", ({ payload }) => void payloads.push(payload), { prefetch: 1 });
    await clock.advance(0);
    assert.deepEqual([payloads, broker.inspect("q.parked")?.waiting.length], [["plain"], 1]);
    await mq.close();
  });

  it("is missed at once, by the publisher that names one nobody handed in", async () => {
    const { mq } = await withQueue();
    assert.throws(() => mq.publisher("", "q", { codec: "toml" }), { code: "ACEMQ_CODEC_MISSING" });
    await assert.rejects(mq.consume("q", () => {}, { codec: "toml" }), { code: "ACEMQ_CODEC_MISSING" });
    await mq.close();
  });
});

describe("the events of a connection", () => {
  it("come to every reader that was there when they happened, in order, and into the log", async () => {
    const puppet = new PuppetBroker();
    const sink = new RecordingSink();
    const mq = await openConnection(puppet, { telemetry: sink });
    puppet.emit({ type: "unblocked" });
    const first = collect(mq.events());
    puppet.emit({ type: "lost", reason: "the socket closed" });
    const second = collect(mq.events());
    puppet.emit({ type: "recovered", attempts: 1 });
    await mq.close();
    assert.deepEqual([await first, await second], [["lost", "recovered"], ["recovered"]]);
    const logged = sink.logs.map(({ level, event }) => `${level} ${event}`);
    assert.deepEqual(logged, [
      "info acemq.connection.unblocked",
      "warn acemq.connection.lost",
      "info acemq.connection.recovered",
    ]);
  });

  it("end with the reader's signal, and for a reader that comes after the close", async () => {
    const puppet = new PuppetBroker();
    const mq = await openConnection(puppet);
    const leaving = new AbortController();
    const events = collect(mq.events({ signal: leaving.signal }));
    puppet.emit({ type: "unblocked" });
    leaving.abort();
    puppet.emit({ type: "lost", reason: "unheard" });
    assert.deepEqual(await events, ["unblocked"]);
    await mq.close();
    assert.deepEqual(await collect(mq.events()), []);
  });

  it("and health say that the broker has blocked publishing and why; the first message may still pass", async () => {
    const { broker, clock, mq } = await withQueue();
    const events: BrokerEvent[] = [];
    const collecting = (async () => {
      for await (const event of mq.events()) events.push(event);
    })();
    const publisher = mq.publisher("", "q");
    broker.block("low on memory");
    const first = publisher.send(1);
    await clock.advance(0);
    await assert.rejects(publisher.send(2), { code: "ACEMQ_PUBLISH_PAUSED", paused: true });
    const { status, parts } = await mq.health();
    assert.equal(status, "up");
    const { detail } = parts?.["broker"] as { readonly detail: string };
    assert.equal(detail, "the broker has blocked this connection; publishing is paused: low on memory");
    broker.unblock();
    assert.deepEqual([(await first).outcome, (await publisher.send(3)).outcome], ["confirmed", "confirmed"]);
    await mq.close();
    await collecting;
    assert.deepEqual(events, [{ type: "blocked", reason: "low on memory" }, { type: "unblocked" }]);
  });
});

describe("a copy that has gone into a block", () => {
  it("has its whole deadline from the end of the block on [SC-21]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("q", { publishTimeoutMs: 1_000 });
    await mq.consume("q", () => reject("no"));
    const line = deferred();
    world.faults.holdPublishes = line.promise;
    world.put("q", 1);
    await world.clock.advance(500);
    const block = (reason: string | undefined): void => void (world.faults.blockedReason = reason);
    block("low on memory");
    await world.clock.advance(2_400);
    block(undefined);
    world.faults.emit({ type: "unblocked" });
    await world.clock.advance(900);
    line.resolve();
    await world.settled();
    assert.deepEqual([world.depth("q.dlq"), world.depth("q"), world.unsettled("q")], [1, 0, 0]);
    await world.close();
  });
});

describe("the health of a connection", () => {
  it("has a part for the broker and one for the consumers", async () => {
    const { mq } = await withQueue();
    await mq.consume("q", () => {});
    const { status, checked, parts = {} } = await mq.health();
    assert.deepEqual([status, checked, Object.keys(parts)], ["up", "2026-01-01T00:00:00.000Z", [
      "broker",
      "consumers",
    ]]);
    const partsOf = (name: string) =>
      (parts[name] as { readonly parts?: Readonly<Record<string, unknown>> }).parts ?? {};
    assert.deepEqual([partsOf("broker")["consumers"], Object.keys(partsOf("consumers"))], [1, ["q"]]);
    await mq.close();
    assert.equal((await mq.health()).status, "down");
  });

  it("is degraded by a consumer whose queue is gone, also while publishing is blocked, and not by one that was closed", async () => {
    const { broker, clock, mq } = await withQueue();
    await mq.declare(topology().queue("other"));
    const closed = await mq.consume("other", () => {});
    await mq.consume("q", () => {});
    await closed.close();
    assert.equal((await mq.health()).status, "up");
    const vandal = await broker.open({ name: "vandal", clock, onEvent: () => {} });
    await vandal.deleteQueue("q");
    await clock.advance(0);
    broker.block("low on memory");
    const sent = mq.publisher("", "other").send(1);
    await clock.advance(0);
    const { status, parts = {} } = await mq.health();
    const { detail } = parts["consumers"] as { readonly detail: string };
    assert.deepEqual([status, detail], ["degraded", "not consuming: q"]);
    broker.unblock();
    await Promise.all([sent, vandal.close(), mq.close()]);
  });

  it("is not waited for once its signal aborts", async () => {
    const puppet = new PuppetBroker();
    puppet.onCheckQueue = () => new Promise(() => {});
    const mq = await openConnection(puppet);
    const leaving = new AbortController();
    const asked = mq.health({ signal: leaving.signal });
    leaving.abort(new Error("no longer wanted"));
    await assert.rejects(asked, { message: "no longer wanted" });
  });
});

describe("closing a connection", () => {
  it("waits for the answers to what is out, and declines what comes later", async () => {
    const puppet = new PuppetBroker();
    puppet.hold();
    const mq = await openConnection(puppet);
    const publisher = mq.publisher("", "q");
    const sent = publisher.send(1);
    const closing = mq.close();
    await puppet.clock.advance(1_000);
    assert.equal(puppet.closes, 0);
    await assert.rejects(publisher.send(2), { code: "ACEMQ_CONNECTION_CLOSED" });
    puppet.handed[0]?.answer({ outcome: "confirmed" });
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual([(await sent).outcome, puppet.closes, puppet.handed.length], ["confirmed", 1, 1]);
  });

  it("waits no longer than its budget; whatever the broker has not confirmed by then is rejected, not resolved", async () => {
    const puppet = new PuppetBroker();
    puppet.hold();
    const mq = await openConnection(puppet, { drainTimeoutMs: 5_000, publishTimeoutMs: 60_000 });
    const publisher = mq.publisher("", "q");
    const sends = Array.from({ length: 1_000 }, (_, index) => publisher.send(index));
    const settling = Promise.allSettled(sends);
    puppet.onClose = () => {
      for (const one of puppet.handed.slice(10)) {
        one.answer({ outcome: "unknown", reason: "the connection was closed" });
      }
      return Promise.resolve();
    };
    for (const one of puppet.handed.slice(0, 10)) one.answer({ outcome: "confirmed" });
    const closing = mq.close();
    await puppet.clock.advance(5_000);
    await closing;
    const settled = await settling;
    assert.deepEqual(
      settled.map(({ status }) => status),
      sends.map((_, index) => index < 10 ? "fulfilled" : "rejected"),
    );
    for (const one of settled) if (one.status === "rejected") assert.match(one.reason.code, /^ACEMQ_PUBLISH_UNKNOWN$/);
  });

  it("leaves no send hanging where the adapter never answers", async () => {
    const puppet = new PuppetBroker();
    puppet.hold();
    const mq = await openConnection(puppet, { drainTimeoutMs: 0, publishTimeoutMs: 10_000 });
    const sent = assert.rejects(mq.publisher("", "q").send(1), { code: "ACEMQ_PUBLISH_UNKNOWN" });
    const closing = mq.close();
    await puppet.clock.advance(10_000);
    await Promise.all([closing, sent]);
  });

  it("is done once, however often it is asked for", async () => {
    const puppet = new PuppetBroker();
    const mq = await openConnection(puppet);
    const reports = await Promise.all([mq.close(), mq.close(), mq[Symbol.asyncDispose]()]);
    assert.deepEqual([reports[0], reports[1], puppet.closes], [{ drained: true, stranded: 0 }, reports[0], 1]);
  });

  it("ends what depends on it also when the broker cannot be closed", async () => {
    const puppet = new PuppetBroker();
    const failure = new Error("the adapter failed");
    puppet.onClose = () => Promise.reject(failure);
    const mq = await openConnection(puppet);
    const events = collect(mq.events());
    await assert.rejects(mq.close(), failure);
    assert.deepEqual(await events, []);
  });

  it("closes the broker's side also when a consumer cannot be closed", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("q");
    const consumer = await mq.consume("q", () => {});
    const failure = new Error("the consumer cannot be closed");
    consumer.close = () => Promise.reject(failure);
    await assert.rejects(mq.close(), failure);
    assert.equal(world.broker.inspect("q")?.consumers, 0);
  });

  it("ends with the caller's signal, everything released", async () => {
    const puppet = new PuppetBroker();
    puppet.hold();
    const mq = await openConnection(puppet);
    const sent = mq.publisher("", "q").send(1);
    const leaving = new AbortController();
    const closing = mq.close({ signal: leaving.signal });
    leaving.abort(new Error("now"));
    await assert.rejects(closing, { message: "now" });
    assert.equal(puppet.closes, 1);
    puppet.handed[0]?.answer({ outcome: "confirmed" });
    await sent;
  });

  it("refuses everything afterwards, each in its own words", async () => {
    const { mq } = await withQueue();
    const publisher = mq.publisher("", "q");
    await mq.close();
    const closed = { name: "ConnectionError", code: "ACEMQ_CONNECTION_CLOSED" };
    await assert.rejects(publisher.send(1, { messageId: "m-1" }), {
      ...closed,
      message: 'Cannot publish message "m-1" to queue "q": the connection is closed',
    });
    await assert.rejects(publisher.sendAll([1, 2]), { code: "ACEMQ_PUBLISH_BATCH", paused: false });
    await assert.rejects(mq.consume("q", () => {}), closed);
    await assert.rejects(mq.declare(topology().queue("other")), closed);
    assert.throws(() => mq.deliveries("q"), closed);
    assert.equal((await mq.health()).status, "down");
  });

  it("stops consumers first: what their handlers publish until then still goes out", async () => {
    const { broker, clock, mq } = await withQueue();
    await mq.declare(topology().queue("next"));
    const gate = deferred();
    await mq.consume("q", async () => {
      await gate.promise;
      await mq.publisher("", "next").send("from the handler");
    });
    await mq.publisher("", "q").send(1);
    await clock.advance(0);
    const closing = mq.close();
    await clock.advance(100);
    gate.resolve();
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual([broker.inspect("q")?.waiting.length, broker.inspect("next")?.waiting.length], [0, 1]);
  });

  it("leaves no consumer running that was being opened meanwhile", async () => {
    const { broker, clock, mq } = await withQueue();
    const opening = mq.consume("q", () => {}).then((consumer) => consumer.state.live, () => "refused");
    const closing = mq.close();
    await clock.advance(0);
    await closing;
    assert.notEqual(await opening, true);
    assert.equal(broker.inspect("q")?.consumers, 0);
  });

  it("closes a consumer that was being opened at once, also while another one still drains", async () => {
    const { broker, clock, mq } = await withQueue();
    await mq.declare(topology().queue("other"));
    const busy = deferred();
    await mq.consume("q", () => busy.promise);
    await mq.publisher("", "q").send(1);
    await clock.advance(0);
    const opening = mq.consume("other", () => {});
    const closing = mq.close();
    await clock.advance(0);
    assert.deepEqual([(await opening).state.live, broker.inspect("other")?.consumers], [false, 0]);
    busy.resolve();
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
  });

  it("ends the drain of its consumers with the caller's signal, and leaves what they hold to the broker", async () => {
    const { broker, clock, mq } = await withQueue();
    await mq.consume("q", () => new Promise<void>(() => {}));
    await mq.publisher("", "q").send(1);
    await clock.advance(0);
    const leaving = new AbortController();
    const refused = assert.rejects(mq.close({ signal: leaving.signal }), { message: "now" });
    let isOver = false;
    void refused.then(() => isOver = true);
    await clock.advance(1_000);
    assert.equal(isOver, false);
    leaving.abort(new Error("now"));
    await clock.advance(100);
    assert.equal(isOver, true);
    assert.deepEqual([broker.inspect("q")?.consumers, broker.inspect("q")?.waiting.length], [0, 1]);
  });
});
