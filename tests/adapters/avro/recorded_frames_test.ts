/** Every framed Avro body that another language wrote means what its recording says, or is refused for the reason it gives. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { avroCodec, registeredAvroCodec } from "../../../adapters/avro/mod.ts";
import { DecodeError, SchemaRegistryError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import type { SchemaRegistry } from "../../../src/ports/schema_registry.ts";
import { fingerprint, type SchemaDefinition } from "../../../src/schema/definition.ts";
import { bytesOfHex, type FixtureCase, fixtureCases, LANGUAGES } from "../../support/fixtures.ts";

/** One recorded frame. */
interface FrameCase extends FixtureCase {
  readonly frame: string;
  readonly content_type: string | null;
  readonly body_hex: string;
  readonly given: {
    readonly schemas?: Readonly<Record<string, SchemaDefinition & { readonly subject: string }>>;
    readonly readerSchema?: string | null;
    readonly fixedSchema?: string;
  };
  readonly means: unknown;
}

/** What the text of each refusal says. */
const WORDS: Readonly<Record<string, RegExp>> = {
  "decode": /body ends too early|left over|goes beyond|cannot be read as|no field|not UTF-8|no branch|lacks/,
  "unknown-schema-id": /of schema \d+: (it is not registered|no schema can have this id)/,
  "not-avro-schema": /of schema \d+: it is of format "/,
  "bad-frame": /must begin with 00|ids begin with 1/,
  "fixed-reader-met-registered": /is the type of registered schemas/,
};

/** The rows another language's registry held: also what ours would not register. */
function registryOf(schemas: FrameCase["given"]["schemas"] = {}): SchemaRegistry {
  const elsewhere = (): Promise<never> => Promise.reject(new TypeError("Not asked of a reader"));
  return {
    byId: async (id) => {
      const schema = schemas[id];
      if (schema === undefined) throw new SchemaRegistryError("ACEMQ_SCHEMA_NOT_FOUND", `Cannot find schema ${id}`);
      const mark = await fingerprint(schema.definition);
      return { ...schema, id, version: 1, fingerprint: mark, registeredAtMs: undefined };
    },
    register: elsewhere,
    latest: elsewhere,
    versions: elsewhere,
    idFor: elsewhere,
  };
}

function codecOf({ given }: FrameCase): Codec {
  if (given.fixedSchema !== undefined) return avroCodec(given.fixedSchema);
  return registeredAvroCodec(registryOf(given.schemas), { readerSchema: given.readerSchema ?? null });
}

for (const language of LANGUAGES) {
  describe(`frames of registered schemas written by ${language} [AVR-14]`, () => {
    const cases = fixtureCases<FrameCase>("frames", language).filter(({ frame }) => frame === "avro-registered");
    it("are recorded", () => assert.ok(cases.length >= 2, `${cases.length} cases`));
    for (const one of cases) {
      const { error } = (one.means ?? {}) as { readonly error?: string };
      it(`${one.name} ${error === undefined ? "means what it says" : `is refused: ${error}`}`, async () => {
        const codec = codecOf(one);
        const reading = async (): Promise<unknown> =>
          await codec.decode(bytesOfHex(one.body_hex), { contentType: one.content_type ?? undefined });
        if (error === undefined) return assert.deepEqual(await reading(), one.means);
        await assert.rejects(reading, (thrown: unknown) => {
          assert.ok(thrown instanceof DecodeError);
          assert.match(thrown.message, WORDS[error] ?? /^$/, `${error}: ${thrown.message}`);
          return true;
        });
      });
    }
  });
}
