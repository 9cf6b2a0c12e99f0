/** Payloads too large for a broker: contract patterns 1. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { memoryClaimCheckStore } from "../../../adapters/memory/mod.ts";
import { bytesCodec } from "../../../src/codec/bytes.ts";
import { claimCheckCodec, HEADER_CLAIM_DIGEST } from "../../../src/codec/claim_check.ts";
import { claimKeyOf } from "../../../src/codec/claim_frame.ts";
import { compositeCodec } from "../../../src/codec/composite.ts";
import { encryptedCodec } from "../../../src/codec/encrypted.ts";
import { jsonCodec } from "../../../src/codec/json.ts";
import { keyring } from "../../../src/codec/keyring.ts";
import { streamCodec } from "../../../src/codec/stream.ts";
import { textCodec } from "../../../src/codec/text.ts";
import { ClaimMissingError, DecodeError, EncodeError, StoreError } from "../../../src/errors.ts";
import type { ClaimCheckStore } from "../../../src/ports/claim_check_store.ts";
import { deferred } from "../../support/until.ts";

const KEY = "3f1c9a52-7d44-4a0e-9a6b-0d2f5e8c1b77";

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ").toUpperCase();
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A store of which some methods do otherwise. */
function otherwise(changes: Partial<ClaimCheckStore>): ClaimCheckStore {
  const store = memoryClaimCheckStore();
  return {
    put: (content) => store.put(content),
    get: (key) => store.get(key),
    delete: (key) => store.delete(key),
    ...changes,
  };
}

