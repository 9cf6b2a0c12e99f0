/** What tells one schema from another. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertDefinition, assertSubject, fingerprint } from "../../../src/schema/definition.ts";

describe("a fingerprint", () => {
  it("is SHA-256 of the text's bytes, white space and all", async () => {
    const worked =
      '{"type":"record","name":"OrderPlaced","namespace":"shop","fields":[{"name":"orderId","type":"string"},{"name":"total","type":"int"}]}';
    for (
      const [text, hash] of [
        ['{"type":"string"}', "00404e686415370f1711c4d7acfa2905444d3cf23cef2e10c47d445ebe690f96"],
        ['{ "type": "string" }', "264a94f6de00fe7c39bc9daf3710ab7fe41755076a16f8a12f5cfaa5eaef00ff"],
        [worked, "2c9a7a2493909781216f7324bbff30600efca9fdbeb5aa1cda0483540bf79388"],
      ] as const
    ) {
      assert.equal(await fingerprint(text), hash);
    }
  });

  it("is taken of text alone", async () => {
    for (const wrong of [undefined, null, 7, { definition: "x" }]) {
      await assert.rejects(fingerprint(wrong as unknown as string), TypeError);
    }
  });
});

describe("a definition", () => {
  it("is a format and a text that a database gives back as they were", () => {
    assertDefinition({ format: "avro", definition: '"größe"', unreadable: () => [] });
    for (
      const wrong of [
        null,
        "text",
        {},
        { format: "avro" },
        { format: "avro", definition: "" },
        { format: "", definition: "x" },
        { format: 7, definition: "x" },
        { format: "avro", definition: "\ud800" },
        { format: "avro", definition: "a\0b" },
        { format: "f".repeat(33), definition: "x" },
        { format: "avro", definition: "x", unreadable: true },
      ]
    ) {
      assert.throws(() => assertDefinition(wrong), TypeError, JSON.stringify(wrong));
    }
  });

  it("stands under a subject of at most 255 characters", () => {
    assertSubject("s".repeat(255));
    for (const wrong of ["", "s".repeat(256), 7, undefined, "a\0"]) {
      assert.throws(() => assertSubject(wrong), TypeError);
    }
  });
});
