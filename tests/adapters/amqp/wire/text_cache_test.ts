/** The cache of short texts never changes what is read. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import fc from "fast-check";
import { TextCache } from "../../../../adapters/amqp/wire/text_cache.ts";

describe("a remembered text", () => {
  it("is the text of the bytes, whatever was remembered before", () => {
    const cache = new TextCache();
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 20 }), (texts) => {
        for (const text of [...texts, ...texts]) {
          const bytes = Buffer.from(text);
          assert.equal(cache.text(bytes, 0, bytes.byteLength), text);
          assert.equal(cache.longText(bytes, 0, bytes.byteLength), text);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("tells texts apart that fall into one slot", () => {
    const cache = new TextCache();
    for (const text of ["abcba", "aXcYa", "abcba"]) {
      assert.equal(cache.text(Buffer.from(text), 0, text.length), text);
    }
  });

  it("takes a replacement character that was sent for what it is, and tells it from bytes that are no UTF-8", () => {
    const cache = new TextCache();
    const sent = Buffer.from("a\ufffdb");
    assert.equal(cache.longText(sent, 0, sent.byteLength), "a\ufffdb");
    assert.equal(cache.longText(Buffer.from([0x61, 0xff, 0x62]), 0, 3), undefined);
    assert.equal(cache.text(Buffer.from([0x61, 0xff, 0x62]), 0, 3), "a\ufffdb");
  });
});