describe("a claim check", () => {
  it("frames what is short as the contract has it [CLM-03]", async () => {
    const json = claimCheckCodec(jsonCodec(), memoryClaimCheckStore());
    assert.equal(hex((await json.encode({ id: 1 })).body), "AC 01 00 7B 22 69 64 22 3A 31 7D");
    const bytes = claimCheckCodec(bytesCodec(), memoryClaimCheckStore());
    assert.equal(hex((await bytes.encode(new Uint8Array())).body), "AC 01 00");
    const { body } = await bytes.encode(new Uint8Array([0xac, 0x01, 0x01, 0x78]));
    assert.equal(hex(body), "AC 01 00 AC 01 01 78");
    assert.deepEqual(await bytes.decode(body, {}), new Uint8Array([0xac, 0x01, 0x01, 0x78]));
  });

  it("frames the key of what is long as the contract has it [CLM-03]", async () => {
    const codec = claimCheckCodec(jsonCodec(), memoryClaimCheckStore({ newId: () => KEY }), { thresholdBytes: 0 });
    const { body } = await codec.encode(1);
    assert.equal(
      hex(body),
      "AC 01 01 33 66 31 63 39 61 35 32 2D 37 64 34 34 2D 34 61 30 65 2D 39 61 36 62 2D 30 64 32 66 35 65 38 63 31 62 37 37",
    );
    assert.equal(claimKeyOf(body), KEY);
    assert.equal(await codec.decode(body, {}), 1);
  });

  it("sends 65,535 encoded bytes along and keeps 65,536, and so for any threshold [CLM-02]", async () => {
    for (const [thresholdBytes, border] of [[undefined, 65_536], [10, 10], [1, 1]] as const) {
      const store = memoryClaimCheckStore();
      const codec = claimCheckCodec(textCodec(), store, thresholdBytes === undefined ? {} : { thresholdBytes });
      assert.equal(claimKeyOf((await codec.encode("x".repeat(border - 1))).body), null);
      assert.equal(store.size, 0);
      assert.notEqual(claimKeyOf((await codec.encode("x".repeat(border))).body), null);
      // Bytes count, and not characters.
      if (border > 2) assert.notEqual(claimKeyOf((await codec.encode("ü".repeat(border / 2))).body), null);
    }
  });

  it("has the codec inside read what is no frame of its own, and is of its content type", async () => {
    const codec = claimCheckCodec(bytesCodec(), memoryClaimCheckStore());
    for (const body of [[], [0xac], [0xac, 1], [0xac, 1, 2, 3], [0xac, 2, 0, 1], [0xae, 1, 0], [0x7b, 0x7d]]) {
      assert.deepEqual(await codec.decode(new Uint8Array(body), {}), new Uint8Array(body));
      assert.equal(claimKeyOf(new Uint8Array(body)), null);
    }
    const json = claimCheckCodec(jsonCodec(), memoryClaimCheckStore());
    assert.equal(json.contentType, "application/json");
    assert.deepEqual([json.canDecode("text/json"), json.canDecode("text/plain")], [true, false]);
  });

  it("is parked for a payload that is not there or a key that is none, and retried for a store that is away [CLM-01]", async () => {
    const codec = claimCheckCodec(jsonCodec(), memoryClaimCheckStore());
    for (const body of [[0xac, 1, 1], [0xac, 1, 1, 0xff], [0xac, 1, 1, 0x61]]) {
      await assert.rejects(async () => await codec.decode(new Uint8Array(body), {}), (error) => {
        assert.ok(error instanceof ClaimMissingError && error instanceof DecodeError);
        assert.equal(error.code, "ACEMQ_CLAIM_MISSING");
        return true;
      });
    }
    const away = claimCheckCodec(jsonCodec(), otherwise({ get: () => Promise.reject(new Error("503, key=4242")) }));
    await assert.rejects(async () => await away.decode(new Uint8Array([0xac, 1, 1, 0x61]), {}), (error) => {
      assert.ok(error instanceof StoreError);
      assert.doesNotMatch(error.message, /4242/);
      return true;
    });
    const breaks = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("reset")) });
    const broken = claimCheckCodec(jsonCodec(), otherwise({ get: () => Promise.resolve(breaks) }));
    await assert.rejects(async () => await broken.decode(new Uint8Array([0xac, 1, 1, 0x61]), {}), StoreError);
  });

  it("sends nothing that its store has not kept, and says which answer is none", async () => {
    const wrong: readonly unknown[] = [undefined, null, "", 7, {}, { key: "" }, { key: "half \ud83d" }, {
      key: "k",
      sha256: "x",
    }];
    for (const answer of wrong) {
      const codec = claimCheckCodec(textCodec(), otherwise({ put: async () => answer as string }), {
        thresholdBytes: 0,
      });
      await assert.rejects(async () => await codec.encode("x"), StoreError);
    }
    const full = otherwise({ put: () => Promise.reject(new Error("disk full")) });
    await assert.rejects(
      async () => await claimCheckCodec(textCodec(), full, { thresholdBytes: 0 }).encode("x"),
      StoreError,
    );
    await assert.rejects(async () => await claimCheckCodec(jsonCodec(), full).encode(NaN), EncodeError);
  });

  it("has the digest of its payload in a header where the store makes one, and holds the payload to it", async () => {
    const store = memoryClaimCheckStore({ digest: true });
    const codec = claimCheckCodec(textCodec(), store, { thresholdBytes: 3 });
    const { body, headers = {} } = await codec.encode("abc");
    // FIPS 180-4.
    const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert.deepEqual(headers, { "acemq-claim-digest": sha256 });
    assert.equal(await codec.decode(body, { headers: { [HEADER_CLAIM_DIGEST]: sha256 } }), "abc");
    const wrong = { [HEADER_CLAIM_DIGEST]: sha256.replace("b", "c") };
    await assert.rejects(async () => await codec.decode(body, { headers: wrong }), DecodeError);
    assert.equal(await codec.decode(body, {}), "abc");
    assert.equal((await codec.encode("ab")).headers, undefined);
  });

  it("keeps ciphertext of what is encrypted inside it, and is not encrypted itself", async () => {
    const kept: Uint8Array[] = [];
    const store = memoryClaimCheckStore();
    const spying = otherwise({
      put: async (content) => {
        assert.ok(content instanceof Uint8Array);
        kept.push(content);
        return await store.put(content);
      },
      get: (key) => store.get(key),
    });
    const keys = keyring({ current: "k", keys: { k: new Uint8Array(32) } });
    const codec = claimCheckCodec(encryptedCodec(textCodec(), keys), spying, { thresholdBytes: 10 });
    const { body } = await codec.encode("the card 4929 and more");
    assert.equal(codec.isSealed, true);
    assert.doesNotMatch(new TextDecoder().decode(kept[0]), /4929/);
    assert.equal(hex(kept[0]?.subarray(0, 2) ?? new Uint8Array()), "AE 01");
    assert.equal(await codec.decode(body, { contentType: codec.contentType }), "the card 4929 and more");
    // What JavaScript hands in.
    assert.throws(() => encryptedCodec(codec as never, keys), /^TypeError: Cannot seal a claim check/);
  });

  it("goes into a composite, and around one, whose content type comes back with the message [CLM-06]", async () => {
    const store = memoryClaimCheckStore();
    const around = claimCheckCodec(compositeCodec([jsonCodec(), textCodec()]), store, { thresholdBytes: 0 });
    const json = await around.encode({ id: 1 });
    assert.deepEqual(await around.decode(json.body, { contentType: json.contentType ?? around.contentType }), {
      id: 1,
    });
    const text = await claimCheckCodec(textCodec(), store, { thresholdBytes: 0 }).encode("{}");
    assert.equal(await around.decode(text.body, { contentType: "text/plain" }), "{}");
    const inside = compositeCodec([claimCheckCodec(jsonCodec(), store, { thresholdBytes: 0 }), textCodec()]);
    const { body } = await inside.encode({ id: 2 });
    assert.deepEqual(await inside.decode(body, { contentType: "application/json" }), { id: 2 });
  });

  it("refuses what is no codec, no store, no threshold", () => {
    const store = memoryClaimCheckStore();
    assert.throws(() => claimCheckCodec({} as never, store), TypeError);
    for (const wrong of [undefined, null, {}, { put: () => {} }, "store"]) {
      assert.throws(() => claimCheckCodec(jsonCodec(), wrong as never), /TypeError: Cannot check payloads in/);
    }
    for (const thresholdBytes of [-1, 1.5, NaN, Infinity]) {
      assert.throws(() => claimCheckCodec(jsonCodec(), store, { thresholdBytes }), RangeError);
    }
    assert.throws(() => claimCheckCodec(jsonCodec(), store, { treshold: 1 } as never), /treshold/);
  });

  it("comes back as it was, however large it is and wherever the threshold is", async () => {
    const payloads = fc.uint8Array({ maxLength: 300 });
    await fc.assert(fc.asyncProperty(payloads, fc.nat(300), async (payload, thresholdBytes) => {
      const codec = claimCheckCodec(bytesCodec(), memoryClaimCheckStore(), { thresholdBytes });
      const { body } = await codec.encode(payload);
      assert.equal(claimKeyOf(body) === null, payload.byteLength < thresholdBytes);
      assert.deepEqual(await codec.decode(body, {}), new Uint8Array(payload));
    }));
  });

  it("reads any bytes, or refuses them with an error of its own [property]", async () => {
    const codec = claimCheckCodec(textCodec(), memoryClaimCheckStore());
    const frames = fc.tuple(
      fc.constantFrom([0xac, 1, 0], [0xac, 1, 1], [0xac, 1], []),
      fc.uint8Array({ maxLength: 40 }),
    );
    await fc.assert(fc.asyncProperty(frames, async ([begin, rest]) => {
      try {
        assert.equal(
          typeof await codec.decode(new Uint8Array([...begin, ...rest]), { contentType: "text/plain" }),
          "string",
        );
      } catch (error) {
        assert.ok(error instanceof DecodeError, String(error));
      }
    }));
  });
});

