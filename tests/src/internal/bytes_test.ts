import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { equalBytes, lenientUtf8, strictUtf8, truncateUtf8, utf8Length } from "../../../src/internal/bytes.ts";

const ENCODER = new TextEncoder();

/** Any text of JavaScript, halves of surrogate pairs included. */
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });

/** Text with characters of one to four bytes, well mixed. */
const mixedText = fc.string({ unit: fc.constantFrom("a", "ü", "€", "🧀"), maxLength: 60 });

describe("UTF-8", () => {
  const invalid = [[0xff], [0xc3, 0x28], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]];

  it("is text when it is valid, a byte order mark included", () => {
    for (const text of ["", "a", "käse 🧀", "\ufeffa", "\ufffd", "\u0000"]) {
      assert.equal(strictUtf8(ENCODER.encode(text)), text);
      assert.equal(lenientUtf8(ENCODER.encode(text)), text);
    }
  });

  for (const bytes of invalid) {
    it(`is no text in the strict sense: ${bytes.map((byte) => byte.toString(16)).join(" ")}`, () => {
      assert.equal(strictUtf8(Uint8Array.from(bytes)), undefined);
      assert.match(lenientUtf8(Uint8Array.from(bytes)), /\ufffd/);
    });
  }
});

describe("the length of a text in UTF-8", () => {
  it("is what the platform's encoder writes", () => {
    fc.assert(fc.property(fc.oneof(anyText, mixedText), (text) => {
      assert.equal(utf8Length(text), ENCODER.encode(text).byteLength);
    }));
  });

  it("counts half a surrogate pair as the three bytes of its replacement", () => {
    for (const text of ["\ud83d", "\ude00", "\ude00\ud83d", "\ud83d\ud83d\ude00", "a\ud83d"]) {
      assert.equal(utf8Length(text), ENCODER.encode(text).byteLength);
    }
  });
});

describe("a text cut to a number of bytes", () => {
  const cuts: readonly (readonly [string, number, string])[] = [
    ["abc", 3, "abc"],
    ["abc", 2, "ab"],
    ["abc", 0, ""],
    ["abc", -1, ""],
    ["aü", 3, "aü"],
    ["aü", 2, "a"],
    ["€uro", 2, ""],
    ["€uro", 3, "€"],
    ["🧀🧀", 7, "🧀"],
    ["🧀🧀", 3, ""],
    ["", 0, ""],
    ["", 10, ""],
  ];
  for (const [text, limit, expected] of cuts) {
    it(`of ${limit} is "${expected}" for "${text}"`, () => assert.equal(truncateUtf8(text, limit), expected));
  }

  it("is its longest beginning of whole characters that fits", () => {
    fc.assert(fc.property(mixedText, fc.nat(120), (text, limit) => {
      const characters = [...text];
      let kept = 0;
      while (
        kept < characters.length && ENCODER.encode(characters.slice(0, kept + 1).join("")).byteLength <= limit
      ) kept++;
      assert.equal(truncateUtf8(text, limit), characters.slice(0, kept).join(""));
    }));
  });

  it("fits and is a beginning, whatever the text", () => {
    fc.assert(fc.property(anyText, fc.nat(60), (text, limit) => {
      const cut = truncateUtf8(text, limit);
      assert.ok(text.startsWith(cut));
      assert.ok(ENCODER.encode(cut).byteLength <= limit);
    }));
  });

  it("of 300 KB ends at a character as well", () => {
    const cut = truncateUtf8("🧀".repeat(75_000), 8_193);
    assert.equal(cut, "🧀".repeat(2_048));
  });
});

describe("bytes", () => {
  it("are equal when they say the same, wherever they lie", () => {
    const bytes = Uint8Array.of(0, 1, 2, 1, 2);
    assert.equal(equalBytes(bytes.subarray(1, 3), bytes.subarray(3, 5)), true);
    assert.equal(equalBytes(new Uint8Array(), new Uint8Array()), true);
    for (const other of [[1], [1, 3], [1, 2, 0], [2, 1]]) {
      assert.equal(equalBytes(Uint8Array.of(1, 2), Uint8Array.from(other)), false);
    }
  });
});
