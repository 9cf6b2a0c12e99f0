/**
 * Reading a stream: everybody sees everything, each from a place of their own.
 *
 * @module
 */

import assert from "node:assert/strict";
import { AceMqError, TopologyError } from "../../../src/errors.ts";
import type { HeaderValue } from "../../../src/message/header_value.ts";
import { allOf, entriesOf, offsetsOf, readFrom, streamIn } from "./stream_world.ts";
import type { Scenario, World } from "./world.ts";

/** Where a reader of a stream with 0, 1 and 2 begins, and what it is given once 3, 4 and 5 have come. */
const PLACES: readonly (readonly [label: string, from: HeaderValue | undefined, given: string])[] = [
  ["at the first entry", "first", "012345"],
  ["with what comes next", "next", "345"],
  ["with what comes next unless it is told", undefined, "345"],
  ["at an offset", 1, "12345"],
  ["at an offset that is a long integer [STR-06]", 2n, "2345"],
  ["at the first entry when its offset lies before it", -1, "012345"],
  ["at the offset behind the last entry", 3, "345"],
  ["at an offset further on, when it is reached", 5, "5"],
  ["with what was published within an interval", "1h", "012345"],
  ["at the first entry when the interval is longer than the stream", "100Y", "012345"],
  ["with what was published since a time", new Date(0), "012345"],
];

/** Offsets that begin with a digit and are none. */
const NO_INTERVALS = ["1", "0s", "2h30m", "1.5h", "1w", "1H"] as const;

/** What no offset looks like. */
const NO_OFFSETS: readonly HeaderValue[] = ["", "foo", "First", "-1s", true, 1.5, null, ["first"], { first: 1 }];

/** The cases about reading a stream. */
export function streamReading(it: Scenario): void {
  places(it);
  credit(it);

  it("gives every reader everything, in order, at a pace of its own", async (world) => {
    const stream = await streamIn(world, "s");
    await world.fill(stream, "0", "1", "2");
    const eager = await readFrom(world, stream, { from: "first", each: (delivery) => delivery.settle("ack") });
    const { mq } = await world.connect();
    const slow = await readFrom(world, stream, { from: "first", by: mq, prefetch: 1 });
    await world.fill(stream, "3");
    assert.deepEqual(await entriesOf(world, eager, 4), ["0", "1", "2", "3"]);
    assert.deepEqual(await entriesOf(world, slow, 1), ["0"]);
    for (let given = 1; given < 4; given++) {
      slow.deliveries[given - 1]?.settle("ack");
      await entriesOf(world, slow, given + 1);
    }
    assert.deepEqual(slow.bodies(), ["0", "1", "2", "3"]);
  });

  it("numbers the entries from 0, over whatever was sent under the name of the number", async (world) => {
    const stream = await streamIn(world, "s");
    await world.publish(stream, { headers: { "x-stream-offset": 77, mine: 1 } });
    await world.publish(stream, { headers: { "x-stream-offset": "first" } });
    await world.publish(stream);
    const reader = await readFrom(world, stream, { from: "first" });
    await entriesOf(world, reader, 3);
    assert.deepEqual(reader.deliveries.map(({ message }) => message.headers), [
      { mine: 1, "x-stream-offset": 0 },
      { "x-stream-offset": 1 },
      { "x-stream-offset": 2 },
    ]);
  });

  it("keeps what is acknowledged: a later reader finds it, and nothing is marked as redelivered", async (world) => {
    const stream = await streamIn(world, "s");
    await world.fill(stream, "0", "1", "2");
    for (let reading = 0; reading < 2; reading++) {
      const reader = await readFrom(world, stream, { from: "first" });
      assert.deepEqual(await entriesOf(world, reader, 3), ["0", "1", "2"]);
      assert.deepEqual(reader.deliveries.map(({ message }) => message.redelivered), [false, false, false]);
      reader.deliveries[0]?.settle("ack");
      reader.deliveries[1]?.settle("ack");
      await reader.subscription.close();
    }
  });

  it("gives a reader nothing after a cancel, and still takes what it settles", async (world) => {
    const stream = await streamIn(world, "s");
    await world.fill(stream, "0");
    const { bodies, deliveries, subscription } = await readFrom(world, stream, { from: "first" });
    await world.until("an entry", () => deliveries[0]);
    await subscription.cancel();
    assert.equal(subscription.live, false);
    await world.fill(stream, "1");
    assert.deepEqual(await allOf(world, stream), ["0", "1"]);
    assert.equal(deliveries[0]?.settle("ack"), "sent");
    await subscription.close();
    assert.deepEqual(bodies(), ["0"]);
  });

  it("tells a reader that its stream was deleted, and begins where it began when there is another", async (world) => {
    const stream = await streamIn(world, "s");
    await world.fill(stream, "old");
    const { mq, events } = await world.connect();
    const { bodies, deliveries, losses, recoveries } = await readFrom(world, stream, { from: "first", by: mq });
    await world.until("an entry", () => deliveries.length === 1);
    await world.mq.deleteQueue(stream);
    await world.until("a loss", () => losses.length === 1);
    assert.equal(deliveries[0]?.settle("ack"), "stale");
    await streamIn(world, "s");
    await world.fill(stream, "new");
    await world.until("a recovery", () => recoveries() === 1);
    await world.until("the new entry", () => deliveries.length === 2);
    assert.deepEqual(bodies(), ["old", "new"]);
    assert.deepEqual(events.map(({ type }) => type), ["consumer_lost", "consumer_recovered"]);
  });
}

