/** Protobuf messages (contract codecs 2.8). */
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  BytesValueSchema,
  type FieldDescriptorProto_Label,
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import protobufjs from "protobufjs";
import { protobufCodec } from "../../../adapters/protobuf/mod.ts";
import { DecodeError, EncodeError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import { codecContract } from "../../contract/codec.ts";
import { bytesOfHex, fixtureCases } from "../../support/fixtures.ts";
import { fieldsOf, messageTypeOf } from "../../support/protobuf_types.ts";

/** `shop.Basket`: a field of nearly every kind; the text of the type stands in the recording. */
const recorded = fixtureCases("codecs", "java").find(({ name }) => name === "protobuf/basket");
const Basket = messageTypeOf(bytesOfHex(String(recorded?.["descriptor_set_hex"])), "shop.Basket");
const Box = messageTypeOf(bytesOfHex(String(recorded?.["descriptor_set_hex"])), "shop.Box");

const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function loosely(codec: Codec<never, unknown>): Codec {
  return codec as Codec;
}

codecContract("protobuf", () =>
  Promise.resolve({
    codec: loosely(protobufCodec(TimestampSchema)),
    holds: [
      create(TimestampSchema, { seconds: 1_772_600_767n, nanos: 5 }),
      create(TimestampSchema, { seconds: -(2n ** 63n) }),
    ].map((payload) => ({ payload })),
    refuses: [undefined, null, 4242, "4242", ["4242"], new Map([["seconds", 4242]]), { seconds: "4242x" }, {
      card: "4242",
    }],
    unreadable: [bytesOfHex("0880"), bytesOfHex("00"), bytesOfHex("0a05343234")],
    reads: [
      "application/x-protobuf",
      "application/protobuf",
      "application/vnd.google.protobuf",
      "application/a+protobuf",
    ],
    leaves: ["application/octet-stream", "application/json", undefined],
  }));

describe("a protobuf codec", () => {
  const codec = protobufCodec(Basket);

  it("writes the bytes of the contract's example, and reads them [COD-13]", async () => {
    const { body } = await codec.encode({ ref: "b-7", qty: -3n, gift: true });
    assert.equal(hexOf(body), "0a03622d3710fdffffffffffffffff011801");
    assert.equal(codec.contentType, "application/x-protobuf");
    assert.deepEqual(fieldsOf(Basket, await codec.decode(body, {})), { ref: "b-7", qty: -3, gift: true });
  });

  it("reads no bytes at all as the message of defaults", async () => {
    assert.deepEqual(fieldsOf(Basket, await codec.decode(new Uint8Array(), {})), {});
    assert.equal((await codec.encode({})).body.byteLength, 0);
  });

  it("takes a message that was made, and what one is made of, for the same", async () => {
    const init = { ref: "b-7", box: { sku: "x", inner: [{ sku: "y" }] }, attrs: { a: 1 }, tags: ["t"] };
    const made = await codec.encode(create(Basket, init));
    assert.deepEqual((await codec.encode(init)).body, made.body);
  });

  it("keeps integers of 64 bits exact, both ways [COD-06, SR-12]", async () => {
    for (const qty of [76_561_197_988_007_571n, 9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      const read = await codec.decode((await codec.encode({ qty, serial: 2n ** 64n - 1n })).body, {});
      assert.deepEqual(read, create(Basket, { qty, serial: 2n ** 64n - 1n }));
    }
    const asText = await codec.encode({ qty: "76561197988007571", serial: 17 });
    assert.deepEqual(fieldsOf(Basket, await codec.decode(asText.body, {})), {
      qty: 76_561_197_988_007_571n,
      serial: 17,
    });
  });

  it("keeps fields the type does not know, and writes them again", async () => {
    const wider = bytesOfHex("0a03622d37" + "fa0704ffffffff");
    const { body } = await codec.encode(await codec.decode(wider, {}));
    assert.deepEqual(body, wider);
  });

  it("says in its context which type it is for: nothing is guessed", () => {
    assert.equal(codec.guessable, false);
    assert.equal(codec.canDecode(undefined), false);
  });

  const misfits: Readonly<Record<string, readonly [payload: unknown, says: RegExp]>> = {
    "a number where text is": [
      { ref: 17 },
      /shop\.Basket\.ref must be text without half a surrogate pair, found a number/,
    ],
    "half a surrogate pair": [{ ref: "\ud800" }, /shop\.Basket\.ref must be text without half a surrogate pair/],
    "text where a number is": [{ crc: "17" }, /shop\.Basket\.crc must be an unsigned 32-bit integer, found string/],
    "text where true or false is": [{ gift: "no" }, /shop\.Basket\.gift must be true or false, found string/],
    "text where bytes are": [{ seal: "abc" }, /shop\.Basket\.seal must be a Uint8Array, found string/],
    "a fraction": [
      { deltas: [1, 1.5] },
      /shop\.Basket\.deltas must be a 32-bit integer, found another number in item 1/,
    ],
    "a number beyond 32 bits": [{ deltas: [2 ** 31] }, /a number out of range in item 0/],
    "a number beyond 64 bits": [
      { qty: 2n ** 63n },
      /shop\.Basket\.qty must be a 64-bit integer, found a number out of range/,
    ],
    "an integer that is not exact": [{ qty: 2 ** 53 }, /shop\.Basket\.qty must be a 64-bit integer/],
    "a negative number without a sign": [{ serial: -1n }, /shop\.Basket\.serial must be an unsigned 64-bit integer/],
    "a number beyond a float": [{ ratio: 3.5e38 }, /shop\.Basket\.ratio must be a number of 32 bits/],
    "null": [{ ref: null }, /shop\.Basket\.ref must be .*, found null/],
    "text where a list is": [{ tags: "red" }, /shop\.Basket\.tags must be a list, found string/],
    "a list where a map is": [{ attrs: [1] }, /shop\.Basket\.attrs must be a plain object, found an array/],
    "a Map": [{ attrs: new Map([["a", 1]]) }, /shop\.Basket\.attrs must be a plain object, found object/],
    "a map's value of another type": [{ attrs: { a: 1, b: "x" } }, /shop\.Basket\.attrs must be .* in entry 1/],
    "a name where an enum's number is": [{ state: "SENT" }, /shop\.Basket\.state must be a number of shop\.State/],
    "text where a message is": [{ box: "x" }, /shop\.Box must be a message or a plain object, found string/],
    "a member that there is not": [{ ref: "b-7", totl: 3 }, /shop\.Basket has no member like the one found at 1/],
    "one that there is not, further in": [{ box: { inner: [{ skew: 1 }] } }, /shop\.Box has no member .* in item 0/],
    "a oneof's field by itself": [{ mail: "a@b" }, /shop\.Basket has no member like the one found at 0/],
    "a case that there is not": [
      { contact: { case: "fax", value: 1 } },
      /must be one of mail, phone, found another case/,
    ],
    "a case of another type": [{ contact: { case: "mail", value: 3 } }, /shop\.Basket\.mail must be text/],
    "another type's message": [
      create(Box, { sku: "x" }),
      /must be of type shop\.Basket, found a message of another type/,
    ],
    "another type's message further in": [{ box: create(Basket, {}) }, /must be of type shop\.Box/],
    "a Date": [new Date(0), /shop\.Basket must be a message or a plain object, found object/],
    "a list": [[], /shop\.Basket must be a message or a plain object, found an array/],
  };
  for (const [what, [payload, says]] of Object.entries(misfits)) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(async () => await codec.encode(payload as never), (error: unknown) => {
        assert.ok(error instanceof EncodeError);
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /b-7|SENT|red|a@b|skew|totl/);
        return true;
      });
    });
  }

  it("leaves out what is undefined, and a oneof without a case", async () => {
    const { body } = await codec.encode({ ref: undefined, contact: { case: undefined }, qty: 1n } as never);
    assert.equal(hexOf(body), "1001");
  });

  it("takes any number for an open enum, as other languages write it", async () => {
    const { body } = await codec.encode({ state: 99 } as never);
    assert.deepEqual(fieldsOf(Basket, await codec.decode(body, {})), { state: 99 });
  });

  it("writes and reads a hundred levels, and no more, a ring among them", async () => {
    const nested = (levels: number): object => levels === 1 ? { sku: "x" } : { inner: [nested(levels - 1)] };
    const boxes = protobufCodec(Box);
    const { body } = await boxes.encode(nested(100) as never);
    assert.deepEqual(await boxes.decode(body, {}), create(Box, nested(100) as never));
    await assert.rejects(async () => await boxes.encode(nested(101) as never), /nested deeper than 100 messages/);
    const ring: { inner: object[] } = { inner: [] };
    ring.inner.push(ring);
    await assert.rejects(async () => await boxes.encode(ring as never), EncodeError);
    const deeper = toBinary(Box, create(Box, nested(101) as never));
    await assert.rejects(async () => await boxes.decode(deeper, {}), DecodeError);
    const shallow = protobufCodec(Box, { maxDepth: 2 });
    await assert.rejects(async () => await shallow.encode(nested(3) as never), /nested deeper than 2 messages/);
    await assert.rejects(async () => await shallow.decode(body, {}), DecodeError);
  });

  const broken = {
    "a field cut short": "0a05622d37",
    "a field of number 0": "0003",
    "text that is not UTF-8": "0a02c328",
    "an integer that never ends": "10ffffffffffffffffffffff01",
    "a group that nobody opened": "0c",
    "a wire type that there is not": "0f",
  };
  for (const [what, hex] of Object.entries(broken)) {
    it(`refuses ${what}, and does not repeat it`, async () => {
      await assert.rejects(async () => await codec.decode(bytesOfHex(hex), {}), (error: unknown) => {
        assert.ok(error instanceof DecodeError);
        assert.equal(error.message, "Cannot read the body as protobuf: it is no message of type shop.Basket");
        return true;
      });
    });
  }

  it("refuses a body larger than it may be, unread", async () => {
    const small = protobufCodec(Basket, { maxBodyBytes: 4 });
    await assert.rejects(async () => await small.decode(bytesOfHex("0a03622d37"), {}), /at most 4 bytes, found 5$/);
  });

  it("is refused for what is no type, and with options there are not", () => {
    for (const type of [undefined, null, "shop.Basket", {}, { kind: "enum", typeName: "x" }, { encode: () => {} }]) {
      assert.throws(() => protobufCodec(type as never), {
        name: "TypeError",
        message: /^Cannot make a protobuf codec: it must be given a message type/,
      });
    }
    assert.throws(() => protobufCodec(Basket, { depth: 3 } as never), TypeError);
    for (const maxDepth of [0, 101, 1.5]) assert.throws(() => protobufCodec(Basket, { maxDepth }), RangeError);
  });
});

