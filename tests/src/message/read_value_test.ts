/** Single values, before the envelope's limits and defaults: contract core 1.5. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readEpochMs, readInstant, readInteger, readText } from "../../../src/message/read_value.ts";
import { WireDecimal, WireDouble, WireTimestamp, type WireValue } from "../../../src/message/wire_value.ts";

describe("an integer", () => {
  const readings: readonly (readonly [WireValue | undefined, number | undefined])[] = [
    [0, 0],
    [-5, -5],
    [-2.9, -2],
    [new WireDouble(-2.9), -2],
    [new WireDecimal(1, -29), -2],
    [new WireDecimal(255, 2_147_483_647), 0],
    [-(2n ** 63n), Number.MIN_SAFE_INTEGER],
    ["-7", -7],
    ["+7", 7],
    ["007", 7],
    ["7.", 7],
    [".7", undefined],
    ["7.99999999999999999999", 7],
    ["1125899906842624.9", 1_125_899_906_842_624],
    ["7.5.1", undefined],
    ["--7", undefined],
    ["٣", undefined],
    [undefined, undefined],
  ];
  for (const [value, expected] of readings) {
    it(`is ${expected} for ${typeof value} ${String(value)}`, () => assert.equal(readInteger(value), expected));
  }
});

describe("epoch milliseconds", () => {
  it("are those of a timestamp, which no other integer is read from", () => {
    assert.equal(readEpochMs(new Date(1_790_000_000_000)), 1_790_000_000_000);
    assert.equal(readInteger(new Date(1_790_000_000_000)), undefined);
  });

  it("are otherwise an integer", () => assert.equal(readEpochMs(" 12.9 "), 12));

  it("are absent for a timestamp no Date holds", () =>
    assert.equal(readEpochMs(new WireTimestamp(2n ** 62n)), undefined));
});

describe("an instant", () => {
  it("reaches from the first to the last that RFC 3339 can spell", () => {
    for (const text of ["0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"]) {
      assert.equal(readInstant(text)?.toISOString(), text);
      assert.equal(readInstant(Date.parse(text))?.toISOString(), text);
    }
    assert.equal(readInstant("0000-01-01T00:00:00+00:01"), undefined);
    assert.equal(readInstant("9999-12-31T23:59:59-00:01"), undefined);
    assert.equal(readInstant(253_402_300_800_000), undefined);
  });

  it("may be before 1970", () => {
    assert.equal(readInstant("1969-12-31T23:59:59.999Z")?.getTime(), -1);
    assert.equal(readInstant(-1)?.getTime(), -1);
  });
});

describe("text", () => {
  it("keeps blanks: only empty text is absent", () => {
    assert.equal(readText(" "), " ");
    assert.equal(readText(""), undefined);
    assert.equal(readText(undefined), undefined);
  });
});