function places(it: Scenario): void {
  for (const [label, from, given] of PLACES) {
    it(`begins ${label}`, async (world) => {
      const stream = await streamIn(world, "s");
      await world.fill(stream, "0", "1", "2");
      const reader = await readFrom(world, stream, { from });
      await world.fill(stream, "3", "4", "5");
      assert.equal((await entriesOf(world, reader, given.length)).join(""), given);
      assert.deepEqual(offsetsOf(reader), [...given].map(Number));
    });
  }

  it("begins at the last entry, or a little before it: the broker keeps entries in chunks", async (world) => {
    const stream = await streamIn(world, "s");
    await Promise.all(Array.from({ length: 50 }, (_, index) => world.publish(stream, { body: String(index) })));
    const reader = await readFrom(world, stream, { from: "last" });
    await world.until("the last entry", () => reader.bodies().includes("49"));
    await world.fill(stream, "50");
    await world.until("the next entry", () => reader.bodies().includes("50"));
    const all = Array.from({ length: 51 }, (_, index) => String(index));
    assert.deepEqual(reader.bodies(), all.slice(-reader.bodies().length));
  });

  it("begins with what was published since a time, or with what comes next when that is still to come", async (world) => {
    const stream = await streamIn(world, "s");
    await world.fill(stream, "early");
    await world.under.pass(2_500);
    const now = world.under.clock.now();
    await world.under.pass(1_500);
    await world.fill(stream, "late");
    const since = await readFrom(world, stream, { from: new Date(now) });
    // To one or two seconds before then, however long it took to get here: between the early one and the late one.
    const seconds = Math.floor((world.under.clock.now() - now) / 1_000) + 2;
    const within = await readFrom(world, stream, { from: `${seconds}s` });
    const beyond = await readFrom(world, stream, { from: new Date(now + 3_600_000) });
    const before1970 = await readFrom(world, stream, { from: new Date(-1_000) });
    await world.fill(stream, "next");
    assert.deepEqual(await entriesOf(world, since, 2), ["late", "next"]);
    assert.deepEqual(await entriesOf(world, within, 2), ["late", "next"]);
    assert.deepEqual(await entriesOf(world, beyond, 1), ["next"]);
    assert.deepEqual(await entriesOf(world, before1970, 1), ["next"]);
  });

  for (const from of NO_INTERVALS) {
    it(`refuses the offset "${from}", and goes on`, async (world) => {
      const stream = await streamIn(world, "s");
      const words = `PRECONDITION_FAILED - invalid arg 'x-stream-offset' for queue '${stream}' in vhost '/': ` +
        `{invalid_stream_offset_arg,{longstr,<<"${from}">>}}`;
      await assert.rejects(readFrom(world, stream, { from }), (error) => isRefused(error, words));
      await world.fill(stream, "still here");
    });
  }

  it("has no reader that begins where there is no place", async (world) => {
    const stream = await streamIn(world, "s");
    await world.fill(stream, "0");
    for (const from of NO_OFFSETS) {
      // RabbitMQ closes the connection over it, and says nothing of the offset.
      const { mq } = await world.connect();
      await assert.rejects(readFrom(world, stream, { from, by: mq }), AceMqError, JSON.stringify(from));
    }
    assert.deepEqual(await allOf(world, stream), ["0"]);
  });

  for (const type of ["classic", "quorum"] as const) {
    const needing = type === "quorum" ? it.needing("quorum_queues") : it;
    needing(`refuses a place in a ${type} queue`, async (world) => {
      const queue = await world.queue("q", { "x-queue-type": type });
      const words = `PRECONDITION_FAILED - invalid arg 'x-stream-offset' for queue '${queue}' in vhost '/' ` +
        `of queue type rabbit_${type}_queue`;
      await assert.rejects(readFrom(world, queue, { from: "first" }), (error) => isRefused(error, words));
      await world.fill(queue, "still here");
    });
  }

  it("refuses a priority among readers", async (world) => {
    const stream = await streamIn(world, "s");
    const words = `PRECONDITION_FAILED - invalid arg 'x-priority' for queue '${stream}' in vhost '/' ` +
      "of queue type rabbit_stream_queue";
    await assert.rejects(
      world.read(stream, { prefetch: 1, arguments: { "x-priority": 1 } }),
      (error) => isRefused(error, words),
    );
  });
}

