/** What one schema reads of what another wrote (Avro 1.11, "Schema resolution"; contract codecs 2.7). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { avroCodec, registeredAvroCodec } from "../../../adapters/avro/mod.ts";
import { unreadableParts } from "../../../adapters/avro/unreadable.ts";
import { memorySchemaRegistry } from "../../../adapters/memory/mod.ts";
import { DecodeError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";

type Schema = string | object;

const record = (name: string, ...fields: object[]): object => ({ type: "record", name, fields });
const field = (name: string, type: Schema, more: object = {}): object => ({ name, type, ...more });
const colours = (symbols: string[], more: object = {}): object => ({ type: "enum", name: "Colour", symbols, ...more });

async function read(writer: Schema, reader: Schema, value: unknown): Promise<unknown> {
  const registry = memorySchemaRegistry();
  const codec: Codec = registeredAvroCodec(registry, { subject: "s", schema: writer, readerSchema: reader });
  const { body } = await codec.encode(value);
  return await codec.decode(body, {});
}

/** A writer's schema, a reader's, what is written, and what is read; undefined where nothing is. */
type Row = readonly [writer: Schema, reader: Schema, value: unknown, read?: unknown];

const text = (schema: Schema): string => typeof schema === "string" ? schema : JSON.stringify(schema);

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  "promotes what loses nothing that its type can hold": [
    ['"int"', '"long"', 7, 7],
    ['"int"', '"float"', 16_777_217, 16_777_216],
    ['"int"', '"double"', 16_777_217, 16_777_217],
    ['"long"', '"float"', 2n ** 60n, 2 ** 60],
    ['"long"', '"double"', 9_007_199_254_740_993n, 9_007_199_254_740_992],
    ['"float"', '"double"', 1.5, 1.5],
    ['"string"', '"bytes"', "ö", Uint8Array.of(0xc3, 0xb6)],
    ['"bytes"', '"string"', Uint8Array.of(0xc3, 0xb6), "ö"],
  ],
  "promotes nothing the other way": [
    ['"long"', '"int"', 7],
    ['"double"', '"float"', 1.5],
    ['"float"', '"long"', 1],
    ['"string"', '"long"', "7"],
    ['"boolean"', '"int"', true],
    ['"null"', '"string"', null],
    ['"bytes"', '"string"', Uint8Array.of(0xff)],
    ['"string"', record("R"), "x"],
  ],
  "takes the default of a field that was not written, made anew": [
    [record("R"), record("R", field("a", { type: "array", items: "int" }, { default: [1, 2] })), {}, { a: [1, 2] }],
    [record("R"), record("R", field("a", ["null", "string"], { default: null })), {}, { a: null }],
    [record("R"), record("R", field("a", ["null", "string"], { default: "x" })), {}, { a: "x" }],
    [record("R"), record("R", field("a", "bytes", { default: "\u00ff\u0000" })), {}, { a: Uint8Array.of(255, 0) }],
    [record("R"), record("R", field("a", record("I", field("n", "int", { default: 1 })), { default: {} })), {}, {
      a: { n: 1 },
    }],
    [record("R"), record("R", field("a", { type: "map", values: "long" }, { default: { k: 5 } })), {}, { a: { k: 5 } }],
    [record("R"), '{"type":"record","name":"R","fields":[{"name":"a","type":"long","default":9007199254740993}]}', {}, {
      a: 9_007_199_254_740_993n,
    }],
    [record("R"), record("R", field("a", "int")), {}],
  ],
  "passes over fields it does not have": [
    [
      record("R", field("x", { type: "map", values: { type: "array", items: ["null", "string"] } }), field("a", "int")),
      record("R", field("a", "int")),
      { x: { k: ["v", null] }, a: 1 },
      { a: 1 },
    ],
    [record("R", field("a", "string"), field("b", "int")), record("R"), { a: "x", b: 1 }, {}],
  ],
  "reads fields in any order, and under names they had": [
    [record("R", field("a", "int"), field("b", "string")), record("R", field("b", "string"), field("a", "long")), {
      a: 1,
      b: "x",
    }, { a: 1, b: "x" }],
    [record("R", field("old", "int")), record("R", field("now", "int", { aliases: ["older", "old"] })), { old: 1 }, {
      now: 1,
    }],
    [
      record("R", field("old", "int"), field("now", "int")),
      record("R", field("now", "int", { aliases: ["old"] })),
      { old: 1, now: 2 },
      { now: 2 },
    ],
  ],
  "compares the names of types without their namespaces": [
    [record("a.b.R"), record("c.R"), {}, {}],
    [record("R"), record("S"), {}],
    [record("x.R"), { ...record("y.S"), aliases: ["R"] }, {}, {}],
    [record("x.R"), { ...record("y.S"), aliases: ["z.R"] }, {}, {}],
    [
      { type: "fixed", name: "F", size: 2 },
      { type: "fixed", name: "n.F", size: 2 },
      Uint8Array.of(1, 2),
      Uint8Array.of(1, 2),
    ],
    [{ type: "fixed", name: "F", size: 2 }, { type: "fixed", name: "F", size: 3 }, Uint8Array.of(1, 2)],
    [
      { type: "fixed", name: "F", size: 2 },
      { type: "fixed", name: "G", size: 2, aliases: ["F"] },
      Uint8Array.of(1, 2),
      Uint8Array.of(1, 2),
    ],
    [colours(["RED"]), { ...colours(["RED"]), name: "Farbe" }, "RED"],
    [colours(["RED"]), { ...colours(["RED"]), name: "Farbe", aliases: ["Colour"] }, "RED", "RED"],
  ],
  "decides a symbol when it is read": [
    [colours(["RED", "BLUE"]), colours(["BLUE"]), "BLUE", "BLUE"],
    [colours(["RED", "BLUE"]), colours(["BLUE"]), "RED"],
    [colours(["RED", "BLUE"]), colours(["BLUE", "OTHER"], { default: "OTHER" }), "RED", "OTHER"],
    [colours(["RED", "BLUE"], { default: "RED" }), colours(["BLUE"]), "RED"],
  ],
  "decides a branch when it is read": [
    ['["null","string"]', '"string"', "x", "x"],
    ['["null","string"]', '"string"', null],
    ['["string","null"]', '["null","string"]', "x", "x"],
    ['"string"', '["null","string"]', "x", "x"],
    ['"int"', '["null","long"]', 7, 7],
    ['"int"', '["null","string"]', 7],
    ['"string"', '["bytes","string"]', "x", "x"],
    ['["null","int","string"]', '["null","long"]', 7, 7],
    ['["null","int","string"]', '["null","long"]', "x"],
    [[record("A", field("a", "int")), record("B", field("b", "int"))], record("B", field("b", "long")), { b: 1 }, {
      b: 1,
    }],
    [[record("A", field("a", "int")), record("B", field("b", "int"))], record("B", field("b", "long")), { a: 1 }],
    [record("A", field("a", "int")), ["null", record("A", field("b", "int")), record("n.A", field("a", "int"))], {
      a: 1,
    }, { a: 1 }],
  ],
  "goes into lists, maps and records within themselves": [
    [{ type: "array", items: "int" }, { type: "array", items: "double" }, [1, 2], [1, 2]],
    [{ type: "map", values: "int" }, { type: "map", values: "string" }, { a: 1 }],
    [
      record("N", field("v", "int"), field("next", ["null", "N"])),
      record("N", field("next", ["null", "N"]), field("v", "long"), field("w", "string", { default: "d" })),
      { v: 1, next: { v: 2, next: null } },
      { v: 1, w: "d", next: { v: 2, w: "d", next: null } },
    ],
    [
      record("N", field("next", ["null", "N"]), field("v", "string")),
      record("N", field("next", ["null", "N"]), field("v", "int")),
      { v: "1", next: null },
    ],
  ],
};

