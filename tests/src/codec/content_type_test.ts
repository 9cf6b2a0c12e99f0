import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { matchesFormat, parseContentType } from "../../../src/codec/content_type.ts";

describe("a content type", () => {
  const parsed:
    readonly (readonly [text: string | undefined, essence: string | undefined, charset: string | undefined])[] = [
      [undefined, undefined, undefined],
      ["", undefined, undefined],
      ["  ", undefined, undefined],
      [";charset=utf-8", undefined, undefined],
      ["application/json", "application/json", undefined],
      [" Application/JSON ", "application/json", undefined],
      ["text/plain; charset=utf-8", "text/plain", "utf-8"],
      ["text/plain;charset=UTF-8", "text/plain", "utf-8"],
      ['text/plain; charset="utf-8"', "text/plain", "utf-8"],
      ["text/plain; v=1; charset = latin1 ; x=y", "text/plain", "latin1"],
      ["text/plain; xcharset=no", "text/plain", undefined],
      ["text/plain;", "text/plain", undefined],
      ["charset=utf-8", "charset=utf-8", undefined],
    ];
  for (const [text, essence, charset] of parsed) {
    it(`${JSON.stringify(text)} is ${essence ?? "absent"}${charset === undefined ? "" : ` in ${charset}`}`, () => {
      const found = parseContentType(text);
      assert.deepEqual([found?.essence, found?.charset], [essence, charset]);
    });
  }

  it("matches a format by its whole name, or by a suffix at its end", () => {
    const matches = (essence: string): boolean => matchesFormat(essence, ["application/json"], "json");
    assert.deepEqual(["application/json", "a/b+json", "a/b+v1+json"].map(matches), [true, true, true]);
    assert.deepEqual(
      ["application/jsonlines", "a/b+json2", "a/b+jsonx+xml", "json", ""].map(matches),
      Array(5).fill(false),
    );
  });
});
