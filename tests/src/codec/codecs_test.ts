import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesCodec } from "../../../src/codec/bytes.ts";
import { codecCatalog, type CodecName } from "../../../src/codec/codecs.ts";
import { jsonCodec } from "../../../src/codec/json.ts";
import { CodecMissingError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";

/** A codec of a format that lives in an adapter. */
function codecOf(contentType: string): Codec {
  return { ...bytesCodec(), contentType } as Codec;
}

describe("codecs by name", () => {
  it("are found by the names of every language, in any case: text and string are one [COD-16]", () => {
    const catalog = codecCatalog();
    const types: Readonly<Record<string, string>> = {
      json: "application/json",
      text: "text/plain; charset=utf-8",
      string: "text/plain; charset=utf-8",
      bytes: "application/octet-stream",
    };
    for (const [name, contentType] of Object.entries(types)) {
      for (const spelled of [name, name.toUpperCase()]) {
        assert.equal(catalog.resolve(spelled as CodecName).contentType, contentType, spelled);
      }
    }
  });

  it("leave a body without a content type to JSON, and to bytes, which take everything", () => {
    const catalog = codecCatalog();
    assert.deepEqual(
      (["json", "text", "bytes"] as const).map((name) => catalog.resolve(name).canDecode(undefined)),
      [true, false, true],
    );
  });

  it("are known beyond those once they are handed in, whatever parameters their content type has", () => {
    const yaml = codecOf("application/yaml; charset=utf-8");
    assert.equal(codecCatalog([codecOf("application/xml"), yaml]).resolve("yaml"), yaml);
  });

  it("refuse a codec that no name stands for: it would be handed in for nothing", () => {
    const nameless = { ...jsonCodec(), contentType: "application/vnd.example.reading" };
    for (const codec of [nameless, jsonCodec()]) {
      assert.throws(() => codecCatalog([codec]), {
        name: "TypeError",
        message:
          `Cannot use option 'codecs': the codec that writes ${codec.contentType} has no name to be asked for by; give it as 'codec'`,
      });
    }
  });

  it("fail by saying which import brings what was not handed in", () => {
    const catalog = codecCatalog([codecOf("application/xml")]);
    assert.throws(() => catalog.resolve("toml"), {
      name: "CodecMissingError",
      code: "ACEMQ_CODEC_MISSING",
      message: `Cannot use codec "toml": hand tomlCodec() from "@acemq/amqp/toml" to connect as one of 'codecs'`,
    });
  });

  it("fail by listing the known ones for a name that stands for nothing", () => {
    for (const name of ["avro", "protobuf", "", "__proto__", "toString"]) {
      assert.throws(() => codecCatalog([codecOf("application/yaml")]).resolve(name as CodecName), (error: unknown) => {
        assert.ok(error instanceof CodecMissingError);
        assert.equal(error.message, `Cannot use codec "${name}": the known names are json, text, bytes, yaml`);
        return true;
      });
    }
  });

  it("are passed over for a codec object, which is taken as it is", () => {
    const mine = jsonCodec({ integers: "bigint" });
    assert.equal(codecCatalog().resolve(mine), mine);
  });

  it("refuse an object that is no codec, where it is used and where it is handed in", () => {
    const { decode: _, ...half } = jsonCodec();
    for (const one of [null, {}, half, 7]) {
      assert.throws(() => codecCatalog().resolve(one as unknown as Codec), TypeError);
      assert.throws(() => codecCatalog([one as unknown as Codec]), TypeError);
    }
  });
});