function credit(it: Scenario): void {
  it("refuses a reader without a bound", async (world) => {
    const stream = await streamIn(world, "s");
    await assert.rejects(
      readFrom(world, stream, { from: "first", prefetch: 0 }),
      (error) => isRefused(error, "PRECONDITION_FAILED - consumer prefetch count is not set for "),
    );
    await world.fill(stream, "still here");
  });

  it("hands out no more than the prefetch, and one more for each that is acknowledged, whichever", async (world) => {
    const stream = await streamIn(world, "s");
    // One by one: RabbitMQ 3 does not divide what was written at once.
    await world.fill(stream, ..."0123456");
    const reader = await readFrom(world, stream, { from: "first", prefetch: 3 });
    assert.deepEqual(await settledEntries(world, stream, { reader, count: 3 }), [..."012"]);
    for (const [index, given] of [[2, 4], [0, 5], [1, 6]] as const) {
      reader.deliveries[index]?.settle("ack");
      assert.deepEqual(await settledEntries(world, stream, { reader, count: given }), [..."0123456"].slice(0, given));
    }
  });

  it("goes on where it is when the prefetch changes, and skips and repeats nothing", async (world) => {
    for (const from of ["first", undefined] as const) {
      const stream = await streamIn(world, `from ${from}`);
      if (from === "first") await world.fill(stream, "0", "1");
      const reader = await readFrom(world, stream, { from, prefetch: 2 });
      if (from === undefined) await world.fill(stream, "0", "1");
      await world.fill(stream, "2", "3", "4");
      assert.deepEqual(await settledEntries(world, stream, { reader, count: 2 }), ["0", "1"]);
      await reader.subscription.setPrefetch(10);
      for (let given = 0; given < 5; given++) {
        await entriesOf(world, reader, given + 1);
        reader.deliveries[given]?.settle("ack");
      }
      assert.deepEqual(reader.bodies(), ["0", "1", "2", "3", "4"]);
    }
  });
}

/** What a reader was given once another one has seen everything: there was time to give it more. */
async function settledEntries(
  world: World,
  stream: string,
  { reader, count }: { readonly reader: Awaited<ReturnType<typeof readFrom>>; readonly count: number },
): Promise<readonly string[]> {
  await entriesOf(world, reader, count);
  const other = await readFrom(world, stream, { from: 0 });
  await world.until("the other reader", () => other.bodies().includes(reader.bodies().at(-1) ?? ""));
  await other.subscription.close();
  await reader.subscription.caughtUp();
  return reader.bodies();
}

function isRefused(error: unknown, words: string): boolean {
  return error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_REFUSED" && error.message.includes(words);
}
