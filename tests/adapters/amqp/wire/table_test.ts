/** Header tables, byte by byte: the kinds of the AMQP 0-9-1 errata that RabbitMQ and its clients use. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { MalformedFrame } from "../../../../adapters/amqp/wire/malformed.ts";
import { Unwritable } from "../../../../adapters/amqp/wire/unwritable.ts";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../../../src/message/wire_value.ts";
import { bytesOf, decodeTable, encodeTable, hexOf } from "../../../support/amqp_codec.ts";
import { tableBytes, tableOf } from "../../../support/amqp_frames.ts";
import { wireTable } from "../../../support/arbitraries.ts";

/** A value, the kind and bytes it stands for, and what it is written as where that is another kind. */
type Golden = readonly [what: string, bytes: string, value: WireValue, written?: string];

const GOLDEN: readonly Golden[] = [
  ["t, true", "74 01", true],
  ["t, false", "74 00", false],
  ["b, signed", "62 ff", -1, "49 ffffffff"],
  ["B, unsigned", "42 ff", 255, "49 000000ff"],
  ["s, signed", "73 8000", -32_768, "49 ffff8000"],
  ["u, unsigned", "75 ffff", 65_535, "49 0000ffff"],
  ["I, signed", "49 80000000", -2_147_483_648],
  ["i, unsigned", "69 ffffffff", 4_294_967_295, "6c 00000000ffffffff"],
  ["l, signed [SR-15]", "6c fffffffffffffc18", -1_000, "49 fffffc18"],
  ["l, the largest a number holds", "6c 001fffffffffffff", 9_007_199_254_740_991],
  ["l, beyond it (trap 4)", "6c 0020000000000001", 9_007_199_254_740_993n],
  ["l, the least", "6c 8000000000000000", -(2n ** 63n)],
  ["L, below 2^63", "4c 0000000000000005", 5, "49 00000005"],
  ["L, from 2^63 (trap 5)", "4c 8000000000000000", new WireUnsigned(2n ** 63n)],
  ["f", "66 3fc00000", new WireDouble(1.5), "64 3ff8000000000000"],
  ["d, whole", "64 4000000000000000", new WireDouble(2)],
  ["D, 12.34", "44 02 000004d2", new WireDecimal(2, 1_234)],
  ["D, negative", "44 00 ffffffff", new WireDecimal(0, -1)],
  ["T", "54 00000000698173f0", new Date("2026-02-03T04:05:04Z")],
  ["T, before 1970", "54 ffffffffffffffff", new Date(-1_000)],
  ["T, beyond a Date", "54 7fffffffffffffff", new WireTimestamp(2n ** 63n - 1n)],
  ["V", "56", null],
  ["S", "53 00000005 6772c3bc6e", "gr\u00fcn"],
  ["S, empty", "53 00000000", ""],
  ["S, a byte order mark is text", "53 00000003 efbbbf", "\ufeff"],
  ["S, no valid UTF-8", "53 00000002 61ff", new WireText(Uint8Array.of(0x61, 0xff))],
  ["x", "78 00000003 00ff7f", Uint8Array.of(0, 255, 127)],
  ["A, mixed", "41 00000008 49 00000001 56 74 01", [1, null, true]],
  ["F, nested", "46 00000004 01 6b 74 01", { k: true }],
];

describe("a header table", () => {
  for (const [what, bytes, value, other = bytes] of GOLDEN) {
    it(`reads and writes ${what}`, () => {
      assert.deepEqual(decodeTable(entry(bytes)), { h: value });
      assert.equal(hexOf(encodeTable({ h: value })), hexOf(entry(other)));
    });
  }

  it("reads negative 64-bit integers as what they are, not as 18446744073709550616 [SR-15]", () => {
    const foreign = tableBytes({ "x-delay": { "!": "long", value: -1_000 } });
    assert.deepEqual(decodeTable(foreign), { "x-delay": -1_000 });
  });

  it("writes 3, 200 and 40000 as 32 bits, and what does not fit as 64: a Java listener reads int and long [SR-17]", () => {
    const kinds = [3, 200, 40_000, 2 ** 31 - 1, 2 ** 31, 3_000_000_000, -(2 ** 31) - 1, 2 ** 40]
      .map((value) => String.fromCharCode(encodeTable({ h: value })[6] as number));
    assert.equal(kinds.join(""), "IIIIllll");
  });

  it("writes whole numbers between 2^31 and 2^32, and a fraction, so that another client reads them (traps 1, 2)", () => {
    const table = { large: 3_000_000_000, small: -4_000_000_000, fraction: 3.14 };
    assert.deepEqual({ ...tableOf(encodeTable(table)) }, table);
  });

  it("writes what amqplib writes, for every table it can write", () => {
    const table = { text: "a", yes: true, none: null, list: ["x", ["y"]], inner: { deep: { deeper: "z" } }, half: 0.5 };
    assert.equal(hexOf(encodeTable(table)), hexOf(tableBytes(table)));
  });

  it("comes back from bytes as it was, kinds included", () => {
    fc.assert(
      fc.property(wireTable.filter(isWritable), (table) => {
        assert.deepEqual(decodeTable(encodeTable(table)), table);
      }),
      { numRuns: 2_000 },
    );
  });

  it("gives a copy of a byte array: the socket's buffer is written to again later (trap 8)", () => {
    const bytes = entry("78 00000002 0102");
    const { h } = decodeTable(bytes);
    assert.notEqual((h as Uint8Array).buffer, bytes.buffer);
    assert.equal((h as Uint8Array).byteLength, (h as Uint8Array).buffer.byteLength);
  });

  it("keeps a name that Object.prototype has as an entry of its own", () => {
    const bytes = bytesOf("0000000e 09 5f5f70726f746f5f5f 74 01 00 56");
    const table = decodeTable(bytes);
    assert.deepEqual(Object.entries(table), [["__proto__", true], ["", null]]);
    assert.equal(hexOf(encodeTable(table)), hexOf(bytes));
  });
});

