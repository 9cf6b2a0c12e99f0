/** The kinds of an AMQP table that plain JavaScript values do not tell apart. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  isWireTable,
  setEntry,
  WireDecimal,
  WireDouble,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";

describe("a decimal as text", () => {
  const texts: readonly (readonly [number, number, string])[] = [
    [2, 1_234, "12.34"],
    [0, 400, "400"],
    [0, -400, "-400"],
    [2, 400, "4.00"],
    [2, 5, "0.05"],
    [2, -5, "-0.05"],
    [1, 0, "0.0"],
    [10, 2_147_483_647, "0.2147483647"],
    [10, -2_147_483_648, "-0.2147483648"],
    [12, 1, "0.000000000001"],
  ];
  for (const [scale, unscaled, text] of texts) {
    it(`of scale ${scale} and ${unscaled} is ${text}`, () => {
      assert.equal(new WireDecimal(scale, unscaled).toString(), text);
    });
  }
});

describe("a nested table", () => {
  it("is an object that stands for no other kind", () => {
    assert.equal(isWireTable({}), true);
    assert.equal(isWireTable(Object.create(null) as WireValue), true);
    const others: readonly WireValue[] = [
      null,
      "a",
      1,
      1n,
      true,
      [],
      new Date(0),
      new Uint8Array(),
      new WireDouble(1),
      new WireDecimal(0, 1),
      new WireUnsigned(2n ** 63n),
      new WireTimestamp(2n ** 62n),
      new WireText(Uint8Array.of(0xff)),
    ];
    for (const value of others) assert.equal(isWireTable(value), false, String(value));
  });
});

describe("a name of a table", () => {
  it("is an own member, also when it is __proto__", () => {
    const table: Record<string, number> = {};
    setEntry(table, "__proto__", 1);
    setEntry(table, "constructor", 2);
    setEntry(table, "a", 3);
    assert.deepEqual(Object.entries(table), [["__proto__", 1], ["constructor", 2], ["a", 3]]);
    assert.equal(Object.getPrototypeOf(table), Object.prototype);
    setEntry(table, "__proto__", 4);
    assert.deepEqual(Object.entries(table)[0], ["__proto__", 4]);
  });
});
