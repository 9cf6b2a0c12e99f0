/** Texts are read and written as the platform's own strict decoder and encoder would. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { textReader, textWriter } from "../../../adapters/avro/utf8.ts";
import { bytesOfHex } from "../../support/fixtures.ts";

function strictly(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

describe("a text", () => {
  it("is read from bytes that are UTF-8, and from no others", () => {
    const read = textReader();
    const lead = fc.constantFrom(0xc0, 0xc3, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff);
    const byte = fc.oneof(fc.nat({ max: 0x7f }), fc.integer({ min: 0x80, max: 0xbf }), lead);
    const text = fc.string({ unit: "binary" }).map((one) => [...new TextEncoder().encode(one)]);
    fc.assert(
      fc.property(fc.array(fc.oneof(byte.map((one) => [one]), text), { maxLength: 12 }), (parts) => {
        const bytes = Uint8Array.from(parts.flat());
        const around = Uint8Array.of(0xe2, ...bytes, 0x82);
        assert.equal(read(around, 1, 1 + bytes.length), strictly(bytes));
      }),
      { numRuns: 5_000 },
    );
  });

  it("may hold what others put in place of what they cannot read, and a byte order mark", () => {
    const read = textReader();
    for (const text of ["\ufffd", "a\ufffdb", "\ufeff", "\ufeffa", "größe 📦", ""]) {
      const bytes = new TextEncoder().encode(text);
      assert.equal(read(bytes, 0, bytes.length), text);
    }
    for (const hex of ["eda080", "c080", "f4908080", "e282", "80", "efbfbdff", "f0808080"]) {
      assert.equal(read(bytesOfHex(hex), 0, hex.length / 2), undefined, hex);
    }
  });

  it("is written where it is to be, and nowhere else", () => {
    const write = textWriter();
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.nat({ max: 9 }), (text, at) => {
        const wanted = new TextEncoder().encode(text);
        const into = new Uint8Array(at + 3 * text.length + 4).fill(0xaa);
        assert.equal(write(text, into, at), wanted.length);
        assert.deepEqual(into.subarray(at, at + wanted.length), wanted);
        assert.deepEqual(into.subarray(0, at), new Uint8Array(at).fill(0xaa));
      }),
      { numRuns: 1_000 },
    );
  });
});