describe("a header table that cannot be written", () => {
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ["NaN [BRK-04]", NaN, /^"h" is NaN, which no AMQP kind holds$/],
    ["an infinity, nested [BRK-04]", { a: [1, -Infinity] }, /^"h"\."a" is -Infinity/],
    ["a double that is no number", new WireDouble(NaN), /is NaN/],
    ["2^63 (trap 3)", 2 ** 63, /does not fit a signed 64-bit integer/],
    ["a bigint of 65 bits", 2n ** 63n, /does not fit a signed 64-bit integer/],
    ["an unsigned integer of 65 bits", new WireUnsigned(2n ** 64n), /unsigned 64-bit integer/],
    ["a negative unsigned integer", new WireUnsigned(-1n), /unsigned 64-bit integer/],
    ["an invalid Date", new Date(NaN), /is an invalid Date/],
    ["a decimal with 256 digits behind the point", new WireDecimal(256, 1), /is a decimal that does not fit/],
    ["a decimal of 33 bits", new WireDecimal(0, 2 ** 31), /is a decimal that does not fit/],
    ["undefined", undefined, /is undefined, which no AMQP kind holds/],
    ["a function", () => {}, /is function, which no AMQP kind holds/],
    ["a symbol", Symbol("s"), /is symbol, which no AMQP kind holds/],
    ["half a surrogate pair", "\ud800", /holds half a surrogate pair/],
  ];
  for (const [what, value, problem] of cases) {
    it(`names the header that holds ${what} [BRK-07]`, () => {
      assert.throws(() => encodeTable({ h: value } as WireTable), (error) => {
        return error instanceof Unwritable && problem.test(error.message);
      });
    });
  }

  it("takes a name of 255 bytes and refuses one of 256, counted in UTF-8 [SR-20]", () => {
    const name = "\u00fc".repeat(127);
    assert.equal(Object.keys(decodeTable(encodeTable({ [`${name}a`]: 1 })))[0], `${name}a`);
    assert.throws(() => encodeTable({ [`${name}ab`]: 1 }), /must fit 255 bytes of UTF-8, found 256$/);
    assert.throws(() => encodeTable({ ["n".repeat(256)]: 1 }), /found 256$/);
  });
});

describe("bytes that are no header table", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a kind nobody knows", "00000003 01 68 7a"],
    ["a table longer than the frame", "000000ff 01 68 56"],
    ["an entry cut off", "00000005 01 68 49 0000"],
    ["a nested table longer than what holds it", "00000007 01 68 46 000000ff"],
    ["a text longer than the frame", "00000007 01 68 53 ffffffff"],
    ["a list whose length ends inside a value", "0000000a 01 68 41 00000003 49 0000"],
    ["no length", "0000"],
  ];
  for (const [what, hex] of cases) {
    it(`are refused: ${what}`, () => assert.throws(() => decodeTable(bytesOf(hex)), MalformedFrame));
  }

  it("go on as they came when they nest deeper than anybody writes: refusing them would lose the link again and again", () => {
    for (const depths of [64, 65, 66, 300, 9_000]) {
      let bytes = bytesOf("00000000");
      for (let depth = 0; depth < depths; depth++) bytes = entryTable(bytes);
      assert.deepEqual(encodeTable(decodeTable(bytes)), bytes);
    }
  });

  it("never read a byte outside the frame, whatever they say", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        decodeTable(bytes);
      } catch (error) {
        assert.ok(error instanceof MalformedFrame, String(error));
      }
    }));
  });
});

/** A table whose one entry `h` has the given bytes. */
function entry(hex: string): Uint8Array {
  return withLength(bytesOf(`01 68 ${hex}`));
}

/** A table whose one entry is the given table. */
function entryTable(inner: Uint8Array): Uint8Array {
  return withLength(Uint8Array.of(1, 0x68, 0x46, ...inner));
}

function withLength(bytes: Uint8Array): Uint8Array {
  const table = new Uint8Array(4 + bytes.byteLength);
  new DataView(table.buffer).setUint32(0, bytes.byteLength);
  table.set(bytes, 4);
  return table;
}

function isWritable(value: WireValue): boolean {
  if (value instanceof WireDouble) return Number.isFinite(value.value);
  if (Array.isArray(value)) return value.every(isWritable);
  return typeof value !== "object" || value === null || Object.values(value).every(isWritable);
}
