/** Every Avro body that another language wrote means what its recording says, and is written as the same bytes where that is so. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { avroCodec, registeredAvroCodec } from "../../../adapters/avro/mod.ts";
import { memorySchemaRegistry } from "../../../adapters/memory/mod.ts";
import { DecodeError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import { bytesOfHex, type FixtureCase, fixtureCases, LANGUAGES } from "../../support/fixtures.ts";

/** One recorded body. */
interface BodyCase extends FixtureCase {
  readonly codec: string;
  readonly content_type: string | null;
  readonly body_hex: string;
  readonly schema: string;
  readonly reader_schema?: string;
  readonly means: unknown;
}

function isRefused(means: unknown): boolean {
  return typeof means === "object" && means !== null && Object.keys(means).join() === "error,reason";
}

/** A body of a fixed schema, read as such; one with a reader's schema as a registered one, in front of which the id is put. */
async function read({ schema, reader_schema, body_hex, content_type }: BodyCase): Promise<unknown> {
  const body = bytesOfHex(body_hex);
  const contentType = content_type ?? undefined;
  if (reader_schema === undefined) return await avroCodec(schema).decode(body, { contentType });
  const registry = memorySchemaRegistry();
  await registry.register("s", { format: "avro", definition: schema }, { id: 258 });
  const codec: Codec = registeredAvroCodec(registry, { readerSchema: reader_schema });
  return await codec.decode(Uint8Array.of(0, 0, 0, 1, 2, ...body), {});
}

for (const language of LANGUAGES) {
  describe(`Avro bodies written by ${language} [COD-18]`, () => {
    const cases = fixtureCases<BodyCase>("codecs", language).filter(({ codec }) => codec === "avro");
    it("are recorded", () => assert.ok(cases.length >= 3, `${cases.length} cases`));
    for (const one of cases) {
      it(`${one.name} ${isRefused(one.means) ? "is refused" : "means what it says"}`, async () => {
        if (isRefused(one.means)) await assert.rejects(read(one), DecodeError);
        else assert.deepEqual(await read(one), one.means);
      });
    }
  });
}
