/** The recordings are the ones the other languages wrote, byte for byte. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import {
  type FixtureCase,
  fixtureCases,
  type FixtureKind,
  fixturePaths,
  FIXTURES,
  LANGUAGES,
  parseFixture,
  PayloadDigest,
} from "../support/fixtures.ts";

/** `sha256sum` lines, so that `sha256sum -c ../fixtures.sha256` inside the folder says the same. */
const PINNED = new Map(
  readFileSync(new URL("fixtures.sha256", import.meta.url), "utf8").trimEnd().split("\n")
    .map((line) => [line.slice(66), line.slice(0, 64)]),
);

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("the interop fixtures", () => {
  it("are the pinned files, each byte of them, and no others [ENV-11]", () => {
    const found = new Map(fixturePaths().map((path) => [path, sha256(readFileSync(new URL(path, FIXTURES)))]));
    assert.deepEqual(found, PINNED);
  });

  it("have a pin that one changed byte breaks [ENV-11]", () => {
    const bytes = readFileSync(new URL("messages/java.json", FIXTURES));
    bytes.writeUInt8(bytes.readUInt8(1_000) ^ 1, 1_000);
    assert.notEqual(sha256(bytes), PINNED.get("messages/java.json"));
  });

  it("hold named cases in every language, each name once", () => {
    for (const kind of ["messages", "slips", "codecs", "frames"] satisfies FixtureKind[]) {
      for (const language of LANGUAGES) {
        const names = fixtureCases<FixtureCase>(kind, language).map(({ name }) => name);
        assert.ok(names.length > 0, `${kind} of ${language}`);
        assert.equal(new Set(names).size, names.length, `${kind} of ${language}`);
      }
    }
  });
});

describe("the values of a fixture", () => {
  const revivals: readonly (readonly [string, unknown])[] = [
    ['{"$bigint":"9223372036854775807"}', 9_223_372_036_854_775_807n],
    ['{"$hex":"00ff7F"}', Uint8Array.of(0x00, 0xff, 0x7f)],
    ['{"$hex":""}', new Uint8Array()],
    ['{"$time":"2026-02-03T04:05:06.789Z"}', new Date(Date.UTC(2026, 1, 3, 4, 5, 6, 789))],
    ['{"$float":"NaN"}', NaN],
    ['{"$float":"-Infinity"}', -Infinity],
    ['{"$decimal":"12.34"}', "12.34"],
    [`{"$sha256":"${"ab".repeat(32)}","length":200000}`, new PayloadDigest("ab".repeat(32), 200_000)],
    ['{"a":[{"$bigint":"1"},{"b":{"$hex":"01"}}]}', { a: [1n, { b: Uint8Array.of(1) }] }],
    ['{"plain":"$hex","$unknown":"text"}', { plain: "$hex", $unknown: "text" }],
    ['["$bigint",null,true,1.0]', ["$bigint", null, true, 1]],
  ];

  for (const [text, value] of revivals) {
    it(`read ${text.slice(0, 60)}`, () => assert.deepEqual(parseFixture(text), value));
  }
});