describe("a schema that reads another's data [AVR-03]", () => {
  for (const [title, rows] of Object.entries(ROWS)) {
    it(title, async () => {
      for (const [writer, reader, value, ...expected] of rows) {
        const what = `${text(writer)} as ${text(reader)}`;
        if (expected.length === 1) assert.deepEqual(await read(writer, reader, value), expected[0], what);
        else await assert.rejects(read(writer, reader, value), DecodeError, what);
      }
    });
  }

  it("gives every default as a value of its own", async () => {
    const registry = memorySchemaRegistry();
    const reader = record("R", field("a", { type: "array", items: "bytes" }, { default: ["x"] }));
    const codec: Codec<{ a: Uint8Array[] }> = registeredAvroCodec(registry, {
      subject: "s",
      schema: record("R"),
      readerSchema: reader,
    });
    const { body } = await (codec as Codec).encode({});
    const first = await codec.decode(body, {});
    first.a[0]?.fill(0);
    first.a.push(new Uint8Array());
    assert.deepEqual(await codec.decode(body, {}), { a: [Uint8Array.of(0x78)] });
  });

  it("says at a branch that was left what it is, also when another record was tried within it", async () => {
    const writer = [
      {
        type: "record",
        name: "A",
        fields: [field("b", { type: "record", name: "B", fields: [field("a", ["null", "A"])] }), field("x", "string")],
      },
      "B",
    ];
    const reader = [
      {
        type: "record",
        name: "A",
        fields: [field("b", { type: "record", name: "B", fields: [field("a", ["null", "A"])] }), field("x", "int")],
      },
      "B",
    ];
    assert.deepEqual(await read(writer, reader, { a: null }), { a: null });
    await assert.rejects(read(writer, reader, { a: { b: { a: null }, x: "s" } }), DecodeError);
    await assert.rejects(read(writer, reader, { b: { a: null }, x: "s" }), DecodeError);
  });

  it("reads a writer's schema whose defaults are none, as some libraries let pass", async () => {
    const registry = memorySchemaRegistry();
    const definition =
      '{"type":"record","name":"R","fields":[{"name":"a","type":["null","string"],"default":"null"},{"name":"n","type":"int","default":"x"}]}';
    await registry.register("s", { format: "avro", definition });
    const codec: Codec = registeredAvroCodec(registry, { readerSchema: null });
    assert.deepEqual(await codec.decode(Uint8Array.of(0, 0, 0, 0, 1, 0, 2), {}), { a: null, n: 1 });
    assert.throws(() => avroCodec(definition), /field "n" of "R": the default must be an int, found string/);
  });
});

