import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import fc from "fast-check";
import { encodeBase64 } from "../../../src/internal/base64.ts";

describe("base64", () => {
  const vectors: readonly (readonly [string, string])[] = [
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg=="],
    ["fooba", "Zm9vYmE="],
    ["foobar", "Zm9vYmFy"],
  ];
  for (const [text, encoded] of vectors) {
    it(`of "${text}" is "${encoded}", as RFC 4648 has it`, () => {
      assert.equal(encodeBase64(new TextEncoder().encode(text)), encoded);
    });
  }

  it("uses the standard alphabet", () => assert.equal(encodeBase64(Uint8Array.of(0xfb, 0xff, 0xfe)), "+//+"));

  it("of any bytes is what the platform writes", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.equal(encodeBase64(bytes), Buffer.from(bytes).toString("base64"));
    }));
  });

  it("is whole across the pieces a long body is taken in", () => {
    for (const length of [8_191, 8_192, 8_193, 16_384, 300_001]) {
      const bytes = Uint8Array.from({ length }, (_, index) => index * 31 + (index >> 8));
      assert.equal(encodeBase64(bytes), Buffer.from(bytes).toString("base64"));
    }
  });

  it("reads the bytes of a view, not of the buffer below it", () => {
    assert.equal(encodeBase64(Uint8Array.of(1, 2, 3, 4).subarray(1, 3)), "AgM=");
  });
});
