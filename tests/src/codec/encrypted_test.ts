/** Bodies that only those read who hold a key (contract codecs 2.9). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import * as z from "zod";
import { bytesCodec } from "../../../src/codec/bytes.ts";
import { compositeCodec } from "../../../src/codec/composite.ts";
import { encryptedCodec, sealUnder } from "../../../src/codec/encrypted.ts";
import { keyIdOf } from "../../../src/codec/encrypted_frame.ts";
import { EncryptionKey, keyFromBase64 } from "../../../src/codec/encryption_key.ts";
import { jsonCodec } from "../../../src/codec/json.ts";
import { type Keyring, keyring } from "../../../src/codec/keyring.ts";
import { streamCodec } from "../../../src/codec/stream.ts";
import { validatedCodec } from "../../../src/codec/validated.ts";
import { DecodeError, EncodeError, isRetryable, RetryableError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import { codecContract } from "../../contract/codec.ts";
import { bytesOfHex } from "../../support/fixtures.ts";

const utf8 = new TextEncoder();
const SECRET = new Uint8Array(32).map((_, index) => index);
const keys = keyring({ current: "2026-01", keys: { "2026-01": SECRET, "old": new Uint8Array(16).fill(7) } });
const sealed = (): Codec => encryptedCodec(jsonCodec(), keys);
const opened = (body: Uint8Array, by: Codec = sealed()): Promise<unknown> => Promise.resolve(by.decode(body, {}));

/** What is not found in any error. */
const TELLTALES = [SECRET.join(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "000102030405", "4929"];

codecContract("sealed JSON", async () => ({
  codec: sealed(),
  holds: [{ payload: { ref: "b-7", deep: [[], {}] } }, { payload: null }, { payload: "" }, { payload: "größe 😀" }],
  refuses: [undefined, { 4242: NaN }, [Infinity], () => 4242],
  unreadable: ["", "4242", '{"card":4242}', "\u0001\u00004242", "[".repeat(5_000)].map((text) => utf8.encode(text)),
  reads: ["application/vnd.acemq.encrypted", "Application/VND.AceMQ.Encrypted; v=1"],
  leaves: [undefined, "", "application/json", "application/octet-stream", "application/vnd.acemq.encrypted+json"],
}));

describe("sealed bodies [ENC-01]", () => {
  for (
    const { what, key, id, nonce, text, body } of [
      {
        what: "the vector of the family",
        key: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        id: "2026-01",
        nonce: "000102030405060708090a0b",
        text: "hello",
        body: "ae0107323032362d3031000102030405060708090a0b2f67ba77aa632797b83b1f88ef1394bb9ff6e85641",
      },
      {
        what: "a key whose name is not ASCII",
        key: "030a11181f262d343b424950575e656c737a81888f969da4abb2b9c0c7ced5dc",
        id: "ts-é-1",
        nonce: "a0a1a2a3a4a5a6a7a8a9aaab",
        text: '{"sku":"b-7","qty":3}',
        body: "ae010774732dc3a92d31a0a1a2a3a4a5a6a7a8a9aaab00a60062985f95f776ab1d72063d9d34620c055ded" +
          "72515d0a5a8216ba784f498c97f6c724",
      },
      {
        what: "a key of 128 bits [ENC-05]",
        key: "030a11181f262d343b424950575e656c",
        id: "k",
        nonce: "a0a1a2a3a4a5a6a7a8a9aaab",
        text: "x",
        body: "ae01016ba0a1a2a3a4a5a6a7a8a9aaab979ea12f8e40aafda8e4321cd4f270248d",
      },
    ]
  ) {
    it(`are ${what}, byte for byte`, async () => {
      const named = new EncryptionKey(id, bytesOfHex(key));
      assert.deepEqual(await (await sealUnder(named))(utf8.encode(text), bytesOfHex(nonce)), bytesOfHex(body));
      const ring = keyring({ current: id, keys: { [id]: bytesOfHex(key) } });
      assert.deepEqual(await opened(bytesOfHex(body), encryptedCodec(bytesCodec(), ring) as Codec), utf8.encode(text));
    });
  }

  it("take keys of 192 bits, or say that the runtime does not [ENC-05]", async () => {
    const codec = encryptedCodec(jsonCodec(), keyring({ current: "k", keys: { k: new Uint8Array(24).fill(1) } }));
    const { body } = await codec.encode([1]);
    assert.deepEqual(await opened(body, codec), [1]);
  });

  it("have another nonce each", async () => {
    const bodies = await Promise.all(Array.from({ length: 200 }, () => sealed().encode(1)));
    assert.equal(new Set(bodies.map(({ body }) => body.subarray(10, 22).join())).size, 200);
  });

  it("are 31 bytes and the key's name longer than what is in them", async () => {
    assert.equal((await sealed().encode("")).body.byteLength, 2 + 31 + "2026-01".length);
  });

  it("open with any key that is held, and not with another of the same name", async () => {
    const before = encryptedCodec(jsonCodec(), keyring({ current: "old", keys: { old: new Uint8Array(16).fill(7) } }));
    assert.deepEqual(await opened((await before.encode({ a: 1 })).body), { a: 1 });
    const other = encryptedCodec(jsonCodec(), keyring({ current: "old", keys: { old: new Uint8Array(16).fill(8) } }));
    await assert.rejects(opened((await other.encode({ a: 1 })).body), refusal(/sealed with another key, or changed/));
  });

  it("do not open when one bit is another, and say the same whichever it is [ENC-07]", async () => {
    const { body } = await sealed().encode({ card: "4929" });
    const texts = new Set<string>();
    for (let bit = 8 * 10; bit < 8 * body.byteLength; bit++) {
      const changed = body.slice();
      changed[bit >> 3] = changed[bit >> 3] as number ^ 1 << (bit & 7);
      texts.add(await opened(changed).then(() => "opened", ({ message, cause }) => `${message} ${cause}`));
    }
    assert.deepEqual([...texts], [
      "Cannot open the body: it was sealed with another key, or changed on its way undefined",
    ]);
  });

  it("are faithful or refused, whatever is done to them", async () => {
    const { body } = await sealed().encode({ card: "4929" });
    const broken = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc.nat(body.length).map((end) => body.slice(0, end)),
      fc.tuple(fc.nat(body.length - 1), fc.nat(255)).map(([at, byte]) => body.with(at, byte)),
      fc.uint8Array({ maxLength: 9 }).map((more) => Uint8Array.from([...body, ...more])),
      fc.uint8Array({ maxLength: 60 }).map((rest) => Uint8Array.from([0xae, 1, ...rest])),
    );
    await fc.assert(
      fc.asyncProperty(broken, async (bytes) => {
        const payload = await opened(bytes).catch((error) => {
          assert.ok(error instanceof DecodeError, String(error));
          assertShowsNothing(error);
        });
        if (payload !== undefined) assert.deepEqual([payload, bytes], [{ card: "4929" }, body]);
      }),
      { numRuns: 300 },
    );
  });

  it("come back as they were, whatever they are, from memory that is shared as well", async () => {
    const codec = encryptedCodec(bytesCodec(), keys) as Codec<Uint8Array>;
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (payload) => {
        const { body } = await codec.encode(payload);
        const shared = new Uint8Array(new SharedArrayBuffer(body.byteLength));
        shared.set(body);
        assert.deepEqual(await codec.decode(shared, {}), payload);
      }),
      { numRuns: 100 },
    );
  });
});

