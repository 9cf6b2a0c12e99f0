/** What a new version of a schema is held to. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CompatibilityMode, incompatibilities } from "../../../src/schema/compatibility.ts";
import type { SchemaDefinition } from "../../../src/schema/definition.ts";

/** Schemas that are sets of letters: one reads another's data when it has all of its letters. */
function letters(definition: string): SchemaDefinition {
  return {
    format: "letters",
    definition,
    unreadable: (reader, writer) => [...writer].filter((letter) => !reader.includes(letter)),
  };
}

const STANDING = ["ax", "b", "bc"].map((definition, index) => ({ version: index + 1, format: "letters", definition }));

describe("a new version", () => {
  const cases: readonly (readonly [CompatibilityMode, string, readonly string[]])[] = [
    ["none", "z", []],
    ["backward", "bcd", []],
    ["backward", "b", ["cannot read version 3: c"]],
    ["forward", "b", []],
    ["forward", "bcd", ["version 3 cannot read it: d"]],
    ["full", "cb", []],
    ["full", "bd", ["cannot read version 3: c", "version 3 cannot read it: d"]],
    ["backward_transitive", "abcx", []],
    ["backward_transitive", "bc", ["cannot read version 1: a", "cannot read version 1: x"]],
    ["forward_transitive", "b", ["version 1 cannot read it: b"]],
    ["full_transitive", "b", [
      "cannot read version 1: a",
      "cannot read version 1: x",
      "version 1 cannot read it: b",
      "cannot read version 3: c",
    ]],
  ];
  for (const [mode, next, findings] of cases) {
    it(`"${next}" behind ${STANDING.map(({ definition }) => definition).join(", ")} is held to ${mode}`, () => {
      assert.deepEqual(incompatibilities(letters(next), STANDING, mode), findings);
    });
  }

  it("is held to nothing where there is none before it", () => {
    for (const mode of ["backward", "full_transitive"] as const) {
      assert.deepEqual(incompatibilities({ format: "letters", definition: "a" }, [], mode), []);
    }
  });

  it("never goes with one of another format", () => {
    const standing = [{ version: 1, format: "avro", definition: "a" }];
    assert.deepEqual(incompatibilities(letters("a"), standing, "backward"), ['version 1 is of format "avro"']);
  });

  it("has to be able to compare", () => {
    assert.throws(() => incompatibilities({ format: "letters", definition: "a" }, STANDING, "full"), TypeError);
  });
});
