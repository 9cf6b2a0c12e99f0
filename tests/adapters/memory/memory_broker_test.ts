import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  memoryBroker,
  type MemoryBrokerOptions,
  type VirtualClock,
  virtualClock,
} from "../../../adapters/memory/mod.ts";
import type { Clock } from "../../../src/clock.ts";
import { TopologyError } from "../../../src/errors.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import { isWireTable, type WireValue } from "../../../src/message/wire_value.ts";
import type { Broker, BrokerConnection, BrokerDelivery } from "../../../src/ports/broker.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { rungs } from "../../../src/topology/standard.ts";
import { pulled } from "../../support/pulling.ts";

const HOUR_MS = 3_600_000;

describe("a message for several queues of a memory broker", () => {
  it("is in all of them before what dies of it goes on: on RabbitMQ each queue is a process of its own", async () => {
    const { broker, clock, mq } = await opened();
    const deadTo = (queue: string) => ({ "x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue });
    await declare(mq, "first", { ...deadTo("first"), "x-dead-letter-exchange": "amq.fanout" });
    await declare(mq, "narrow", { ...deadTo("wide"), "x-max-length": 0 });
    await declare(mq, "wide");
    for (const queue of ["narrow", "wide"]) {
      await mq.bindQueue({ queue, exchange: "amq.fanout", routingKey: "", arguments: {} });
    }
    await publish(mq, "first", "1", { expirationMs: 50 });
    await publish(mq, "first", "2", { expirationMs: 50 });
    await clock.advance(50);
    assert.deepEqual(
      broker.inspect("wide")?.waiting.map(({ body, headers }) => [text(body), reasons(headers["x-death"])]),
      [["1", ["expired"]], ["2", ["expired"]], ["1", ["maxlen", "expired"]], ["2", ["maxlen", "expired"]]],
    );
  });
});

describe("looking into a memory broker", () => {
  it("shows what waits, head first, and takes nothing away", async () => {
    const { broker, mq } = await opened();
    await declare(mq, "q", { "x-queue-type": "quorum" });
    for (const body of ["1", "2", "3"]) await publish(mq, "q", body);
    const held = await pulled(mq, "q");
    for (let again = 0; again < 2; again++) {
      const found = broker.inspect("q");
      assert.deepEqual(found?.waiting.map(({ body }) => text(body)), ["2", "3"]);
      assert.deepEqual([found?.unsettled, found?.consumers], [1, 0]);
    }
    held?.settle("requeue");
    assert.deepEqual(
      broker.inspect("q")?.waiting.map(({ redelivered, headers }) => [redelivered, headers["x-delivery-count"]]),
      [[false, 0], [false, 0], [true, 1]],
    );
    assert.equal(broker.inspect("q")?.unsettled, 0);
  });

  it("shows what is in hand, pulled or delivered, as long as it is not settled", async () => {
    const { broker, clock, mq } = await opened();
    await declare(mq, "q", { "x-queue-type": "quorum" });
    const other = await connect(broker, clock);
    for (const body of ["1", "2", "3"]) await publish(mq, "q", body, { headers: { n: Number(body) } });
    const taken = await pulled(other, "q");
    const { subscription, deliveries } = await subscribe(mq, "q");
    await clock.advance(0);
    const held = (): unknown[] | undefined =>
      broker.inspect("q")?.inHand.map(({ body, headers, redelivered }) => [text(body), headers["n"], redelivered]);
    assert.deepEqual(held(), [["2", 2, false], ["3", 3, false], ["1", 1, false]]);
    deliveries[0]?.settle("ack");
    taken?.settle("requeue");
    await clock.advance(0);
    assert.deepEqual(held(), [["3", 3, false], ["1", 1, true]]);
    await subscription.close();
    assert.deepEqual([held(), broker.inspect("q")?.waiting.length], [[], 2]);
    for (let left = 2; left > 0; left--) await pulled(other, "q");
    assert.equal(held()?.length, 2);
    await other.close();
    assert.deepEqual(held(), []);
  });

  it("shows what binds a queue, and changes nothing when that is changed", async () => {
    const { broker, mq } = await opened();
    await declare(mq, "q");
    assert.deepEqual(broker.inspect("q")?.bindings, []);
    await mq.declareExchange({ name: "events", type: "topic", durable: true, autoDelete: false, arguments: {} });
    await mq.bindQueue({ queue: "q", exchange: "events", routingKey: "orders.#", arguments: {} });
    const args = { "x-match": "any", tenant: "acme" };
    await mq.bindQueue({ queue: "q", exchange: "amq.headers", routingKey: "", arguments: args });
    const expected = [
      { exchange: "amq.headers", routingKey: "", arguments: args },
      { exchange: "events", routingKey: "orders.#", arguments: {} },
    ];
    const found = broker.inspect("q")?.bindings ?? [];
    assert.deepEqual(found, expected);
    Object.assign(found[0]?.arguments ?? {}, { tenant: "other" });
    assert.deepEqual(broker.inspect("q")?.bindings, expected);
    await mq.deleteExchange("events");
    assert.deepEqual(broker.inspect("q")?.bindings, expected.slice(0, 1));
  });

  it("names its queues in the order they were declared, and knows no other", async () => {
    const { broker, mq } = await opened();
    assert.deepEqual(broker.queues, []);
    for (const name of ["b", "a"]) await declare(mq, name);
    assert.deepEqual(broker.queues, ["b", "a"]);
    assert.equal(broker.inspect("c"), undefined);
  });

  it("shows copies: what is done to them is done to nobody", async () => {
    const { broker, mq } = await opened();
    await declare(mq, "q");
    await publish(mq, "q", "1");
    broker.inspect("q")?.waiting[0]?.body.fill(0);
    assert.equal(text((await pulled(mq, "q"))?.message.body), "1");
  });

  it("counts a message as in hand as soon as a consumer has it coming", async () => {
    const { broker, mq } = await opened();
    await declare(mq, "q");
    const { deliveries } = await subscribe(mq, "q");
    const published = publish(mq, "q", "1");
    assert.deepEqual([broker.inspect("q")?.unsettled, deliveries.length], [1, 0]);
    await published;
    assert.deepEqual([broker.inspect("q")?.unsettled, deliveries.length], [1, 1]);
  });
});

describe("putting a recorded message into a memory broker", () => {
  it("takes raw properties, headers and bytes as they are, and routes them", async () => {
    const { broker, mq } = await opened();
    await declare(mq, "q");
    await declare(mq, "copy");
    const headers = { "x-acemq-attempt": 3n, CC: ["copy"] };
    const properties = { contentType: "text/plain", deliveryMode: 1, expiration: "60000" };
    const body = new Uint8Array([0xff, 0x00]);
    assert.equal(broker.put({ exchange: "", routingKey: "q", properties, headers, body }), "routed");
    body.fill(7);
    for (const queue of ["q", "copy"]) {
      const message = (await pulled(mq, queue))?.message;
      assert.deepEqual(message?.headers, { "x-acemq-attempt": 3, CC: ["copy"] });
      assert.deepEqual(message?.properties, properties);
      assert.deepEqual(message?.body, new Uint8Array([0xff, 0x00]));
      assert.equal(message?.routingKey, "q");
    }
  });

  it("says when no queue takes it", async () => {
    const { broker, mq } = await opened();
    await declare(mq, "full", { "x-max-length": 0, "x-overflow": "reject-publish" });
    const body = new Uint8Array();
    assert.equal(broker.put({ exchange: "", routingKey: "none", body }), "unroutable");
    assert.equal(broker.put({ exchange: "", routingKey: "full", body }), "rejected");
  });

  it("refuses what no broker could have been sent", () => {
    const broker = memoryBroker({ clock: virtualClock() });
    const body = new Uint8Array();
    const missing = (error: unknown): boolean =>
      error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_MISSING";
    assert.throws(() => broker.put({ exchange: "none", routingKey: "", body }), missing);
    assert.throws(
      () => broker.put({ exchange: "", routingKey: "q", headers: { n: NaN }, body }),
      /^TypeError: Cannot put in a message: .*"n"/,
    );
    const refused = (error: unknown): boolean =>
      error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_REFUSED";
    assert.throws(() => broker.put({ exchange: "", routingKey: "q", headers: { CC: "text" }, body }), refused);
  });
});

describe("time on a memory broker", () => {
  it("brings a message home from rungs of 24 hours in all, each at its time", async () => {
    const { clock, mq } = await opened();
    await declare(mq, "orders");
    const { exchanges, queues, bindings } = rungs("orders", [HOUR_MS, 2 * HOUR_MS, 21 * HOUR_MS]);
    for (const spec of exchanges) await mq.declareExchange(spec);
    for (const spec of queues) await mq.declareQueue(spec);
    for (const spec of bindings) await mq.bindQueue(spec);
    const ladder = queues.map(({ name }) => name);
    const arrivals: number[] = [];
    await subscribe(mq, "orders", (delivery) => {
      arrivals.push(clock.elapsed() / HOUR_MS);
      const rung = ladder.shift();
      if (rung !== undefined) void publish(mq, rung, "again");
      delivery.settle("ack");
    });
    await publish(mq, "orders", "first");
    await clock.advance(24 * HOUR_MS);
    assert.deepEqual(arrivals, [0, 1, 3, 24]);
  });

  it("has no timer while nobody is connected, and catches up when somebody is", async () => {
    const clock = countingClock();
    const broker = memoryBroker({ clock });
    const first = await connect(broker, clock);
    await declare(first, "dead");
    await declare(first, "q", {
      "x-message-ttl": 100,
      "x-dead-letter-exchange": "",
      "x-dead-letter-routing-key": "dead",
    });
    await publish(first, "q", "1");
    assert.equal(clock.running(), 1);
    await first.close();
    assert.equal(clock.running(), 0);
    await clock.advance(1_000);
    const second = await connect(broker, clock);
    assert.equal(text((await pulled(second, "dead"))?.message.body), "1");
    await second.close();
    assert.equal(clock.running(), 0);
  });

  it("removes a queue that expired while nobody was connected, and hands over what nobody took meanwhile", async () => {
    const clock = countingClock();
    const broker = memoryBroker({ clock });
    const first = await connect(broker, clock);
    await declare(first, "short", { "x-expires": 1_000 });
    await declare(first, "long", { "x-expires": 1_000_000 });
    await declare(first, "q", {
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-dead-letter-exchange": "",
      "x-dead-letter-routing-key": "dead",
      "x-overflow": "reject-publish",
    });
    await publish(first, "q", "1");
    (await pulled(first, "q"))?.settle("discard");
    await declare(first, "dead");
    await first.close();
    assert.equal(clock.running(), 0);
    await clock.advance(200_000);
    const second = await connect(broker, clock);
    assert.deepEqual(broker.queues, ["long", "q", "dead"]);
    assert.equal(text((await pulled(second, "dead"))?.message.body), "1");
    await clock.advance(1_000_000);
    assert.deepEqual(broker.queues, ["q", "dead"]);
    await second.close();
    assert.equal(clock.running(), 0);
  });

  it("has one timer for a consumer, however many messages it holds, and none once it is closed", async () => {
    const clock = countingClock();
    const mq = await connect(memoryBroker({ clock }), clock);
    await declare(mq, "q");
    const { deliveries, subscription } = await subscribe(mq, "q");
    for (let count = 0; count < 5; count++) await publish(mq, "q", "1");
    assert.equal(clock.running(), 1);
    for (const delivery of deliveries) delivery.settle("ack");
    await clock.advance(60_000);
    assert.equal(clock.running(), 0, "Nothing is held, and nothing is looked for");
    await publish(mq, "q", "1");
    assert.equal(clock.running(), 1);
    await subscription.close();
    assert.equal(clock.running(), 0);
  });

  it("takes back what is held beyond its own acknowledgement time-out, to the millisecond", async () => {
    const clock = virtualClock();
    const mq = await connect(memoryBroker({ clock, acknowledgementTimeoutMs: 90_000 }), clock);
    await declare(mq, "q");
    await publish(mq, "q", "1");
    const held = await pulled(mq, "q");
    await clock.advance(89_999);
    assert.equal(held?.isLive, true);
    await clock.advance(1);
    assert.equal(held?.isLive, false);
    assert.equal((await pulled(mq, "q"))?.message.redelivered, true);
  });

  it("needs one timer for a queue, however many messages wait in it", async () => {
    const clock = countingClock();
    const mq = await connect(memoryBroker({ clock }), clock);
    await declare(mq, "q", { "x-message-ttl": 1_000 });
    for (let count = 0; count < 100; count++) await publish(mq, "q", "1");
    assert.equal(clock.running(), 1);
    await mq.purgeQueue("q");
    assert.equal(clock.running(), 0);
  });

  it("expires by the time that has passed, whatever the time of day is set to", async () => {
    const behind = virtualClock();
    const clock: Clock = { ...bound(behind), now: () => behind.now() - 10 * HOUR_MS * (behind.elapsed() > 50 ? 1 : 0) };
    const broker = memoryBroker({ clock });
    const mq = await connect(broker, clock);
    await declare(mq, "q", { "x-message-ttl": 100 });
    await publish(mq, "q", "1");
    await behind.advance(99);
    assert.equal(broker.inspect("q")?.waiting.length, 1);
    await behind.advance(1);
    assert.equal(broker.inspect("q")?.waiting.length, 0);
  });
});

describe("the limits of a memory broker", () => {
  it("are those of RabbitMQ 3.10 unless it is told otherwise", async () => {
    const { mq } = await opened();
    assert.deepEqual(mq.limits, { maxBodyBytes: 134_217_728, maxHeaderBytes: 131_064 });
  });

  it("keep what is too large from being written", async () => {
    const { broker, mq } = await opened({ maxBodyBytes: 4, maxHeaderBytes: 200 });
    await declare(mq, "q");
    assert.equal((await publish(mq, "q", "1234")).outcome, "confirmed");
    const tooLarge = [
      await publish(mq, "q", "12345"),
      await publish(mq, "q", "1", { headers: { h: "x".repeat(200) } }),
    ];
    for (const receipt of tooLarge) assert.ok(receipt.outcome === "refused" && !receipt.written);
    assert.equal(broker.inspect("q")?.waiting.length, 1);
  });

  it("must be positive whole numbers", () => {
    for (const limit of [0, -1, 1.5, NaN]) {
      assert.throws(() => memoryBroker({ maxBodyBytes: limit }), RangeError);
      assert.throws(() => memoryBroker({ maxHeaderBytes: limit }), RangeError);
      assert.throws(() => memoryBroker({ acknowledgementTimeoutMs: limit }), RangeError);
    }
  });
});

describe("connections to a memory broker", () => {
  it("have their consumers back when a queue is declared again in the same breath as it was deleted", async () => {
    const { broker, clock, mq } = await opened();
    await declare(mq, "q");
    const { subscription, deliveries } = await subscribe(mq, "q");
    await Promise.all([mq.deleteQueue("q"), declare(mq, "q")]);
    await publish(mq, "q", "1");
    await clock.advance(0);
    assert.deepEqual([subscription.live, deliveries.length, broker.inspect("q")?.consumers], [true, 1, 1]);
  });

  it("do not have a queue back that goes by itself when they have deleted it, or somebody else has the name by then", async () => {
    const { broker, clock, mq } = await opened();
    const spec = { name: "q", durable: true, exclusive: false, autoDelete: true, arguments: {} };
    await mq.declareQueue(spec);
    const { subscription } = await subscribe(mq, "q");
    await mq.deleteQueue("q");
    await clock.advance(0);
    assert.deepEqual([subscription.live, broker.inspect("q")], [false, undefined]);
    await subscription.close();
    await mq.declareQueue(spec);
    const { subscription: another } = await subscribe(mq, "q");
    const somebody = await connect(broker, clock);
    const [, taken] = await Promise.all([
      somebody.deleteQueue("q"),
      somebody.declareQueue({ ...spec, exclusive: true }),
    ]);
    await clock.advance(0);
    assert.deepEqual([taken.status, another.live], ["declared", false]);
  });

  it("lose what a puller holds when it is refused, and can use it again", async () => {
    const { mq } = await opened();
    await declare(mq, "q");
    await publish(mq, "q", "1");
    const puller = await mq.openPuller("q");
    const held = await puller.pull();
    await mq.deleteQueue("q");
    assert.equal(held?.isLive, true);
    await assert.rejects(puller.pull(), TopologyError);
    assert.deepEqual([held?.isLive, held?.settle("ack")], [false, "stale"]);
    await declare(mq, "q");
    await publish(mq, "q", "2");
    assert.equal(text((await puller.pull())?.message.body), "2");
  });

  it("do not hear of the end of a block once they are closed", async () => {
    const { broker, clock } = await opened();
    const events: string[] = [];
    const mq = await broker.open({ name: "test", clock, onEvent: ({ type }) => events.push(type) });
    broker.block("low on memory");
    void publish(mq, "q", "1");
    await mq.close();
    broker.unblock();
    assert.deepEqual(events, ["blocked"]);
    assert.equal(mq.state.blockedReason, undefined);
  });

  it("go on being served when a consumer throws: that message stays in its hands", async () => {
    const { broker, clock, mq } = await opened();
    await declare(mq, "q");
    const seen: string[] = [];
    await subscribe(mq, "q", ({ message }) => {
      seen.push(text(message.body));
      throw new Error("A consumer never does");
    });
    for (const body of ["1", "2"]) await publish(mq, "q", body);
    await clock.advance(0);
    assert.deepEqual(seen, ["1", "2"]);
    assert.equal(broker.inspect("q")?.unsettled, 2);
  });
});

async function opened(options: MemoryBrokerOptions = {}) {
  const clock = virtualClock();
  const broker = memoryBroker({ clock, ...options });
  return { broker, clock, mq: await connect(broker, clock) };
}

function connect(broker: Broker, clock: Clock): Promise<BrokerConnection> {
  return broker.open({ name: "test", clock, onEvent: () => {} });
}

async function declare(mq: BrokerConnection, name: string, args: DeclareArguments = {}): Promise<void> {
  const spec = { name, durable: true, exclusive: false, autoDelete: false, arguments: args };
  assert.deepEqual(await mq.declareQueue(spec), { status: "declared" });
}

function publish(mq: BrokerConnection, queue: string, body: string, parts: Partial<Outbound> = {}) {
  const bytes = new TextEncoder().encode(body);
  const outbound = {
    exchange: "",
    routingKey: queue,
    headers: {},
    persistent: true,
    mandatory: true,
    ...parts,
    body: bytes,
  };
  return mq.publish(outbound, { lane: 1, confirm: true });
}

async function subscribe(mq: BrokerConnection, queue: string, each: (delivery: BrokerDelivery) => void = () => {}) {
  const deliveries: BrokerDelivery[] = [];
  const subscription = await mq.subscribe(queue, {
    prefetch: 10,
    consumerTag: "test",
    onDelivery: (delivery) => {
      deliveries.push(delivery);
      each(delivery);
    },
    onLost: () => {},
    onRecovered: () => {},
  });
  return { subscription, deliveries };
}

function text(body: Uint8Array | undefined): string {
  return new TextDecoder().decode(body);
}

function bound(clock: VirtualClock): Clock {
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    delay: (ms, options) => clock.delay(ms, options),
  };
}

/** A virtual clock that knows how many delays are running. */
function countingClock(): VirtualClock & { running(): number } {
  const clock = virtualClock();
  let running = 0;
  return {
    ...bound(clock),
    advance: (ms) => clock.advance(ms),
    running: () => running,
    delay: (ms, options) => {
      running++;
      // An aborted delay has let go of its timer when its signal fires.
      options?.signal?.addEventListener("abort", () => running--);
      return clock.delay(ms, options).then(() => void running--);
    },
  };
}

function reasons(deaths: WireValue | undefined): unknown[] {
  return Array.isArray(deaths) ? deaths.map((death) => isWireTable(death) ? death["reason"] : undefined) : [];
}