describe("a stream in a claim check", () => {
  /** Chunks of ten bytes, as they are asked for. */
  function counting(chunks: number): { readonly stream: ReadableStream<Uint8Array>; pulled: number } {
    const found = {
      pulled: 0,
      stream: new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (found.pulled++ === chunks) controller.close();
          else controller.enqueue(utf8("0123456789"));
        },
      }, { highWaterMark: 0 }),
    };
    return found;
  }

  it("travels in the message where it ends before the threshold, and is read as a stream either way", async () => {
    for (const [chunks, isKept] of [[0, false], [9, false], [10, true], [50, true]] as const) {
      const codec = claimCheckCodec(streamCodec(), memoryClaimCheckStore(), { thresholdBytes: 100 });
      const { body } = await codec.encode(counting(chunks).stream);
      assert.equal(claimKeyOf(body) !== null, isKept, `${chunks} chunks`);
      assert.equal(await new Response(await codec.decode(body, {})).text(), "0123456789".repeat(chunks));
    }
  });

  it("is of the type that a blob or a response says", async () => {
    const codec = claimCheckCodec(streamCodec(), memoryClaimCheckStore(), { thresholdBytes: 3 });
    for (const payload of [new Blob(["a,b"], { type: "text/csv" }), new Blob(["a"], { type: "text/csv" })]) {
      assert.equal((await codec.encode(payload)).contentType, "text/csv");
    }
    const page = new Response("a,b", { headers: { "content-type": "text/csv" } });
    assert.equal((await codec.encode(page)).contentType, "text/csv");
  });

  it("is read no further than the store has taken it", async () => {
    const source = counting(1_000);
    const goOn = deferred();
    const taken = deferred();
    const store = otherwise({
      put: async (content) => {
        assert.ok(content instanceof ReadableStream);
        const reader = content.getReader();
        for (let chunk = 0; chunk < 5; chunk++) await reader.read();
        taken.resolve();
        await goOn.promise;
        while (!(await reader.read()).done);
        return "k";
      },
    });
    const encoding = claimCheckCodec(streamCodec(), store, { thresholdBytes: 30 }).encode(source.stream);
    await taken.promise;
    assert.equal(source.pulled, 5);
    goOn.resolve();
    assert.equal(claimKeyOf((await encoding).body), "k");
    assert.equal(source.pulled, 1_001);
  });

  it("that fails is an EncodeError, before and behind the threshold, and is no fault of the store", async () => {
    for (const good of [0, 2, 20]) {
      let pulled = 0;
      const stream = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (pulled++ === good) controller.error(new Error("the camera was unplugged"));
          else controller.enqueue(utf8("0123456789"));
        },
      });
      const codec = claimCheckCodec(streamCodec(), memoryClaimCheckStore(), { thresholdBytes: 100 });
      await assert.rejects(async () => await codec.encode(stream), (error) => {
        assert.ok(error instanceof EncodeError);
        assert.match(String((error.cause as Error).message), /unplugged/);
        return true;
      });
    }
    const texts = new ReadableStream({ pull: (controller) => controller.enqueue("text") });
    const codec = claimCheckCodec(streamCodec(), memoryClaimCheckStore());
    await assert.rejects(async () => await codec.encode(texts as ReadableStream<Uint8Array>), EncodeError);
  });

  it("is given up when the store does not take it", async () => {
    let reason: unknown;
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(utf8("0123456789")),
      cancel: (why) => void (reason = why),
    });
    const store = otherwise({ put: () => Promise.reject(new Error("disk full")) });
    await assert.rejects(
      async () => await claimCheckCodec(streamCodec(), store, { thresholdBytes: 5 }).encode(stream),
      StoreError,
    );
    assert.ok(reason instanceof StoreError);
  });
});
