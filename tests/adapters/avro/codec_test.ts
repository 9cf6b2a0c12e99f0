/** Avro of one schema: the contract of a codec, the examples of contract codecs 2.7, and what it refuses. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { avroCodec, registeredAvroCodec } from "../../../adapters/avro/mod.ts";
import { memorySchemaRegistry } from "../../../adapters/memory/mod.ts";
import { compositeCodec } from "../../../src/codec/composite.ts";
import { jsonCodec } from "../../../src/codec/json.ts";
import { DecodeError, EncodeError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import { codecContract } from "../../contract/codec.ts";
import { bytesOfHex } from "../../support/fixtures.ts";

const BASKET = {
  type: "record",
  name: "Basket",
  fields: [
    { name: "ref", type: "string" },
    { name: "qty", type: "int" },
    { name: "w", type: "double" },
    { name: "gift", type: "boolean" },
    { name: "note", type: ["null", "string"] },
    { name: "tags", type: { type: "array", items: "string" } },
    { name: "attrs", type: { type: "map", values: "int" } },
  ],
};
const BASKET_VALUE = { ref: "b-7", qty: 3, w: 1.5, gift: true, note: "red", tags: ["x", "y"], attrs: { k: -1 } };
const BASKET_HEX = "06622d3706000000000000f83f01020672656404027802790002026b0100";
const ORDER = record("Order", [["id", "string"], ["cents", "long"], ["customer", "string"]]);
const NODE = record("Node", [["v", "int"], ["next", ["null", "Node"]]]);

function record(name: string, fields: readonly (readonly [string, unknown])[]): object {
  return { type: "record", name, fields: fields.map(([field, type]) => ({ name: field, type })) };
}

async function encoded(schema: string | object, value: unknown): Promise<string> {
  const { body } = await avroCodec(schema).encode(value);
  return Array.from(body, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function decoded(
  schema: string | object,
  hex: string,
  contentType: string | undefined = "avro/binary",
): Promise<unknown> {
  return await avroCodec(schema).decode(bytesOfHex(hex), { contentType });
}

function refuses(words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof EncodeError || error instanceof DecodeError, String(error));
    assert.match(error.message, words);
    return true;
  };
}

codecContract("Avro of one schema", async () => ({
  codec: avroCodec(BASKET),
  holds: [
    { payload: BASKET_VALUE },
    { payload: { ...BASKET_VALUE, ref: "größe 📦\u0000\ufeff", note: null, tags: [], attrs: {} } },
    { payload: { ...BASKET_VALUE, w: -Infinity, qty: -2_147_483_648, note: "", attrs: { ["__proto__"]: 1, "": 2 } } },
    {
      payload: {
        ...BASKET_VALUE,
        ref: "r".repeat(70_000),
        tags: Array.from({ length: 300 }, (_, index) => `t${index}`),
      },
    },
  ],
  refuses: [
    undefined,
    null,
    "4242",
    { ...BASKET_VALUE, card: "4242" },
    { ...BASKET_VALUE, qty: 2_147_483_648 },
    { ...BASKET_VALUE, qty: "4242" },
    { ...BASKET_VALUE, ref: undefined },
    { ...BASKET_VALUE, attrs: { "4242": 1.5 } },
    { ...BASKET_VALUE, attrs: new Map([["a", 1]]) },
    { ...BASKET_VALUE, ref: "4242\ud800" },
    {
      ...BASKET_VALUE,
      get ref() {
        throw new Error("4242");
      },
    },
  ],
  unreadable: ["", "0634323432", `${BASKET_HEX}00`, BASKET_HEX.slice(0, -2)].map(bytesOfHex),
  reads: ["application/avro", "application/vnd.shop.order+avro", "avro/other", "application/x-avro-binary"],
  leaves: ["application/vnd.acemq.avro", "application/json", "application/octet-stream", "text/avro", undefined],
}));

describe("Avro of one schema", () => {
  it("writes and reads the examples of the contract", async () => {
    assert.equal(avroCodec(BASKET).contentType, "avro/binary");
    assert.equal(await encoded(BASKET, BASKET_VALUE), BASKET_HEX);
    assert.deepEqual(await decoded(BASKET, BASKET_HEX), BASKET_VALUE);
    assert.equal(await encoded(ORDER, { id: "o-1", cents: 4250, customer: "acme" }), "066f2d31b4420861636d65");
  });

  it("writes integers zig-zag, and reads each as a number where it is exact [COD-06, SR-04]", async () => {
    const cases: readonly (readonly [number | bigint, string])[] = [
      [0, "00"],
      [-1, "01"],
      [1, "02"],
      [63, "7e"],
      [64, "8001"],
      [-64, "7f"],
      [-65, "8101"],
      [4_250, "b442"],
      [2_147_483_647, "feffffff0f"],
      [-2_147_483_648, "ffffffff0f"],
      [9_007_199_254_740_991, "feffffffffffff1f"],
      [-9_007_199_254_740_991, "fdffffffffffff1f"],
      [9_007_199_254_740_993n, "8280808080808020"],
      [9_223_372_036_854_775_807n, "feffffffffffffffff01"],
      [-9_223_372_036_854_775_808n, "ffffffffffffffffff01"],
    ];
    for (const [value, hex] of cases) {
      assert.equal(await encoded('"long"', value), hex, String(value));
      assert.equal(await encoded('"long"', BigInt(value)), hex, String(value));
      assert.equal(await decoded('"long"', hex), value, hex);
    }
    for (
      const value of [-4_503_599_627_370_497, 4_503_599_627_370_497, -9_007_199_254_740_992n, 2 ** 31, -(2 ** 31) - 1]
    ) {
      assert.equal(await decoded('"long"', await encoded('"long"', value)), value);
    }
  });

  it("reads numbers that are spelled longer than they need to be", async () => {
    assert.equal(await decoded('"int"', "8000"), 0);
    assert.equal(await decoded('"int"', "8280808000"), 1);
    assert.equal(await decoded('"long"', "82808080808080808000"), 1);
  });

  it("refuses an int over 32 bits and a long over 64", async () => {
    for (const hex of ["8080808010", "ffffffff1f", "ffffffffff01", "808080808000"]) {
      await assert.rejects(decoded('"int"', hex), refuses(/an int has more than 32 bits/), hex);
    }
    for (const hex of ["80808080808080808002", "ffffffffffffffffffff01"]) {
      await assert.rejects(decoded('"long"', hex), refuses(/a long has more than 64 bits/), hex);
    }
    for (const value of [2 ** 53, 2n ** 63n, -(2n ** 63n) - 1n, 1.5, NaN, "1"]) {
      await assert.rejects(encoded('"long"', value), refuses(/must be a whole number of 64 bits/), String(value));
    }
  });

  it("refuses a boolean other than 00 and 01, and a text that is not UTF-8", async () => {
    await assert.rejects(decoded('"boolean"', "02"), refuses(/a boolean is neither 00 nor 01/));
    for (const hex of ["02ff", "04c3", "06eda080", "06e28228", `3c${"61".repeat(29)}ff`]) {
      await assert.rejects(decoded('"string"', hex), refuses(/not UTF-8|goes beyond/), hex);
    }
    assert.equal(await decoded('"string"', "06efbbbf"), "\ufeff");
  });

  it("reads a body that begins with 00 where the type says Avro, and refuses it where it says nothing [AVR-02]", async () => {
    const hex = "000a0861636d65";
    const value = { id: "", cents: 5, customer: "acme" };
    for (const type of ["avro/binary", "avro/x", "application/avro", "application/vnd.shop+avro; v=1"]) {
      assert.deepEqual(await decoded(ORDER, hex, type), value, type);
    }
    const codec = avroCodec(ORDER);
    for (const contentType of [undefined, "", "application/octet-stream", "application/json"]) {
      const reading = async (): Promise<unknown> => await codec.decode(bytesOfHex(hex), { contentType });
      await assert.rejects(reading, refuses(/begins as one of a registered schema does/), contentType);
      assert.deepEqual(await codec.decode(bytesOfHex("066f2d31b4420861636d65"), { contentType }), {
        id: "o-1",
        cents: 4250,
        customer: "acme",
      });
    }
    assert.equal(await avroCodec('"string"').decode(bytesOfHex("00"), {}), "");
  });

  it("refuses the registered type, which it would read as nonsense [AVR-01]", async () => {
    await assert.rejects(
      decoded(ORDER, "0000000007066f2d31b4420861636d65", "application/vnd.acemq.avro"),
      refuses(/is the type of registered schemas/),
    );
  });

  it("is not tried by a composite on a body that says nothing of its type, which it would read as nonsense [COD-10]", async () => {
    const word = new TextEncoder().encode("true");
    const pair =
      '{"type":"record","name":"P","fields":[{"name":"a","type":"int"},{"name":"b","type":{"type":"fixed","name":"F","size":3}}]}';
    assert.deepEqual(await avroCodec(pair).decode(word, {}), { a: 58, b: Uint8Array.of(0x72, 0x75, 0x65) });
    const registered = registeredAvroCodec(memorySchemaRegistry(), { readerSchema: pair });
    for (const first of [avroCodec(pair), registered]) {
      const codec: Codec = compositeCodec([first, jsonCodec()]);
      assert.equal(first.guessable, false);
      for (const contentType of [undefined, ""]) assert.equal(await codec.decode(word, { contentType }), true);
    }
  });

  it("has no schema to resolve onto, and says so [AVR-11]", () => {
    assert.throws(() => avroCodec(ORDER, { readerSchema: ORDER } as object), TypeError);
  });

  it("reads nothing behind the value, and an empty body only where the value has no bytes", async () => {
    await assert.rejects(decoded('"int"', "0200"), refuses(/left over/));
    await assert.rejects(decoded(ORDER, ""), refuses(/id: the body ends too early/));
    assert.equal(await decoded('"null"', ""), null);
    assert.deepEqual(await decoded(record("Empty", []), ""), {});
  });

  it("makes nothing of counts and lengths that the body has no bytes for", async () => {
    const cases: readonly (readonly [unknown, string])[] = [
      ["string", "feffffffffffffff7f"],
      ["bytes", "feffffff0f00"],
      ["bytes", "01"],
      [{ type: "array", items: "int" }, "feffffff0f"],
      [{ type: "array", items: "double" }, "1000000000000000000000000000000000"],
      [{ type: "array", items: "null" }, "feffffff0f00"],
      [{ type: "array", items: record("Empty", []) }, "feffffff0f00"],
      [{ type: "array", items: { type: "fixed", name: "None", size: 0 } }, "feffffff0f00"],
      [{ type: "array", items: { type: "array", items: "null" } }, `14${"feff0c00".repeat(10)}00`],
      [{ type: "map", values: "null" }, "feffffff0f"],
      [{ type: "array", items: "int" }, "ffffffffffffffffff01feffffffffffffffff01"],
      [{ type: "fixed", name: "Vast", size: 1e15 }, "00"],
    ];
    for (const [schema, hex] of cases) {
      const [what, before] = [JSON.stringify(schema), performance.now()];
      await assert.rejects(decoded(what, hex), DecodeError, what);
      assert.ok(performance.now() - before < 1_000, what);
    }
    const nulls = await decoded('{"type":"array","items":"null"}', "c09a0c00") as unknown[];
    assert.equal(nulls.length, 100_000);
    await assert.rejects(decoded('{"type":"array","items":"null"}', "c29a0c00"), refuses(/more than 100000 items/));
  });

  it("reads blocks with their size in bytes, and refuses one whose size is wrong", async () => {
    const list = { type: "array", items: "int" };
    assert.deepEqual(await decoded(list, "0304020400"), [1, 2]);
    assert.deepEqual(await decoded(list, "0304020401020600"), [1, 2, 3]);
    for (const hex of ["0302020400", "0306020400", "030802040000", "0301020400", "03020400"]) {
      await assert.rejects(decoded(list, hex), DecodeError, hex);
    }
  });

  it("goes a hundred levels deep, and no deeper", async () => {
    const chain = (levels: number): unknown => levels === 0 ? null : { v: levels, next: chain(levels - 1) };
    const hex = (levels: number): string => `${"0202".repeat(levels - 1)}0200`;
    assert.ok(await decoded(NODE, hex(100)));
    await assert.rejects(decoded(NODE, hex(101)), refuses(/next › .* it is nested deeper than 100 levels/));
    await assert.rejects(decoded(NODE, hex(100_000)), refuses(/nested deeper than 100 levels/));
    await encoded(NODE, chain(100));
    await assert.rejects(encoded(NODE, chain(101)), refuses(/nested deeper than 100 levels/));
    const ring: Record<string, unknown> = { v: 1 };
    ring["next"] = ring;
    await assert.rejects(encoded(NODE, ring), refuses(/nested deeper than 100 levels/));
  });

  it("keeps names that objects have anyway", async () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    const schema = record("Odd", names.map((name) => [name, "int"]));
    const value = JSON.parse('{"__proto__":1,"constructor":2,"toString":3,"hasOwnProperty":4}');
    assert.equal(await encoded(schema, value), "02040608");
    const back = await decoded(schema, "02040608") as object;
    assert.deepEqual(Object.entries(back), Object.entries(value));
    await assert.rejects(encoded(schema, {}), refuses(/__proto__: it must be there/));
    const map = await decoded({ type: "map", values: "int" }, "02125f5f70726f746f5f5f0200") as object;
    assert.deepEqual(Object.entries(map), [["__proto__", 1]]);
    assert.equal(Object.getPrototypeOf(map), Object.prototype);
  });

  it("gives bytes of their own, not a view of the body", async () => {
    const body = bytesOfHex("06010203");
    const bytes = await avroCodec('"bytes"').decode(body, { contentType: "avro/binary" }) as Uint8Array;
    body.fill(0);
    assert.deepEqual(bytes, Uint8Array.of(1, 2, 3));
    assert.equal(bytes.buffer.byteLength, 3);
  });

  it("takes bytes of every kind that a program has", async () => {
    const bytes = Uint8Array.of(9, 1, 2, 9).subarray(1, 3);
    for (const value of [bytes, bytes.slice().buffer, new DataView(bytes.buffer, 1, 2), new Int8Array([1, 2])]) {
      assert.equal(await encoded('"bytes"', value), "040102");
      assert.equal(await encoded({ type: "fixed", name: "Two", size: 2 }, value), "0102");
    }
    await assert.rejects(encoded('"bytes"', [1, 2]), refuses(/must be bytes, found an array/));
    await assert.rejects(encoded({ type: "fixed", name: "Two", size: 3 }, bytes), refuses(/must be 3 bytes, found 2/));
  });

  it("writes the default for a member that is not there, and refuses one that the schema has no field for", async () => {
    const schema = {
      type: "record",
      name: "D",
      fields: [{ name: "a", type: "int" }, { name: "b", type: { type: "array", items: "string" }, default: ["x"] }],
    };
    assert.equal(await encoded(schema, { a: 1 }), "0202027800");
    assert.equal(await encoded(schema, { a: 1, b: undefined, c: undefined }), "0202027800");
    await assert.rejects(encoded(schema, { a: 1, secret: 2 }), refuses(/no field for member 1 of the object/));
    await assert.rejects(encoded(schema, { b: [] }), refuses(/a: it must be there: the field has no default/));
  });

  it("takes an instance of a class for its members, and nothing that keeps its content elsewhere", async () => {
    class Point {
      readonly x = 1;
    }
    const schema = { type: "record", name: "P", fields: [{ name: "x", type: "int", default: 0 }] };
    assert.equal(await encoded(schema, new Point()), "02");
    for (const value of [new Map(), new Set(), new Date(0), new Response(), [], new Error("x")]) {
      await assert.rejects(encoded(schema, value), refuses(/must be an object with members/));
    }
  });

  it("says where a payload does not fit by the schema's names and by counting", async () => {
    const lines = { type: "array", items: record("Line", [["n", "int"]]) };
    const schema = record("Order", [["lines", lines], ["by", { type: "map", values: "int" }]]);
    await assert.rejects(
      encoded(schema, { lines: [{ n: 1 }, { n: "secret" }], by: {} }),
      refuses(/Avro: lines › item 1 › n: it must be a whole number of 32 bits, found string$/),
    );
    await assert.rejects(
      encoded(schema, { lines: [], by: { secret: null } }),
      refuses(/Avro: by › entry 0: it must be/),
    );
  });

  it("rounds to a float, and refuses what would become infinite", async () => {
    assert.equal(await decoded('"float"', await encoded('"float"', 0.1)), Math.fround(0.1));
    assert.equal(await decoded('"float"', await encoded('"float"', -Infinity)), -Infinity);
    assert.ok(Number.isNaN(await decoded('"double"', await encoded('"double"', NaN))));
    assert.ok(Object.is(await decoded('"double"', await encoded('"double"', -0)), -0));
    for (const value of [3.5e38, -1e300]) await assert.rejects(encoded('"float"', value), refuses(/range of 32 bits/));
  });

  it("writes the length of a text in front of it, however many bytes its characters have", async () => {
    for (const character of ["a", "ö", "購", "📦"]) {
      for (const count of [0, 1, 16, 17, 21, 22, 31, 32, 63, 64, 2_730, 2_731, 4_095, 4_096, 8_191, 8_192, 40_000]) {
        const text = character.repeat(count);
        const bytes = new TextEncoder().encode(text);
        const written = (await avroCodec(["null", "string"]).encode(text)).body;
        assert.deepEqual(written.subarray(written.length - bytes.length), bytes);
        const length = await encoded('"long"', bytes.length);
        assert.equal(
          await encoded('"string"', text).then((hex) => hex.slice(0, length.length)),
          length,
          `${count} ${character}`,
        );
        assert.equal(written.length, 1 + length.length / 2 + bytes.length);
      }
    }
  });

  it("lets a getter of the payload encode with the same codec", async () => {
    const codec = avroCodec(ORDER);
    let inner: Promise<unknown> | undefined;
    const outer = await codec.encode({
      id: "o-1",
      get cents() {
        inner ??= Promise.resolve(codec.encode({ id: "inner", cents: 1, customer: "x" }));
        return 4250;
      },
      customer: "acme",
    });
    assert.deepEqual(outer.body, bytesOfHex("066f2d31b4420861636d65"));
    assert.deepEqual(await inner, { body: bytesOfHex("0a696e6e6572020278") });
  });
});