describe("what is no sealed body [ENC-02]", () => {
  it("is refused as what it is", async () => {
    const none = /it was not written by an encrypting codec\. Wanted are AE 01/;
    const retired = /libraries wrote up to 0\.3\.0, which are retired/;
    for (
      const [hex, words] of [
        ["", none],
        ["7b7d", none],
        ["ae", none],
        ["ae02016b", none],
        ["ae0100" + "00".repeat(40), none],
        ["ae0102ff", none],
        ["ae0101ff" + "00".repeat(40), none],
        ["ae010100" + "00".repeat(40), none],
        ["0107", retired],
        ["01", retired],
        ["ae01016b" + "00".repeat(27), /it is cut off\. It takes 32 bytes at least, found 31$/],
        ["ae01016b" + "00".repeat(28), /the key "k" is not on the keyring, which holds "2026-01", "old"$/],
      ] as const
    ) {
      await assert.rejects(opened(bytesOfHex(hex)), refusal(words), hex);
    }
  });

  it("names its key without one, and nothing else does [ENC-06]", async () => {
    assert.equal(keyIdOf((await sealed().encode(1)).body), "2026-01");
    assert.equal(keyIdOf(bytesOfHex("ae010774732dc3a92d31")), "ts-é-1");
    for (const hex of ["", "ae", "ae01", "ae0101", "ae0100ff", "ae0101ff", "ae010100", "ae02016b", "ac0100ae01016b"]) {
      assert.equal(keyIdOf(bytesOfHex(hex)), null, hex);
    }
  });
});

