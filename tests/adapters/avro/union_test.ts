/** Which branch of a union a value is written as (contract codecs 2.7). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { avroCodec } from "../../../adapters/avro/mod.ts";
import { EncodeError } from "../../../src/errors.ts";

async function written(schema: object, value: unknown): Promise<string> {
  const { body } = await avroCodec(schema).encode(value);
  return Array.from(body, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function refuses(words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof EncodeError, String(error));
    assert.match(error.message, words);
    return true;
  };
}

const field = (name: string, type: unknown): object => ({ name, type });
const A = { type: "record", name: "n.A", fields: [field("a", "int")] };
const B = { type: "record", name: "n.B", fields: [field("a", "int"), field("b", ["null", "string"])] };
const MAP = { type: "map", values: "int" };

describe("a union", () => {
  it("takes a plain value that fits one branch alone", async () => {
    const schema = ["null", "boolean", "long", "string", "bytes", { type: "array", items: "int" }, MAP];
    const cases: readonly (readonly [unknown, string])[] = [
      [null, "00"],
      [true, "0201"],
      [7, "040e"],
      [7n, "040e"],
      ["x", "060278"],
      [Uint8Array.of(1), "080201"],
      [[1], "0a020200"],
      [{ a: 1 }, "0c0202610200"],
    ];
    for (const [value, hex] of cases) assert.equal(await written(schema, value), hex, hex);
  });

  it("looks into values that look alike", async () => {
    assert.equal(await written([A, B], { a: 1 }), "0002");
    assert.equal(await written([A, B], { a: 1, b: null }), "020200");
    assert.equal(await written([A, MAP], { x: 1 }), "020202780200");
    assert.equal(await written(["int", "double"], 1.5), "02000000000000f83f");
    assert.equal(
      await written(["int", "long"], 2 ** 40),
      "02808080808040",
    );
    const symbols = [{ type: "enum", name: "E", symbols: ["X"] }, { type: "enum", name: "F", symbols: ["Y"] }];
    assert.equal(await written(symbols, "Y"), "0200");
    const fixed = [{ type: "fixed", name: "G", size: 1 }, { type: "fixed", name: "H", size: 2 }];
    assert.equal(await written(fixed, Uint8Array.of(1, 2)), "020102");
  });

  it("wants a branch by its name where several fit", async () => {
    await assert.rejects(
      written(["int", "double"], 7),
      refuses(/a value of int and of double: say of which, as \{ "int": value \}/),
    );
    assert.equal(await written(["int", "double"], { int: 7 }), "000e");
    assert.equal(await written(["int", "double"], { double: 7 }), "020000000000001c40");
    await assert.rejects(written([A, MAP], { a: 1 }), refuses(/a value of n\.A and of map/));
    assert.equal(await written([A, MAP], { "n.A": { a: 1 } }), "0002");
    assert.equal(await written([A, MAP], { map: { a: 1 } }), "020202610200");
    await assert.rejects(written([A, MAP], { A: { a: 1 } }), EncodeError);
  });

  it("takes a branch by its name also where one alone fits", async () => {
    assert.equal(await written(["null", "string"], { string: "x" }), "020278");
    await assert.rejects(written(["null", "string"], { string: 7 }), refuses(/none of null, string, found object/));
    await assert.rejects(written(["null", "string"], { string: "x", more: 1 }), EncodeError);
  });

  it("does not take a map for a branch's name, nor the name for a map, without being told", async () => {
    const schema = ["string", { type: "map", values: "string" }];
    await assert.rejects(written(schema, { string: "x" }), refuses(/a value of map and of string/));
    assert.equal(await written(schema, { map: { string: "x" } }), "02020c737472696e67027800");
    assert.equal(await written(schema, { other: "x" }), "02020a6f74686572027800");
  });

  it("says which branches there are to a value that fits none", async () => {
    await assert.rejects(
      written(["null", "int"], "secret"),
      refuses(/Avro: it is a value of none of null, int, found string$/),
    );
    await assert.rejects(written(["null", "int"], undefined), refuses(/found undefined/));
    await assert.rejects(written(["null", "int"], 1.5), refuses(/must be a whole number of 32 bits/));
  });

  it("is at home in records within themselves", async () => {
    const tree = {
      type: "record",
      name: "T",
      fields: [field("l", ["null", "T", MAP]), field("r", ["null", "T", MAP])],
    };
    const leaf = { l: null, r: null };
    assert.equal(await written(tree, { l: leaf, r: { l: leaf, r: null } }), "0200000202000000");
    let deep: unknown = null;
    for (let level = 0; level < 150; level++) deep = { l: deep, r: null };
    await assert.rejects(written(tree, deep), EncodeError);
  });
});
