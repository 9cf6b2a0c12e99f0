/** Bytes to payload: contract core 0 rule 10 and 3.2. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeBody, type Decoded } from "../../../src/consume/receive.ts";
import { DecodeError, RetryableError } from "../../../src/errors.ts";
import type { ReceivedMessage } from "../../../src/message/received.ts";
import type { Codec, DecodeContext } from "../../../src/ports/codec.ts";

const BODY = new TextEncoder().encode("ab");

function received(contentType: string | undefined, headers: ReceivedMessage["headers"] = {}): ReceivedMessage {
  return { exchange: "", routingKey: "q", redelivered: false, properties: { contentType }, headers, body: BODY };
}

/** A codec of `text/x` whose decoding is given. */
function codec(decode: (body: Uint8Array, context: DecodeContext) => unknown): Codec {
  return {
    contentType: "text/x",
    canDecode: (contentType) => contentType === "text/x",
    encode: () => ({ body: BODY }),
    decode,
  };
}

function decode(
  decoding: (body: Uint8Array, context: DecodeContext) => unknown,
): Decoded<unknown> | Promise<Decoded<unknown>> {
  return decodeBody(received("text/x"), codec(decoding));
}

describe("a body", () => {
  it("is decoded at once where the codec does not wait", () => {
    assert.deepEqual(decode((body) => body.length), { status: "decoded", payload: 2 });
  });

  it("is decoded later where the codec waits", async () => {
    const decoding = decode((body) => Promise.resolve(body.length));
    assert.ok(decoding instanceof Promise);
    assert.deepEqual(await decoding, { status: "decoded", payload: 2 });
  });

  it("decodes to any value, null, undefined and objects with a 'then' of their own included", () => {
    for (const payload of [null, undefined, "", 0, { then: "later" }]) {
      assert.deepEqual(decode(() => payload), { status: "decoded", payload });
    }
  });

  it("of a type no codec reads is undecodable, and the type is named", () => {
    const types: readonly (readonly [string | undefined, string])[] = [
      ["application/x-protobuf", 'content type "application/x-protobuf"'],
      ["", "a body without a content type"],
      [undefined, "a body without a content type"],
    ];
    for (const [contentType, words] of types) {
      const decoding = decodeBody(received(contentType), codec(() => assert.fail("It must not be tried")));
      assert.ok("status" in decoding && decoding.status === "undecodable");
      assert.ok(decoding.error instanceof DecodeError);
      assert.equal(decoding.error.message, `No codec of this consumer reads ${words}`);
    }
  });

  it("whose codec fails is undecodable, whatever is thrown and when", async () => {
    for (const error of [new SyntaxError("no"), new DecodeError("no"), "no", undefined, null, 0]) {
      const failing = (): never => {
        throw error;
      };
      assert.deepEqual(decode(failing), { status: "undecodable", error });
      assert.deepEqual(await decode(() => Promise.reject(error)), { status: "undecodable", error });
      const choosy: Codec = { ...codec(() => 1), canDecode: failing };
      assert.deepEqual(decodeBody(received("text/x"), choosy), { status: "undecodable", error });
    }
  });

  it("whose codec says that what it depends on is away is a failure to try again", async () => {
    const away = new RetryableError("The store is away");
    for (const error of [away, new DecodeError("Cannot read", { cause: away })]) {
      assert.deepEqual(await decode(() => Promise.reject(error)), { status: "threw", error, by: "codec" });
    }
  });

  it("whose codec fails with an error nobody can look into is undecodable", async () => {
    const { proxy: error, revoke } = Proxy.revocable(new Error("gone"), {});
    revoke();
    const thrown = decode(() => {
      throw error;
    });
    assert.ok("status" in thrown && thrown.status === "undecodable");
    assert.equal((await decode(() => Promise.reject(error))).status, "undecodable");
  });
});

describe("what a codec may look at", () => {
  it("is the content type as it came, and the application's headers without the reserved ones", () => {
    const seen: DecodeContext[] = [];
    const looking = codec((_body, context) => seen.push(context));
    decodeBody(received("text/x", { "x-digest": "ab12", "x-acemq-id": "7" }), looking);
    assert.equal(seen[0]?.contentType, "text/x");
    assert.deepEqual({ ...seen[0]?.headers }, { "x-digest": "ab12" });
  });
});
