/** Several formats on one queue (contract codecs 2.10). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesCodec } from "../../../src/codec/bytes.ts";
import { compositeCodec } from "../../../src/codec/composite.ts";
import { parseContentType } from "../../../src/codec/content_type.ts";
import { jsonCodec } from "../../../src/codec/json.ts";
import { textCodec } from "../../../src/codec/text.ts";
import { DecodeError, isRetryable, RetryableError } from "../../../src/errors.ts";
import type { Codec, DecodeContext } from "../../../src/ports/codec.ts";
import { codecContract } from "../../contract/codec.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** `key: value`, and nothing else: a stand-in for a format that reads less than text and more than JSON. */
function linesCodec(decode?: (body: Uint8Array, context: DecodeContext) => unknown): Codec {
  return {
    contentType: "application/x-lines",
    canDecode: (contentType) => parseContentType(contentType)?.essence === "application/x-lines",
    encode: (payload) => ({ body: bytes(String(payload)) }),
    decode: decode ?? ((body) => {
      const [key, value] = new TextDecoder().decode(body).split(": ");
      if (key === undefined || value === undefined) throw new DecodeError("Cannot read the body as lines: no colon");
      return { [key]: value };
    }),
  };
}

codecContract("a composite of JSON and lines", () =>
  Promise.resolve({
    codec: compositeCodec([jsonCodec(), linesCodec()]),
    holds: [{ payload: { id: "A-19" } }, { payload: [1, null, "2"] }, { payload: null }],
    refuses: [undefined, NaN, { card: "4242", of: new Map() }],
    unreadable: [new Uint8Array(), bytes('{"card" 4242')],
    reads: ["application/json", "text/json", "application/x-lines", undefined],
    leaves: ["application/cbor", "text/plain"],
  }));

describe("a composite codec", () => {
  const codec = compositeCodec([jsonCodec(), linesCodec(), textCodec()]);

  it("writes with its first codec, under that one's content type", async () => {
    assert.equal(codec.contentType, "application/json");
    assert.deepEqual((await codec.encode({ a: 1 })).body, bytes('{"a":1}'));
  });

  it("reads with those that claim the type, in order", async () => {
    assert.deepEqual(await codec.decode(bytes("a: 1"), { contentType: "application/x-lines" }), { a: "1" });
    assert.equal(await codec.decode(bytes("17"), { contentType: "text/plain" }), "17");
    assert.equal(await codec.decode(bytes("17"), { contentType: "text/json" }), 17);
  });

  it("asks the next one that claims the type when one cannot read it", async () => {
    assert.equal(await codec.decode(bytes("{"), { contentType: "text/json" }), "{");
  });

  it("asks all in order without a type, absent or empty, whether they claim such bodies or not", async () => {
    for (const context of [{}, { contentType: undefined }, { contentType: "" }]) {
      assert.deepEqual(await codec.decode(bytes('{"a":1}'), context), { a: 1 });
      assert.deepEqual(await codec.decode(bytes("a: 1"), context), { a: "1" });
      assert.equal(await codec.decode(bytes("grün"), context), "grün");
    }
  });

  it("lists what it holds when nothing reads the type", () => {
    assert.equal(codec.canDecode("application/cbor"), false);
    assert.throws(() => codec.decode(bytes("x"), { contentType: "application/cbor" }), {
      name: "DecodeError",
      message:
        'Cannot read a body of content type "application/cbor": nothing here reads it, of application/json, application/x-lines, text/plain; charset=utf-8',
    });
  });

  it("gives every reason when nobody could read it", () => {
    const strict = compositeCodec([jsonCodec(), linesCodec()]);
    assert.throws(() => strict.decode(bytes("neither"), {}), {
      name: "DecodeError",
      message:
        "Cannot read a body without a content type: application/json: DecodeError: Cannot read the body as JSON: it is not valid JSON; " +
        "application/x-lines: DecodeError: Cannot read the body as lines: no colon",
    });
  });

  it("does not guess with a codec that says its format cannot be guessed", () => {
    const greedy: Codec = { ...linesCodec(() => "nonsense"), guessable: false };
    const careful = compositeCodec([jsonCodec(), greedy]);
    assert.throws(() => careful.decode(bytes("a: 1"), {}), DecodeError);
    assert.equal(careful.decode(bytes("a: 1"), { contentType: "application/x-lines" }), "nonsense");
    assert.equal(compositeCodec([greedy]).canDecode(undefined), false);
  });

  it("goes no further when a codec says that what it depends on is away", async () => {
    const away = (): never => {
      throw new RetryableError("The registry is away");
    };
    for (const decode of [away, () => Promise.resolve().then(away)]) {
      const waiting = compositeCodec([linesCodec(decode), textCodec()]);
      await assert.rejects(async () => await waiting.decode(bytes("a: 1"), {}), isRetryable);
    }
  });

  it("takes whatever a codec throws for its failure, at once or later", async () => {
    const failing = (): never => {
      throw new SyntaxError("broken");
    };
    for (const decode of [failing, () => Promise.resolve().then(failing)]) {
      const other = compositeCodec([linesCodec(decode), textCodec()]);
      assert.equal(await other.decode(bytes("a"), {}), "a");
    }
  });

  it("waits for nothing where no codec does", () => {
    assert.equal("then" in codec.encode(1), false);
    assert.equal(codec.decode(bytes("17"), {}), 17);
  });

  it("hands on the type and the headers of the message", async () => {
    const seen: DecodeContext[] = [];
    const looking = compositeCodec([linesCodec((_body, context) => seen.push(context)), textCodec()]);
    const context: DecodeContext = { contentType: "application/x-lines; v=2", headers: { digest: "d" } };
    await looking.decode(bytes("x"), context);
    assert.deepEqual(seen, [context]);
  });

  it("may stand in another one", async () => {
    const outer = compositeCodec([compositeCodec([linesCodec(), jsonCodec()]), textCodec()]);
    assert.equal(outer.contentType, "application/x-lines");
    assert.equal(await outer.decode(bytes("17"), { contentType: "application/json" }), 17);
    assert.equal(await outer.decode(bytes("17"), { contentType: "text/plain" }), "17");
  });

  it("is refused without a codec, with something that is none, and with one that nobody would ask", () => {
    for (const codecs of [[], undefined, jsonCodec(), "json"]) {
      assert.throws(() => compositeCodec(codecs as never), /it must be a list of at least one codec/);
    }
    assert.throws(() => compositeCodec(["json"] as never), /^TypeError: Cannot use the codec/);
    assert.throws(() => compositeCodec([bytesCodec() as Codec<never, unknown>, jsonCodec()] as never), {
      name: "TypeError",
      message: /the codec that writes application\/octet-stream reads every type, so it must come last/,
    });
  });
});
