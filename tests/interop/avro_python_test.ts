/** Bodies written here are read by Apache's Avro library for Python, and its bodies here: arbitrary schemas, values and resolutions. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { avroCodec, registeredAvroCodec } from "../../adapters/avro/mod.ts";
import { memorySchemaRegistry } from "../../adapters/memory/mod.ts";
import { DecodeError } from "../../src/errors.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { typed } from "../support/avro_values.ts";
import { bytesOfHex } from "../support/fixtures.ts";
import { askPythonAvro, missingPythonAvro, type PeerRequest } from "../support/python_avro.ts";

const skip = missingPythonAvro();

async function hexOf(codec: Codec, value: unknown): Promise<string> {
  const { body } = await codec.encode(value);
  return Array.from(body, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The body behind its frame, read onto the reader's schema and written in it. */
async function resolvedHex({ writer, reader, hex }: PeerRequest): Promise<string> {
  const registry = memorySchemaRegistry();
  await registry.register("s", { format: "avro", definition: writer });
  const codec: Codec = registeredAvroCodec(registry, { readerSchema: reader });
  return await hexOf(avroCodec(reader), await codec.decode(Uint8Array.of(0, 0, 0, 0, 1, ...bytesOfHex(hex)), {}));
}

const field = (name: string, type: unknown, more: object = {}): object => ({ name, type, ...more });
const record = (...fields: object[]): object => ({ type: "record", name: "R", namespace: "n", fields });
const RESOLUTIONS: readonly (readonly [writer: object, reader: object, value: unknown])[] = [
  [record(field("a", "int")), record(field("a", "long"), field("b", "string", { default: "ü" })), { a: 7 }],
  [record(field("a", "int")), record(field("a", "double"), field("c", ["null", "int"], { default: null })), { a: -7 }],
  [record(field("a", "string"), field("x", { type: "map", values: ["null", "long"] })), record(field("a", "string")), {
    a: "x",
    x: { k: null, l: 2n ** 62n },
  }],
  [record(field("a", "float")), record(field("b", "bytes", { default: "x" }), field("a", "double")), { a: 1.5 }],
  [
    record(field("e", { type: "enum", name: "E", symbols: ["A", "B"] })),
    record(field("e", { type: "enum", name: "E", symbols: ["C", "B"] })),
    { e: "B" },
  ],
  [record(field("u", ["null", "int"])), record(field("u", ["null", "string", "long"])), { u: 5 }],
  [record(field("a", "long")), record(field("a", "int")), { a: 1 }],
  [record(field("a", "string")), record(field("a", "long")), { a: "1" }],
  [record(), record(field("a", "int")), {}],
];

describe("Avro between here and Python [COD-18]", () => {
  it("is read and written there as it was written here", { skip, timeout: 120_000 }, async () => {
    const samples = fc.sample(typed({ unions: false }), { numRuns: 400, seed: 7 });
    const requests = await Promise.all(
      samples.map(async ({ schema, value }) => ({
        writer: schema,
        reader: schema,
        hex: await hexOf(avroCodec(schema), value),
      })),
    );
    const answers = askPythonAvro(requests);
    for (const [index, { writer, hex }] of requests.entries()) {
      assert.deepEqual(answers[index], { hex }, `${writer}: ${hex}`);
    }
  });

  it("is read there in every branch of a union, and what is written there means the same here", {
    skip,
    timeout: 120_000,
  }, async () => {
    // Of a number or a truth value Python's writer takes another branch than the one it read.
    const branches = ["null", "long", "string", "bytes", { type: "array", items: "long" }];
    const schema = JSON.stringify({ type: "map", values: branches });
    const value = { n: null, l: 2n ** 60n, i: { long: 7 }, s: "ü", y: Uint8Array.of(0, 255), a: [1, -1] };
    const hex = await hexOf(avroCodec(schema), value);
    const [answer] = askPythonAvro([{ writer: schema, reader: schema, hex }]);
    assert.deepEqual(
      await avroCodec(schema).decode(bytesOfHex(answer?.hex ?? ""), { contentType: "avro/binary" }),
      { ...value, i: 7 },
    );
  });

  it("is resolved there as it is here", { skip, timeout: 120_000 }, async () => {
    const requests = await Promise.all(RESOLUTIONS.map(async ([writer, reader, value]) => ({
      writer: JSON.stringify(writer),
      reader: JSON.stringify(reader),
      hex: await hexOf(avroCodec(writer), value),
    })));
    const answers = askPythonAvro(requests);
    for (const [index, request] of requests.entries()) {
      const { hex, error } = answers[index] ?? {};
      const what = `${request.writer} as ${request.reader}`;
      if (error === undefined) assert.equal(await resolvedHex(request), hex, what);
      else await assert.rejects(resolvedHex(request), DecodeError, `${what}: ${error}`);
    }
    assert.equal(answers.filter(({ error }) => error === undefined).length, 6);
  });
});
