/**
 * What gets into a stream, as what it comes out, and when it is dropped.
 *
 * @module
 */

import assert from "node:assert/strict";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { allOf, entriesOf, offsetsOf, readFrom, streamIn } from "./stream_world.ts";
import { onEachQueueType, outbound, type Reader, type Scenario, textOf, type World } from "./world.ts";

/** Headers that come out of a stream as they went in. */
const KEPT: WireTable = {
  text: "Grüße",
  empty: "",
  bytes: new WireText(Uint8Array.of(0xff)),
  int: -1,
  long: 2 ** 40,
  longer: 2n ** 62n,
  yes: true,
  no: false,
  nothing: null,
  double: new WireDouble(2),
  fraction: new WireDouble(1.5),
  date: new Date(1_700_000_000_000),
  "x-delivery-count": 3,
  "x-acemq-attempt": 2,
};

/** The cases about what a stream keeps. */
export function streamKeeping(it: Scenario): void {
  publishing(it);
  settling(it);
  retention(it);

  onEachQueueType(it, (it, type) => {
    it(`loses what a ${type} queue dead-letters into a stream, while other queues get it`, async (world) => {
      const { stream, other, queue } = await deadLettering(world, type);
      await world.fill(queue, "1");
      (await world.hold(queue)).settle("discard");
      assert.deepEqual(await world.bodies(other, 1), ["1"]);
      await world.depth(queue, 0);
      assert.deepEqual(await allOf(world, stream), []);
    });
  });

  it.needing("at_least_once_dead_letters")(
    "keeps what a quorum queue dead-letters into a stream at least once, without the list of its deaths",
    async (world) => {
      const { stream, queue } = await deadLettering(world, "quorum", {
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
      });
      await world.fill(queue, "1");
      (await world.hold(queue)).settle("discard");
      const reader = await readFrom(world, stream, { from: "first" });
      assert.deepEqual(await entriesOf(world, reader, 1), ["1"]);
      const { "x-death": deaths, ...others } = reader.deliveries[0]?.message.headers ?? {};
      assert.deepEqual(others, {
        "x-first-death-exchange": "",
        "x-first-death-queue": queue,
        "x-first-death-reason": "rejected",
        "x-stream-offset": 0,
      });
      assert.equal(deaths, undefined);
    },
  );

  it("loses what has expired on its way into a stream, as on a rung", async (world) => {
    const { stream, other, queue } = await deadLettering(world, "classic", { "x-message-ttl": 50 });
    await world.fill(queue, "1");
    assert.deepEqual(await world.bodies(other, 1), ["1"]);
    assert.deepEqual(await allOf(world, stream), []);
  });
}

/** A queue whose dead letters go to a stream and to another queue. */
export async function deadLettering(
  world: World,
  type: string,
  args: DeclareArguments = {},
): Promise<{ readonly stream: string; readonly other: string; readonly queue: string }> {
  const [stream, other] = [await streamIn(world, "s"), await world.queue("other")];
  const exchange = await world.exchange("x", "fanout");
  await world.bind(stream, exchange);
  await world.bind(other, exchange);
  const queue = await world.queue("q", { "x-queue-type": type, "x-dead-letter-exchange": exchange, ...args });
  return { stream, other, queue };
}

function publishing(it: Scenario): void {
  it("takes what is published to it, with and without a confirm, by every way", async (world) => {
    const [stream, exchange] = [await streamIn(world, "s"), await world.exchange("x", "topic")];
    await world.bind(stream, exchange, { key: "orders.#" });
    const published = await world.mq.publish(outbound(stream, { body: "0" }), { lane: 1, confirm: false });
    assert.deepEqual(published, { outcome: "published" });
    const ways = [
      { exchange: "", routingKey: stream },
      { exchange, routingKey: "orders.new" },
      { exchange, routingKey: "nobody", headers: { CC: ["orders.copied"] } },
    ];
    for (const [index, way] of ways.entries()) {
      assert.deepEqual(await world.publish("", { ...way, body: String(index + 1) }), { outcome: "confirmed" });
    }
    const reader = await readFrom(world, stream, { from: "first" });
    assert.deepEqual(await entriesOf(world, reader, 4), ["0", "1", "2", "3"]);
    const routes = reader.deliveries.map(({ message }) => [message.exchange, message.routingKey]);
    assert.deepEqual(routes, [["", stream], ["", stream], [exchange, "orders.new"], [exchange, "nobody"]]);
  });

  it("keeps properties and bytes as they were, a time to live without obeying it", async (world) => {
    const stream = await streamIn(world, "s");
    const body = Uint8Array.from({ length: 256 }, (_, index) => index);
    const parts = { body, contentType: "text/x", messageId: "id", replyTo: "back", priority: 4, persistent: false };
    await world.publish(stream, { ...parts, expirationMs: 1 });
    await world.publish(stream, { body: "", messageId: "bare" });
    await world.under.pass(50);
    const reader = await readFrom(world, stream, { from: "first" });
    await entriesOf(world, reader, 2);
    const [first, second] = reader.deliveries.map(({ message }) => message);
    assert.deepEqual(first?.body, body);
    assert.deepEqual(present(first?.properties), {
      contentType: "text/x",
      messageId: "id",
      replyTo: "back",
      priority: 4,
      deliveryMode: 1,
      expiration: "1",
    });
    assert.deepEqual(present(second?.properties), { messageId: "bare", deliveryMode: 2 });
    assert.equal(second?.body.byteLength, 0);
  });

  it("keeps headers of one value with their kind", async (world) => {
    assert.deepEqual(await headersOut(world, KEPT), KEPT);
  });

  it("drops headers that hold lists and tables, the broker's and anybody's", async (world) => {
    const structured: WireTable = {
      list: [1, "a"],
      table: { a: 1 },
      "x-list": [1],
      "x-death": [{ count: 1 }],
      CC: ["a"],
    };
    assert.deepEqual(await headersOut(world, { ...structured, after: 1 }), { after: 1 });
  });

  it("keeps bytes as bytes", async (world) => {
    assert.deepEqual(await headersOut(world, { bytes: Uint8Array.of(1, 2) }), { bytes: Uint8Array.of(1, 2) });
  });

  it("reads an unsigned integer as a signed one", async (world) => {
    assert.deepEqual(await headersOut(world, { large: new WireUnsigned(2n ** 64n - 1n) }), { large: -1 });
  });

  it("does not take a decimal", async (world) => {
    const [stream, { mq }] = [await streamIn(world, "s"), await world.connect()];
    // RabbitMQ closes the connection over it.
    const receipt = await world.publish(stream, { headers: { price: new WireDecimal(2, 314) } }, mq);
    assert.notEqual(receipt.outcome, "confirmed");
    assert.deepEqual(await allOf(world, stream), []);
  });
}

