import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { textCodec, type TextPayload } from "../../../src/codec/text.ts";
import { DecodeError, EncodeError } from "../../../src/errors.ts";
import type { EncodedPayload } from "../../../src/ports/codec.ts";

function bytesOf(payload: unknown): Uint8Array {
  return (textCodec().encode(payload as TextPayload) as EncodedPayload).body;
}

function read(body: Uint8Array, contentType?: string): unknown {
  return textCodec().decode(body, { contentType });
}

describe("text", () => {
  it("is written as UTF-8 under the content type every AceMQ library spells the same", () => {
    assert.equal(textCodec().contentType, "text/plain; charset=utf-8");
    assert.equal(Buffer.from(bytesOf("grün")).toString("hex"), "6772c3bc6e");
  });

  const written: readonly (readonly [TextPayload, string])[] = [
    ["", ""],
    [42, "42"],
    [-0.5, "-0.5"],
    [12_345_678_901_234_567_890n, "12345678901234567890"],
    [true, "true"],
    [false, "false"],
  ];
  for (const [payload, text] of written) {
    it(`writes ${typeof payload} ${String(payload)} as ${JSON.stringify(text)}`, () => {
      assert.equal(new TextDecoder().decode(bytesOf(payload)), text);
    });
  }

  it("refuses what is no text: `[object Object]` would be confirmed and useless", () => {
    for (
      const payload of [
        {},
        [],
        null,
        undefined,
        () => 1,
        Symbol("s"),
        new Date(),
        new Uint8Array(1),
        NaN,
        Infinity,
      ]
    ) {
      assert.throws(() => bytesOf(payload), EncodeError);
    }
    assert.throws(() => bytesOf({ card: "4242" }), {
      message: "Cannot write the payload as text: it must be text, a finite number or a boolean, found object",
    });
  });

  it("refuses half a surrogate pair, which UTF-8 cannot hold", () => {
    assert.throws(() => bytesOf("a\ud800"), EncodeError);
  });

  it("is claimed for text/* alone, never for a body without a type", () => {
    const { canDecode } = textCodec();
    for (const type of ["text/plain", "text/csv", "TEXT/PLAIN; CHARSET=UTF-8", " text/markdown"]) {
      assert.equal(canDecode(type), true, type);
    }
    for (const type of [undefined, "", "application/json", "application/octet-stream", "text"]) {
      assert.equal(canDecode(type), false, String(type));
    }
  });

  it("is read strictly", () => {
    for (const bytes of [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80]]) {
      assert.throws(() => read(new Uint8Array(bytes)), {
        name: "DecodeError",
        message: "Cannot read the body as text: its bytes are not valid utf-8",
      });
    }
    assert.equal(read(new Uint8Array()), "");
  });

  it("is read in the charset it names, where the platform knows it", () => {
    assert.equal(read(new Uint8Array([0x63, 0xe9]), "text/plain; charset=iso-8859-1"), "cé");
    assert.equal(read(new Uint8Array([0x61, 0]), 'text/plain; charset="utf-16le"'), "a");
    assert.throws(() => read(new Uint8Array(), "text/plain; charset=x-parcel-7"), DecodeError);
  });

  it("comes back as it was written, but for a leading byte order mark", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(read(bytesOf(text), textCodec().contentType), text.replace(/^\ufeff/, ""));
    }));
  });
});
