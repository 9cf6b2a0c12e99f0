import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asList, xmlCodec } from "../../../adapters/xml/mod.ts";

function tagsOf(inner: string): unknown {
  const payload = xmlCodec<{ tags?: unknown } | string>().decode(new TextEncoder().encode(`<m>${inner}</m>`), {});
  return (payload as { readonly tags?: unknown }).tags;
}

describe("a member that is meant as a list", () => {
  const shapes: readonly (readonly [written: string, tags: readonly unknown[]])[] = [
    ["<tags>red</tags><tags>blue</tags>", ["red", "blue"]],
    ["<tags>red</tags>", ["red"]],
    ["<tags><tags>red</tags><tags>blue</tags></tags>", ["red", "blue"]],
    ["<tags><tags>red</tags></tags>", ["red"]],
    ["<tags><tags/></tags>", []],
    ["<tags/>", []],
    ["<other/>", []],
    ["", []],
    ["<tags><sku>x</sku></tags>", [{ sku: "x" }]],
    ["<tags><tags>a</tags><sku>x</sku></tags>", [{ tags: "a", sku: "x" }]],
    ["<tags><tags>a</tags></tags><tags><tags>b</tags></tags>", [{ tags: "a" }, { tags: "b" }]],
  ];
  for (const [written, tags] of shapes) {
    it(`is one when it was written as ${written || "nothing"} [COD-04]`, () => {
      assert.deepEqual(asList(tagsOf(written), "tags"), tags);
    });
  }

  it("is not unwrapped unless the name of its items is told", () => {
    const wrapped = tagsOf("<tags><string>red</string><string>blue</string></tags>");
    assert.deepEqual(asList(wrapped), [{ string: ["red", "blue"] }]);
    assert.deepEqual(asList(wrapped, "tags"), [{ string: ["red", "blue"] }]);
    assert.deepEqual(asList(wrapped, "string"), ["red", "blue"]);
  });
});