describe("a keyring", () => {
  it("refuses names that do not fit the frame, and keys that are none [ENC-04, ENC-05]", () => {
    const key = new Uint8Array(16);
    for (const id of ["", "a\0b", "\ud800", "x".repeat(256), "é".repeat(128)]) {
      assert.throws(() => keyring({ current: id, keys: { [id]: key } }), /^RangeError: Cannot name a key: its id/, id);
    }
    assert.ok(new EncryptionKey("é".repeat(127) + "x", key));
    for (const length of [0, 15, 20, 31, 33, 64]) {
      const keys = { k: new Uint8Array(length) };
      assert.throws(() => keyring({ current: "k", keys }), new RegExp(`16, 24 or 32 bytes, found ${length}$`));
    }
    assert.throws(() => keyring({ current: "k", keys: { k: "4929" as never } }), withoutTelltales(/must be bytes/));
    assert.throws(() => keyring({ current: "new", keys: { k: key } }), /must name one of its keys, "k"; found "new"$/);
    assert.throws(() => keyring({ current: "k", keys: {} }), /must name one of its keys, none; found "k"$/);
    assert.throws(() => keyFromBase64("4929 is no base64!"), withoutTelltales(/must be base64/));
  });

  it("keeps its keys from whoever changes what it was given, and prints none of them [ENC-07]", async () => {
    const given = SECRET.slice();
    const ring = keyring({ current: "2026-01", keys: { "2026-01": given } });
    given.fill(0);
    const { body } = await encryptedCodec(jsonCodec(), ring).encode("x");
    assert.equal(await opened(body), "x");
    const key = new EncryptionKey("2026-01", SECRET);
    for (const one of [key, ring, await ring.current(), keys]) {
      for (const text of [inspect(one, { depth: 9, showHidden: true }), JSON.stringify(one), String(one)]) {
        for (const telltale of TELLTALES) assert.ok(!String(text).includes(telltale), text);
        assert.doesNotMatch(String(text), /0, 1, 2|00 01 02/);
      }
    }
  });

  it("of one's own is asked for every message, and is away when it fails", async () => {
    let current = "a";
    const held = ["a", "b"].map((id, index) => new EncryptionKey(id, new Uint8Array(16).fill(index)));
    const vault = async (id: string): Promise<EncryptionKey> => {
      const key = held.find((one) => one.id === id);
      if (key === undefined) throw new TypeError("fetch failed");
      return key;
    };
    const ring: Keyring = { current: () => vault(current), keyFor: vault };
    const codec = encryptedCodec(jsonCodec(), ring);
    const first = await codec.encode(1);
    current = "b";
    const second = await codec.encode(2);
    assert.deepEqual([keyIdOf(first.body), keyIdOf(second.body)], ["a", "b"]);
    assert.deepEqual([await codec.decode(first.body, {}), await codec.decode(second.body, {})], [1, 2]);
    held.length = 0;
    for (const asking of [() => codec.encode(3), () => codec.decode(first.body, {})]) {
      await assert.rejects(
        async () => await asking(),
        (error: unknown) => isRetryable(error) && /keyring failed/.test(String(error)),
      );
    }
  });

  it("that knows no key has a body refused for good, and one that says to wait has it retried", async () => {
    const { body } = await sealed().encode(1);
    const none: Keyring = {
      current: () => {
        throw new RetryableError("later");
      },
      keyFor: () => undefined,
    };
    await assert.rejects(opened(body, encryptedCodec(jsonCodec(), none)), refusal(/"2026-01" is not on the keyring$/));
    await assert.rejects(async () => await encryptedCodec(jsonCodec(), none).encode(1), /^RetryableError: later$/);
    const wrong = { current: () => SECRET, keyFor: () => SECRET } as unknown as Keyring;
    await assert.rejects(
      opened(body, encryptedCodec(jsonCodec(), wrong)),
      withoutTelltales(/must be an EncryptionKey/),
    );
  });
});

