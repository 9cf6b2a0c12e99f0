/** Avro over values, bytes and schemas nobody thought of: faithful, or refused with a typed error, and never more work than bytes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { avroCodec, avroDefinition, registeredAvroCodec } from "../../adapters/avro/mod.ts";
import { unreadableParts } from "../../adapters/avro/unreadable.ts";
import { memorySchemaRegistry } from "../../adapters/memory/mod.ts";
import { DecodeError, EncodeError } from "../../src/errors.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { parsed, type Typed, typed } from "../support/avro_values.ts";

const CONTEXT = { contentType: "avro/binary" };

function decodedOr(codec: Codec, body: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: codec.decode(body, CONTEXT) };
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    return undefined;
  }
}

async function encodedOr(codec: Codec, payload: unknown): Promise<Uint8Array | undefined> {
  try {
    return (await codec.encode(payload)).body;
  } catch (error) {
    assert.ok(error instanceof EncodeError, String(error));
    return undefined;
  }
}

describe("Avro", () => {
  it("gives back every value of every schema as it was written", () =>
    fc.assert(
      fc.asyncProperty(typed(), async ({ schema, value }) => {
        const codec = avroCodec(schema);
        const body = await encodedOr(codec, value);
        // What fits several branches of a union has to be said.
        if (body !== undefined) assert.deepEqual(codec.decode(body, CONTEXT), value);
      }),
      { numRuns: 300 },
    ));

  it("writes every value that is no union's", () =>
    fc.assert(
      fc.asyncProperty(typed({ unions: false }), async ({ schema, value }) => {
        assert.notEqual(await encodedOr(avroCodec(schema), value), undefined);
      }),
      { numRuns: 300 },
    ));

  it("reads arbitrary bytes, or refuses them", () =>
    fc.assert(
      fc.asyncProperty(typed(), fc.uint8Array({ maxLength: 60 }), async ({ schema }, body) => {
        const codec = avroCodec(schema);
        const decoded = decodedOr(codec, body);
        if (decoded === undefined) return;
        const again = await encodedOr(codec, decoded.value);
        if (again !== undefined) assert.deepEqual(codec.decode(again, CONTEXT), decoded.value);
      }),
      { numRuns: 500 },
    ));

  it("reads a body with some bytes changed, cut or added, or refuses it", () =>
    fc.assert(
      fc.asyncProperty(typed(), fc.infiniteStream(fc.nat()), async ({ schema, value }, random) => {
        const codec = avroCodec(schema);
        const body = await encodedOr(codec, value);
        if (body === undefined) return;
        const next = (): number => Number(random.next().value ?? 0);
        const changed = Uint8Array.from(body, (byte) => next() % 8 === 0 ? next() & 0xff : byte);
        decodedOr(codec, changed);
        decodedOr(codec, changed.subarray(0, next() % (changed.length + 1)));
        assert.equal(decodedOr(codec, Uint8Array.of(...body, 0)), undefined);
        for (let end = 0; end < Math.min(body.length, 30); end++) {
          assert.equal(decodedOr(codec, body.subarray(0, end)), undefined, "a beginning is no body");
        }
      }),
      { numRuns: 300 },
    ));

  it("takes any value there is, or refuses it, and does not change it", () =>
    fc.assert(
      fc.asyncProperty(
        typed(),
        fc.anything({ withBigInt: true, withTypedArray: true, withMap: true, withDate: true }),
        async (one, payload) => {
          const codec = avroCodec(one.schema);
          const body = await encodedOr(codec, payload);
          if (body !== undefined) assert.notEqual(decodedOr(codec, body), undefined);
        },
      ),
      { numRuns: 500 },
    ));

  it("reads what a schema wrote with the same schema, as it was and through a registry", () =>
    fc.assert(
      fc.asyncProperty(typed(), async ({ schema, value }) => {
        const registry = memorySchemaRegistry();
        const spaced = JSON.stringify(parsed(schema), null, 1);
        const codec: Codec = registeredAvroCodec(registry, { subject: "s", schema, readerSchema: spaced });
        const body = await encodedOr(codec, value);
        if (body !== undefined) assert.deepEqual(await codec.decode(body, {}), value);
        assert.deepEqual(unreadableParts(schema, schema), []);
      }),
      { numRuns: 300 },
    ));

  it("resolves what the comparison of two schemas says can be read, and nothing it says cannot", () =>
    fc.assert(
      fc.asyncProperty(typed(), typed(), async (writer, reader) => {
        const registry = memorySchemaRegistry();
        const codec: Codec = registeredAvroCodec(registry, {
          subject: "s",
          schema: writer.schema,
          readerSchema: reader.schema,
        });
        const body = await encodedOr(codec, writer.value);
        if (body === undefined) return;
        const isReadable = unreadableParts(reader.schema, writer.schema).length === 0;
        const outcome = await Promise.resolve(codec.decode(body, {})).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (isReadable && !holdsBytes(writer)) assert.equal(outcome, undefined);
        if (outcome !== undefined) assert.ok(outcome instanceof DecodeError, String(outcome));
      }),
      { numRuns: 500 },
    ));

  it("takes any text for a schema, or refuses it with a TypeError", () => {
    const word = fc.constantFrom(
      "record",
      "enum",
      "array",
      "map",
      "fixed",
      "int",
      "string",
      "R",
      "type",
      "name",
      "fields",
      "items",
      "symbols",
      "size",
      "default",
    );
    const json = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        word,
        fc.integer(),
        fc.constant(null),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(word, tie("node"), { maxKeys: 5 }),
      ),
    })).node;
    fc.assert(
      fc.property(fc.oneof(json.map((one) => JSON.stringify(one)), fc.string()), (text) => {
        try {
          avroDefinition(text);
        } catch (error) {
          assert.ok(error instanceof TypeError, String(error));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Bytes that are no UTF-8 are only known to be none when they are read as text. */
function holdsBytes({ schema }: Typed): boolean {
  return schema.includes('"bytes"');
}