function settling(it: Scenario): void {
  for (const as of ["requeue", "discard"] as const) {
    it(`loses the reader that settles an entry with "${as}": it begins again where it began`, async (world) => {
      const dead = await world.queue("dead");
      const [stream, { mq }] = [await streamIn(world, "s"), await world.connect()];
      await world.fill(stream, "0", "1", "2");
      const reader = await readFrom(world, stream, { from: 1, by: mq });
      await entriesOf(world, reader, 2);
      assert.equal(reader.deliveries[0]?.settle(as), "sent");
      await world.until("a loss", () => reader.losses.length === 1);
      await world.until("a recovery", () => reader.recoveries() === 1);
      assert.deepEqual(await entriesOf(world, reader, 4), ["1", "2", "1", "2"]);
      assert.deepEqual(reader.deliveries.map(({ message }) => message.redelivered), [false, false, false, false]);
      assert.equal(reader.deliveries[1]?.settle("ack"), "stale");
      assert.deepEqual(await allOf(world, stream), ["0", "1", "2"]);
      await world.depth(dead, 0);
    });
  }
}

function retention(it: Scenario): void {
  it("drops whole segments from its beginning when it is too long, and keeps what is newest", async (world) => {
    const stream = await streamIn(world, "s", {
      "x-max-length-bytes": 60_000,
      "x-stream-max-segment-size-bytes": 20_000,
    });
    await numbered(world, stream, 100);
    const reader = await readUntilDropped(world, stream, "99");
    const kept = reader.bodies();
    assert.deepEqual(kept, Array.from({ length: kept.length }, (_, index) => String(100 - kept.length + index)));
    const offsets = offsetsOf(reader);
    const far = await readFrom(world, stream, { from: 1 });
    await world.until("an entry", () => far.deliveries.length > 0);
    assert.deepEqual(offsetsOf(far)[0], offsets[0]);
  });

  it("drops whole segments that are too old when another one is begun, and keeps what is newest", async (world) => {
    const stream = await streamIn(world, "s", { "x-max-age": "2s", "x-stream-max-segment-size-bytes": 20_000 });
    await numbered(world, stream, 50);
    await world.under.pass(3_000);
    await numbered(world, stream, 100, 50);
    const reader = await readUntilDropped(world, stream, "99");
    assert.ok(reader.bodies().length >= 20, `${reader.bodies().length} entries`);
  });
}

/** Publishes a kilobyte for each number, which is what its entry begins with. */
async function numbered(world: World, stream: string, end: number, begin = 0): Promise<void> {
  for (let number = begin; number < end; number++) {
    await world.publish(stream, { body: String(number).padEnd(1_000) });
  }
}

/** A reader from the first entry, once that is not the first one that was ever written. */
async function readUntilDropped(world: World, stream: string, last: string): Promise<Reader> {
  return await world.until("entries to be dropped", async () => {
    const reader = await readFrom(world, stream, { from: "first", prefetch: 1_000 });
    const bodies = (): readonly string[] => reader.bodies().map((body) => body.trim());
    await world.until("the last entry", () => bodies().includes(last));
    await reader.subscription.close();
    return bodies()[0] === "0" ? undefined : { ...reader, bodies };
  });
}

/** What a stream makes of headers, but for the number of the entry. */
async function headersOut(world: World, headers: WireTable): Promise<Record<string, WireValue>> {
  const stream = await streamIn(world, "s");
  assert.deepEqual(await world.publish(stream, { body: "1", headers }), { outcome: "confirmed" });
  const reader = await readFrom(world, stream, { from: "first" });
  await entriesOf(world, reader, 1);
  const message = reader.deliveries[0]?.message;
  assert.ok(message !== undefined && textOf(message) === "1");
  const { "x-stream-offset": _, ...others } = message.headers;
  return others;
}

function present(properties: object = {}): object {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