describe("what is sealed", () => {
  it("is a whole body: neither a claim check nor a stream", () => {
    const claimed = { ...jsonCodec(), claimCheck: true } as unknown as Codec;
    for (const inner of [claimed, compositeCodec([jsonCodec(), claimed])]) {
      assert.throws(
        () => encryptedCodec(inner, keys),
        /Cannot seal a claim check: its store would hold what can be read/,
      );
    }
    assert.throws(() => encryptedCodec(streamCodec() as never, keys), /Cannot seal a stream/);
    assert.throws(() => encryptedCodec({} as never, keys), /Cannot use the codec/);
    assert.throws(() => encryptedCodec(jsonCodec(), {} as never), /must be a keyring such as .* found object$/);
  });

  it("is read as its own type, since that is not on the wire", async () => {
    const seen: unknown[] = [];
    const inner: Codec = {
      ...jsonCodec(),
      decode: (_body, { contentType, headers }) => void seen.push(contentType, headers),
    };
    const codec = encryptedCodec(inner, keys);
    const { body } = await codec.encode(1);
    await codec.decode(body, { contentType: "application/vnd.acemq.encrypted", headers: { tenant: "a" } });
    assert.deepEqual(seen, ["application/json", { tenant: "a" }]);
    const fickle: Codec = { ...jsonCodec(), encode: () => ({ body: SECRET, contentType: "text/csv" }) };
    await assert.rejects(async () => await encryptedCodec(fickle, keys).encode(1), EncodeError);
  });

  it("is in no word of a schema that refuses it [ENC-07]", async () => {
    const schema = z.object({ card: z.custom(() => false, "4929 is no card") }).strict();
    const written = await sealed().encode({ card: "4929", 4929: 1 });
    for (const codec of [sealed(), compositeCodec([sealed() as Codec<never>, jsonCodec()])] as readonly Codec[]) {
      const checked = validatedCodec(codec, schema);
      const context = { contentType: codec.contentType };
      for (
        const asking of [() => checked.decode(written.body, context), () => checked.encode({ card: "4929", 4929: 1 })]
      ) {
        await assert.rejects(
          async () => await asking(),
          withoutTelltales(/does not fit the schema: \d places? do(es)? not/),
        );
      }
    }
    await assert.rejects(
      async () => await validatedCodec(jsonCodec(), schema).encode({ card: "4929" }),
      /4929 is no card/,
    );
  });
});

function refusal(words: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof DecodeError && withoutTelltales(words)(error);
}

function withoutTelltales(words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.match(String(error), words);
    assertShowsNothing(error);
    return true;
  };
}

function assertShowsNothing(error: unknown): void {
  for (const text of [String(error), inspect(error, { depth: 9 }), JSON.stringify(error)]) {
    for (const telltale of TELLTALES) assert.ok(!text.includes(telltale), text);
  }
}
