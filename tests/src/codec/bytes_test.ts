import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Buffer } from "node:buffer";
import { bytesCodec, type BytesPayload } from "../../../src/codec/bytes.ts";
import { EncodeError } from "../../../src/errors.ts";
import type { EncodedPayload } from "../../../src/ports/codec.ts";

function bytesOf(payload: unknown): Uint8Array {
  return (bytesCodec().encode(payload as BytesPayload) as EncodedPayload).body;
}

describe("bytes", () => {
  it("are written as they are, without framing", () => {
    assert.equal(bytesCodec().contentType, "application/octet-stream");
    assert.deepEqual(bytesOf(new Uint8Array([1, 2, 255])), new Uint8Array([1, 2, 255]));
  });

  const memory = new Uint8Array([9, 1, 2, 9]).buffer;
  const payloads: readonly (readonly [what: string, payload: BytesPayload, bytes: readonly number[]])[] = [
    ["an ArrayBuffer", memory, [9, 1, 2, 9]],
    ["the part a view shows", new Uint8Array(memory, 1, 2), [1, 2]],
    ["a view of another kind", new DataView(memory, 2, 2), [2, 9]],
    ["numbers of two bytes", new Uint16Array([0x0201]), [1, 2]],
    ["a Node Buffer", Buffer.from([7, 8]), [7, 8]],
    ["text, as UTF-8", "ö", [0xc3, 0xb6]],
    ["nothing", "", []],
  ];
  for (const [what, payload, bytes] of payloads) {
    it(`are taken from ${what}`, () => assert.deepEqual([...bytesOf(payload)], bytes));
  }

  it("are refused where there are none", () => {
    for (const payload of [null, undefined, 1, {}, [1, 2], true]) assert.throws(() => bytesOf(payload), EncodeError);
    assert.throws(() => bytesOf("\ud800"), EncodeError);
  });

  it("are a copy, written and read, also of a Node Buffer", () => {
    for (const source of [new Uint8Array([1, 2]), Buffer.from([1, 2])]) {
      const written = bytesOf(source);
      const read = bytesCodec().decode(source, {}) as Uint8Array;
      source[0] = 9;
      assert.deepEqual([[...written], [...read]], [[1, 2], [1, 2]]);
      assert.equal(Object.getPrototypeOf(read), Uint8Array.prototype);
    }
  });

  it("are claimed for every content type and for none: a composite must ask this codec last", () => {
    for (const type of [undefined, "", "application/octet-stream", "application/json", "nonsense"]) {
      assert.equal(bytesCodec().canDecode(type), true);
    }
  });
});
