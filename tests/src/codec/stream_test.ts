/** Bodies as streams. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { streamCodec, type StreamPayload } from "../../../src/codec/stream.ts";
import { EncodeError } from "../../../src/errors.ts";

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** A stream of the given parts, and what it was told when it was given up. */
function streamOf(parts: readonly unknown[]): { stream: ReadableStream<Uint8Array>; cancelled: unknown[] } {
  const cancelled: unknown[] = [];
  const left = [...parts];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = left.shift();
      if (part instanceof Error) controller.error(part);
      else if (part === undefined) controller.close();
      else controller.enqueue(part as Uint8Array);
    },
    cancel: (reason) => void cancelled.push(reason),
  });
  return { stream, cancelled };
}

describe("the stream codec", () => {
  const codec = streamCodec();

  it("writes what a stream, a Blob, a Response and bytes hold", async () => {
    const { stream } = streamOf([bytes("grü"), bytes(""), bytes("n")]);
    const payloads: StreamPayload[] = [stream, new Blob(["grün"]), new Response("grün"), bytes("grün")];
    for (const payload of payloads) assert.deepEqual((await codec.encode(payload)).body, bytes("grün"));
  });

  it("says what the bytes are where the payload does", async () => {
    const typed = new Blob(["1;2"], { type: "text/csv" });
    const answer = new Response("<a/>", { headers: { "content-type": "application/xml" } });
    assert.equal((await codec.encode(typed)).contentType, "text/csv");
    assert.equal((await codec.encode(answer)).contentType, "application/xml");
    for (const untyped of [bytes("x"), new Blob(["x"]), streamOf([bytes("x")]).stream, new Response(bytes("x"))]) {
      assert.equal((await codec.encode(untyped)).contentType, "application/octet-stream");
    }
  });

  it("reads every body as a stream, an empty one too", async () => {
    for (const text of ["grün", ""]) {
      const payload = await codec.decode(bytes(text), { contentType: "text/csv" });
      assert.equal(await new Response(payload as BodyInit).text(), text);
    }
    assert.deepEqual([codec.canDecode("image/png"), codec.canDecode(undefined)], [true, true]);
  });

  it("refuses an error page, a body that was read, and a stream that somebody else reads", async () => {
    const read = new Response("x");
    await read.text();
    const { stream } = streamOf([bytes("x")]);
    stream.getReader();
    const refused: [StreamPayload, RegExp][] = [
      [new Response("Not Found", { status: 404 }), /^EncodeError: Cannot send the response: it has the status 404$/],
      [read, /its body has been read/],
      [stream, /somebody else is reading it/],
    ];
    for (const [payload, message] of refused) await assert.rejects(async () => await codec.encode(payload), message);
  });

  it("refuses what is no stream, without showing it", async () => {
    for (const payload of [undefined, null, "4242", 4242, {}, [bytes("x")], () => {}]) {
      await assert.rejects(async () => await codec.encode(payload as never), (error: unknown) => {
        assert.ok(error instanceof EncodeError);
        assert.match(error.message, /it must be a ReadableStream, a Blob, a Response or bytes, found /);
        assert.doesNotMatch(error.message, /4242/);
        return true;
      });
    }
    await assert.rejects(async () => await codec.encode(streamOf(["4242"]).stream), /found string in it$/);
  });

  it("refuses a stream that fails, with the failure as its cause", async () => {
    const failure = new Error("the disk is gone");
    await assert.rejects(async () => await codec.encode(streamOf([bytes("x"), failure]).stream), (error: unknown) => {
      assert.ok(error instanceof EncodeError);
      assert.equal(error.cause, failure);
      return true;
    });
  });

  it("reads no further than it may, and lets go of the stream", async () => {
    const { stream, cancelled } = streamOf([bytes("123"), bytes("4"), bytes("5")]);
    const small = streamCodec({ maxBytes: 3 });
    await assert.rejects(async () => await small.encode(stream), /it must be of 3 bytes at most, found more/);
    assert.equal(cancelled.length, 1);
    assert.deepEqual((await small.encode(bytes("123"))).body, bytes("123"));
  });

  it("refuses options there are not", () => {
    assert.throws(() => streamCodec({ maxBytes: 0 }), RangeError);
    assert.throws(() => streamCodec({ maxBites: 1 } as never), TypeError);
  });
});