describe("the types every program has", () => {
  it("a Struct is the JSON object it stands for, within another message as well", async () => {
    const type = holderOf(".google.protobuf.Struct");
    const codec = protobufCodec(type);
    const held = { a: [1, null, { b: "c" }], __proto__x: true };
    const { body } = await codec.encode({ held });
    assert.deepEqual((await codec.decode(body, {}) as { held?: unknown }).held, held);
    for (const bad of [[1], "x", { a: NaN }, { a: undefined }, { a: 1n }, { a: new Date() }, { a: "\udc00" }]) {
      await assert.rejects(async () => await codec.encode({ held: bad }), /test\.Holder\.held must /);
    }
    const whole = protobufCodec(StructSchema);
    const struct = create(StructSchema, {
      fields: { a: create(ValueSchema, { kind: { case: "numberValue", value: 1 } }) },
    });
    assert.deepEqual(await whole.decode((await whole.encode(struct)).body, {}), struct);
  });

  it("a wrapper is the value it wraps, and of that one's type", async () => {
    const codec = protobufCodec(holderOf(".google.protobuf.BytesValue"));
    const value = new Uint8Array([1, 2]);
    const { body } = await codec.encode({ held: value });
    assert.equal(hexOf(body), "0a040a020102");
    assert.deepEqual((await codec.decode(body, {}) as { held?: unknown }).held, value);
    await assert.rejects(async () => await codec.encode({ held: "x" }), /must be a Uint8Array, found string/);
    const boxed = create(BytesValueSchema, { value });
    await assert.rejects(async () => await codec.encode({ held: boxed }), /must be a Uint8Array, found object/);
  });
});

