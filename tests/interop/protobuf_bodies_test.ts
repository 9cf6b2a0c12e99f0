/** Protobuf bodies of other languages' programs, by the descriptors that their compilers made. */
import { type Message, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { protobufCodec } from "../../adapters/protobuf/mod.ts";
import { DecodeError } from "../../src/errors.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { bytesOfHex, type FixtureCase, fixtureCases, LANGUAGES } from "../support/fixtures.ts";
import { fieldsOf, messageTypeOf } from "../support/protobuf_types.ts";

interface ProtobufCase extends FixtureCase {
  readonly codec: string;
  readonly content_type: string;
  readonly body_hex: string;
  readonly message: string;
  readonly descriptor_set_hex?: string;
  readonly means: unknown;
}

interface Typed {
  readonly codec: Codec<never, Message>;
  readonly meaning: (message: Message) => unknown;
}

function typed({ message, descriptor_set_hex }: ProtobufCase): Typed {
  if (descriptor_set_hex === undefined) {
    assert.equal(message, "google.protobuf.Struct");
    return { codec: protobufCodec(StructSchema), meaning: (read) => toJson(StructSchema, read as never) };
  }
  const type = messageTypeOf(bytesOfHex(descriptor_set_hex), message);
  return { codec: protobufCodec(type), meaning: (read) => fieldsOf(type, read) };
}

function isRefused(means: unknown): boolean {
  return typeof means === "object" && means !== null && Object.keys(means).join() === "error,reason";
}

let recorded = 0;
for (const language of LANGUAGES) {
  const cases = fixtureCases<ProtobufCase>("codecs", language).filter(({ codec }) => codec === "protobuf");
  if (cases.length === 0) continue;
  describe(`protobuf written by ${language}`, () => {
    for (const one of cases) {
      recorded++;
      const { name, content_type: contentType, body_hex, means } = one;
      it(`${name} ${isRefused(means) ? "is refused" : "means what it says, and reads the same once written again"}`, async () => {
        const { codec, meaning } = typed(one);
        assert.equal(codec.canDecode(contentType), true);
        const body = bytesOfHex(body_hex);
        if (isRefused(means)) {
          await assert.rejects(async () => await codec.decode(body, { contentType }), DecodeError);
          return;
        }
        const read = await codec.decode(body, { contentType });
        assert.deepEqual(meaning(read), means);
        const again = await codec.encode(read as never);
        assert.deepEqual(meaning(await codec.decode(again.body, { contentType })), means);
      });
    }
  });
}

describe("the recordings of protobuf", () => {
  it("are of several languages", () => assert.ok(recorded >= 15, `${recorded} cases`));
});
