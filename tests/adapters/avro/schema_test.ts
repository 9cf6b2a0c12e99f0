/** Schemas as people write them: what is one, what is none, and what the registry gets of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { avroCodec, avroDefinition, fingerprint } from "../../../adapters/avro/mod.ts";

async function written(schema: string | object, value: unknown): Promise<number[]> {
  return [...(await avroCodec(schema).encode(value)).body];
}

const field = (name: string, type: unknown, more: object = {}): object => ({ name, type, ...more });
const record = (name: string, ...fields: object[]): object => ({ type: "record", name, fields });

describe("an Avro schema", () => {
  it("is JSON, as text or as an object", async () => {
    for (const schema of ['"int"', '{"type":"int"}', '{"type":{"type":{"type":"int"}}}', { type: "int" }, '["int"]']) {
      assert.equal((await written(schema, 7)).at(-1), 14);
    }
  });

  it("mentions a named type by its name, and by its full name from another namespace", async () => {
    const schema = record(
      "a.b.R",
      field("f", { type: "fixed", name: "F", size: 1 }),
      field("g", { type: "fixed", name: "G", namespace: "x", size: 1 }),
      field("h", "F"),
      field("i", "x.G"),
      field("j", "a.b.F"),
      field("k", { type: "record", name: "x.Inner", fields: [field("l", "G")] }),
    );
    const one = (byte: number): Uint8Array => Uint8Array.of(byte);
    const value = { f: one(1), g: one(2), h: one(3), i: one(4), j: one(5), k: { l: one(6) } };
    assert.deepEqual(await written(schema, value), [1, 2, 3, 4, 5, 6]);
  });

  it("may call a record an error, and have words that mean nothing here", async () => {
    const schema = {
      type: "error",
      name: "E",
      doc: "d",
      order: "ignore",
      fields: [field("a", "int", { doc: "d", order: "ignore" })],
    };
    assert.deepEqual(await written(schema, { a: 1 }), [2]);
  });

  const WRONG: Readonly<Record<string, readonly [schema: unknown, words: RegExp]>> = {
    "no schema at all": [undefined, /must be JSON as text or as an object, found undefined/],
    "a number": [7, /found number/],
    "broken JSON": ["{", /not JSON/],
    "a bare word": ["string", /not JSON/],
    "a type that there is not": ['"integer"', /nothing before it is called "integer"/],
    "an object without a type": [{}, /has a 'type'/],
    "a record without fields": [{ type: "record", name: "R" }, /"R" has no list of 'fields'/],
    "a record without a name": [{ type: "record", fields: [] }, /name or namespace is no text/],
    "a name with a blank": [record("a b"), /not letters, digits/],
    "a field with a dash": [record("R", field("a-b", "int")), /field 0 of "R": its name is not letters/],
    "a field without a type": [record("R", { name: "a" }), /field 0 of "R": it has no 'type'/],
    "two fields of a name": [record("R", field("a", "int"), field("a", "int")), /two fields called "a"/],
    "two types of a name": [record("R", field("a", record("R"))), /"R" is the name of something else/],
    "an array without items": [{ type: "array" }, /no 'items'/],
    "a map of nothing": [{ type: "map", values: "x" }, /values: nothing before it is called "x"/],
    "a union of none": [[], /at least one branch/],
    "a union in a union": [["null", ["int"]], /no union as a branch/],
    "a union with a type twice": [["int", "int"], /two branches called "int"/],
    "an enum without symbols": [{ type: "enum", name: "E" }, /no list of 'symbols'/],
    "an enum with a symbol twice": [{ type: "enum", name: "E", symbols: ["A", "A"] }, /stands there twice/],
    "an enum with a strange symbol": [{ type: "enum", name: "E", symbols: ["a-b"] }, /not letters, digits/],
    "an enum with another default": [{ type: "enum", name: "E", symbols: ["A"], default: "B" }, /none of its symbols/],
    "a fixed without a size": [{ type: "fixed", name: "F" }, /size of "F" is no whole number/],
    "a fixed of negative size": [{ type: "fixed", name: "F", size: -1 }, /size of "F" is no whole number/],
    "aliases that are none": [{ ...record("R"), aliases: "S" }, /'aliases' is no list of texts/],
    "a default of another kind": [
      record("R", field("a", "int", { default: "1" })),
      /field "a" of "R": the default must be an int/,
    ],
    "a default that overflows": [record("R", field("a", "int", { default: 2 ** 31 })), /must be an int/],
    "a default of no branch": [record("R", field("a", ["null", "int"], { default: "x" })), /value of no branch/],
    "a default without a member": [
      record("R", field("a", record("I", field("n", "int")), { default: {} })),
      /it has no "n"/,
    ],
    "a default without an end": [record("R", field("a", "R", { default: {} })), /nested deeper/],
    "a default of wide characters": [record("R", field("a", "bytes", { default: "Ā" })), /below U\+0100/],
    "JSON nested ten thousand deep": ["[".repeat(10_000) + "]".repeat(10_000), /nested too deeply/],
    "an object within itself": [ring(), /it is no JSON/],
  };
  for (const [what, [schema, words]] of Object.entries(WRONG)) {
    it(`is not ${what}`, () => {
      for (const use of [avroCodec, avroDefinition]) {
        assert.throws(() => use(schema as object), (error: unknown) => {
          assert.ok(error instanceof TypeError, String(error));
          assert.match(error.message, /^Cannot use the Avro schema: /);
          assert.match(error.message, words);
          return true;
        });
      }
    });
  }
});

function ring(): object {
  const schema: Record<string, unknown> = { type: "record", name: "R" };
  schema["fields"] = schema;
  return schema;
}

describe("the definition of an Avro schema", () => {
  it("is the text as it was given, and of an object the text of its members in order", async () => {
    const spaced = '{ "type": "string" }';
    assert.equal(avroDefinition(spaced).definition, spaced);
    assert.equal(
      await fingerprint(avroDefinition(spaced).definition),
      "264a94f6de00fe7c39bc9daf3710ab7fe41755076a16f8a12f5cfaa5eaef00ff",
    );
    assert.equal(avroDefinition({ type: "string" }).definition, '{"type":"string"}');
    assert.equal(avroDefinition({ type: "string" }).format, "avro");
  });
});