describe("a codec of another generator's code", () => {
  const { root } = protobufjs.parse('syntax = "proto3"; message Basket { string ref = 1; int64 qty = 2; }');
  const Generated = root.lookupType("Basket");

  it("writes what its functions write, and reads what they read", async () => {
    const codec = protobufCodec({
      encode: (basket: { ref: string; qty: number }) => Generated.encode(basket),
      decode: (bytes) => Generated.toObject(Generated.decode(bytes)),
    });
    const { body } = await codec.encode({ ref: "b-7", qty: -3 });
    assert.equal(hexOf(body), "0a03622d3710fdffffffffffffffff01");
    assert.equal((await codec.decode(body, {}))["ref"], "b-7");
    assert.deepEqual([codec.contentType, codec.guessable], ["application/x-protobuf", false]);
  });

  it("gives its failures as its own, without their words", async () => {
    const failing = (): never => {
      throw new RangeError("secret 4242");
    };
    const codec = protobufCodec({ encode: failing, decode: failing });
    await assert.rejects(async () => await codec.encode(undefined as never), {
      name: "EncodeError",
      message: "Cannot write the payload as protobuf: its encoder failed with RangeError",
    });
    await assert.rejects(async () => await codec.decode(new Uint8Array(), {}), {
      name: "DecodeError",
      message: "Cannot read the body as protobuf: its decoder failed with RangeError",
    });
    for (const made of ["text", undefined, { finish: () => "text" }, { finish: failing }]) {
      const wrong = protobufCodec({ encode: () => made as never, decode: () => 1 });
      await assert.rejects(async () => await wrong.encode(1 as never), EncodeError);
    }
  });

  it("keeps no part of the generator's pool", async () => {
    const pool = new Uint8Array(64);
    const codec = protobufCodec({ encode: () => pool.subarray(2, 4), decode: () => 1 });
    const { body } = await codec.encode(1 as never);
    pool.fill(9);
    assert.deepEqual([...body], [0, 0]);
  });
});

/** A message with one field of a type that every program has. */
function holderOf(typeName: string): ReturnType<typeof messageTypeOf> {
  const optional = 1 as FieldDescriptorProto_Label;
  const field: MessageInitShape<typeof FieldDescriptorProtoSchema> = {
    name: "held",
    number: 1,
    label: optional,
    type: 11,
    typeName,
    jsonName: "held",
  };
  const holder = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    dependency: ["google/protobuf/struct.proto", "google/protobuf/wrappers.proto"],
    messageType: [{ name: "Holder", field: [field] }],
  });
  const known = [StructSchema, BytesValueSchema].map(({ file }) => file.proto);
  const set = create(FileDescriptorSetSchema, { file: [...known, holder] });
  assert.ok(fromBinary(FileDescriptorSetSchema, toBinary(FileDescriptorSetSchema, set)).file.length === 3);
  return messageTypeOf(toBinary(FileDescriptorSetSchema, set), "test.Holder");
}
