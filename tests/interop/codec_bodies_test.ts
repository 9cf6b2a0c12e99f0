/** Every body that another language wrote means what its recording says, in each format. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tomlCodec } from "../../adapters/toml/mod.ts";
import { xmlCodec } from "../../adapters/xml/mod.ts";
import { yamlCodec } from "../../adapters/yaml/mod.ts";
import { jsonCodec } from "../../src/codec/json.ts";
import { textCodec } from "../../src/codec/text.ts";
import { DecodeError } from "../../src/errors.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { bytesOfHex, type FixtureCase, fixtureCases, LANGUAGES } from "../support/fixtures.ts";

/** One recorded body. */
interface BodyCase extends FixtureCase {
  readonly codec: string;
  readonly content_type: string | null;
  readonly body_hex: string;
  readonly means: unknown;
}

const READERS: Readonly<Record<string, readonly (readonly [codec: Codec, meant: (means: unknown) => unknown])[]>> = {
  json: [[jsonCodec({ integers: "bigint" }), (means) => means], [jsonCodec(), rounded]],
  text: [[textCodec() as Codec, (means) => means]],
  yaml: [[yamlCodec(), (means) => means]],
  toml: [[tomlCodec(), (means) => means]],
  xml: [[xmlCodec(), (means) => means]],
};

/** What a reader without bigint makes of a meaning. */
function rounded(means: unknown): unknown {
  if (typeof means === "bigint") return Number(means);
  if (Array.isArray(means)) return means.map(rounded);
  if (typeof means !== "object" || means === null) return means;
  const object: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(means)) {
    Object.defineProperty(object, name, {
      value: rounded(value),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
}

function isRefused(means: unknown): boolean {
  return typeof means === "object" && means !== null && Object.keys(means).join() === "error,reason";
}

for (const language of LANGUAGES) {
  describe(`bodies written by ${language} [COD-18]`, () => {
    const cases = fixtureCases<BodyCase>("codecs", language).filter(({ codec }) => codec in READERS);
    it("are recorded", () => assert.ok(cases.length >= 20, `${cases.length} cases`));
    for (const { name, codec: format, content_type, body_hex, means } of cases) {
      it(`${name} ${isRefused(means) ? "is refused" : "means what it says"}`, async () => {
        const contentType = content_type ?? undefined;
        const body = bytesOfHex(body_hex);
        for (const [codec, meant] of READERS[format] ?? []) {
          assert.equal(codec.canDecode(contentType), true, `${contentType} is not claimed`);
          const reading = async (): Promise<unknown> => await codec.decode(body, { contentType });
          if (isRefused(means)) await assert.rejects(reading, DecodeError);
          else assert.deepEqual(await reading(), meant(means));
        }
      });
    }
  });
}
