/** Streams of the memory broker, beside what the contract says: what is seen from outside, and what a log drops. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { memoryBroker, virtualClock } from "../../../adapters/memory/mod.ts";
import type { StreamEntry } from "../../../adapters/memory/stream_entry.ts";
import { intervalMs } from "../../../adapters/memory/interval.ts";
import { StreamLog } from "../../../adapters/memory/stream_log.ts";
import type { StreamSettings } from "../../../adapters/memory/stream_settings.ts";

const UNBOUNDED: StreamSettings = { maxAgeMs: Infinity, maxLengthBytes: Infinity, segmentBytes: 100 };

function entry(offset: number, atMs: number, bytes = 1): StreamEntry {
  const message = { exchange: "", keys: ["s"], properties: {}, headers: {}, body: new Uint8Array(bytes) } as const;
  return { offset, atMs, message };
}

describe("a stream of the memory broker", () => {
  it("shows what it keeps, what its readers hold, and how many they are", async () => {
    const clock = virtualClock();
    const broker = memoryBroker({ clock });
    const mq = await broker.open({ name: "test", clock, onEvent: () => {} });
    const spec = { name: "s", durable: true, exclusive: false, autoDelete: false };
    await mq.declareQueue({ ...spec, arguments: { "x-queue-type": "stream" } });
    for (const text of ["0", "1", "2"]) {
      broker.put({ exchange: "", routingKey: "s", body: new TextEncoder().encode(text) });
    }
    const subscription = await mq.subscribe("s", {
      prefetch: 2,
      consumerTag: "t",
      arguments: { "x-stream-offset": "first" },
      onDelivery: (delivery) => delivery.message.headers["x-stream-offset"] === 0 && delivery.settle("ack"),
      onLost: () => {},
      onRecovered: () => {},
    });
    await clock.advance(0);
    const seen = broker.inspect("s");
    const offsets = (messages: typeof seen extends undefined ? never : NonNullable<typeof seen>["waiting"]): unknown =>
      messages.map(({ headers }) => headers["x-stream-offset"]);
    assert.deepEqual([offsets(seen?.waiting ?? []), offsets(seen?.inHand ?? [])], [[0, 1, 2], [1, 2]]);
    assert.deepEqual([seen?.unsettled, seen?.consumers], [2, 1]);
    await subscription.close();
    assert.deepEqual([broker.inspect("s")?.unsettled, broker.inspect("s")?.consumers], [0, 0]);
    await mq.close();
  });
});

describe("a log", () => {
  it("has every entry at its offset that it has not dropped, and drops only from the beginning", () => {
    const append = fc.record({ bytes: fc.integer({ min: 0, max: 150 }), laterMs: fc.integer({ min: 0, max: 50 }) });
    const settings = fc.record({
      maxAgeMs: fc.constantFrom(Infinity, 100),
      maxLengthBytes: fc.constantFrom(Infinity, 0, 300),
      segmentBytes: fc.constantFrom(0, 1, 100),
    });
    fc.assert(fc.property(settings, fc.array(append, { maxLength: 60 }), (settings, appends) => {
      const log = new StreamLog(settings);
      let [nowMs, first] = [0, 0];
      for (const [offset, { bytes, laterMs }] of appends.entries()) {
        nowMs += laterMs;
        log.append(entry(offset, nowMs, bytes));
        assert.ok(log.first >= first && log.first <= offset);
        first = log.first;
        assert.equal(log.at(0)?.offset, first);
        assert.deepEqual([log.next, log.size, log.at(offset + 1)], [offset + 1, offset + 1 - first, undefined]);
        for (let at = first; at <= offset; at++) assert.equal(log.at(at)?.offset, at);
      }
      assert.deepEqual(log.toArray().map(({ offset }) => offset), appends.map((_, offset) => offset).slice(first));
    }));
  });

  it("keeps as many segments as fit beside the one that is written, and drops none before another is begun", () => {
    const log = new StreamLog({ ...UNBOUNDED, maxLengthBytes: 250 });
    const firsts = Array.from({ length: 8 }, (_, offset) => {
      log.append(entry(offset, 0, 100));
      return log.first;
    });
    assert.deepEqual(firsts, [0, 0, 0, 1, 2, 3, 4, 5]);
  });

  it("drops a segment when all of it is too old, and keeps the one that is written however old it is", () => {
    const log = new StreamLog({ ...UNBOUNDED, maxAgeMs: 1_000 });
    log.append(entry(0, 0, 50));
    log.append(entry(1, 900, 50));
    log.append(entry(2, 1_800, 50));
    assert.equal(log.first, 0);
    log.append(entry(3, 9_000, 50));
    assert.equal(log.first, 0);
    log.append(entry(4, 9_000, 50));
    assert.equal(log.first, 2);
  });

  it("begins with what comes next while there is nothing, and since a time where that is", () => {
    const log = new StreamLog(UNBOUNDED);
    assert.deepEqual([log.first, log.next, log.since(0), log.at(0)], [0, 0, 0, undefined]);
    for (const [offset, atMs] of [10, 20, 20, 30].entries()) log.append(entry(offset, atMs, 60));
    assert.deepEqual([0, 10, 11, 20, 21, 31].map((atMs) => log.since(atMs)), [0, 0, 1, 1, 3, 4]);
  });
});

describe("an interval", () => {
  it("is a whole number and a unit", () => {
    assert.deepEqual(["1s", "2m", "3h", "1D", "1M", "1Y", "007s"].map(intervalMs), [
      1_000,
      120_000,
      10_800_000,
      86_400_000,
      2_592_000_000,
      31_536_000_000,
      7_000,
    ]);
    for (const text of ["", "1", "s", "0s", "1w", "1d", "-1s", "1.5h", "1h30m", " 1h", "1h "]) {
      assert.equal(intervalMs(text), undefined, text);
    }
  });
});
