/** Frames on their way to the socket. */
import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { FrameQueue } from "../../../adapters/amqp/frame_queue.ts";

/** A socket that takes its time: bytes are done with when the test says so. */
class SlowSink {
  readonly writes: { readonly bytes: Uint8Array; readonly done: () => void }[] = [];

  write(bytes: Uint8Array, done: () => void): void {
    this.writes.push({ bytes, done });
  }

  get text(): readonly string[] {
    return this.writes.map(({ bytes }) => new TextDecoder().decode(bytes));
  }
}

/** What is left of this turn of the event loop. */
function tick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function put(queue: FrameQueue, text: string): void {
  queue.writer.raw(new TextEncoder().encode(text));
  queue.commit();
}

describe("frames of one tick", () => {
  it("leave together, in order, before the event loop turns", async () => {
    const sink = new SlowSink();
    const queue = new FrameQueue(sink);
    for (const text of ["one ", "two ", "three"]) put(queue, text);
    assert.deepEqual(sink.text, []);
    await tick();
    assert.deepEqual(sink.text, ["one two three"]);
    put(queue, "four");
    await tick();
    assert.deepEqual(sink.text, ["one two three", "four"]);
  });

  it("leave at once when they are many", () => {
    const sink = new SlowSink();
    const queue = new FrameQueue(sink);
    put(queue, "x".repeat(65_536));
    assert.equal(sink.writes.length, 1);
    put(queue, "y");
    assert.equal(sink.writes.length, 1);
  });

  it("leave at once when somebody flushes, and then not again", async () => {
    const sink = new SlowSink();
    const queue = new FrameQueue(sink);
    put(queue, "one");
    queue.flush();
    queue.flush();
    await tick();
    assert.deepEqual(sink.text, ["one"]);
  });
});

describe("bytes that the socket still holds", () => {
  it("are never written over, however much is sent meanwhile", async () => {
    const sink = new SlowSink();
    const queue = new FrameQueue(sink);
    const sent = Array.from({ length: 40 }, (_, index) => `message ${index} ${"x".repeat(index * 3_000)}`);
    for (const [index, text] of sent.entries()) {
      put(queue, text);
      await tick();
      // Every other one is done with late, out of order.
      if (index % 2 === 1) sink.writes[index]?.done();
    }
    const held = sink.text.filter((_, index) => index % 2 === 0);
    assert.deepEqual(held, sent.filter((_, index) => index % 2 === 0));
  });

  it("are told when they are written, each with what was queued before", async () => {
    const sink = new SlowSink();
    const queue = new FrameQueue(sink);
    const written: string[] = [];
    put(queue, "one");
    queue.whenWritten(() => written.push("one"));
    await tick();
    put(queue, "two");
    queue.whenWritten(() => written.push("two"));
    await tick();
    assert.deepEqual(written, []);
    sink.writes[0]?.done();
    assert.deepEqual(written, ["one"]);
    sink.writes[1]?.done();
    assert.deepEqual(written, ["one", "two"]);
  });
});