describe("what a schema cannot read of another's data, found without data", () => {
  it("is what a body of it meets", async () => {
    for (const [title, rows] of Object.entries(ROWS)) {
      for (const [writer, reader, value, ...expected] of rows) {
        const parts = unreadableParts(text(reader), text(writer));
        // A branch or a symbol that this value does not use may be missing.
        if (expected.length === 1 && !title.startsWith("decides")) {
          assert.deepEqual(parts, [], `${text(writer)} as ${text(reader)}`);
        }
        const isDecidedByBytes = value instanceof Uint8Array && value[0] === 0xff;
        if (expected.length === 0 && !isDecidedByBytes) {
          assert.notDeepEqual(parts, [], `${text(writer)} as ${text(reader)}`);
        }
      }
    }
  });

  it("is named by its place", () => {
    const inner = (type: string, ...more: object[]): object => record("I", field("n", type), ...more);
    const list = (items: object): object => ({ type: "array", items });
    const writer = record(
      "R",
      field("lines", list(inner("long"))),
      field("c", colours(["RED", "BLUE"])),
      field("u", ["null", "int"]),
    );
    const reader = record(
      "R",
      field("lines", list(inner("int", field("m", "int")))),
      field("c", colours(["BLUE"])),
      field("u", ["null", "string"]),
      field("added", "string"),
    );
    assert.deepEqual(unreadableParts(text(reader), text(writer)), [
      "lines[].n: long cannot be read as int",
      "lines[].m: it is not written, and has no default",
      "c: the enum lacks RED, and has no default",
      "u: int is none of null, string",
      "added: it is not written, and has no default",
    ]);
    assert.deepEqual(unreadableParts('"int"', '"long"'), ["the schema: long cannot be read as int"]);
    assert.equal(unreadableParts("{", '"long"').length, 1);
  });
});
