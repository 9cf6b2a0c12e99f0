/** Protobuf against whatever a payload or a body may be: faithful, or a typed error. */
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { protobufCodec } from "../../adapters/protobuf/mod.ts";
import { DecodeError, EncodeError } from "../../src/errors.ts";
import { bytesOfHex, fixtureCases } from "../support/fixtures.ts";
import { fieldsOf, messageTypeOf } from "../support/protobuf_types.ts";

const recorded = fixtureCases("codecs", "java").find(({ name }) => name === "protobuf/basket");
const Basket = messageTypeOf(bytesOfHex(String(recorded?.["descriptor_set_hex"])), "shop.Basket");
const codec = protobufCodec(Basket);

const text = (): fc.Arbitrary<string> => fc.string({ unit: "binary" }).filter((one) => one.isWellFormed());
const int32 = (): fc.Arbitrary<number> => fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

/** What a basket can hold. */
const baskets = fc.record({
  ref: text(),
  qty: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  gift: fc.boolean(),
  weight: fc.double(),
  seal: fc.uint8Array(),
  tags: fc.array(text()),
  attrs: fc.dictionary(text(), int32()),
  state: int32(),
  box: fc.record({ sku: text(), inner: fc.array(fc.record({ sku: text() })) }, { requiredKeys: [] }),
  deltas: fc.array(int32()),
  serial: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  crc: fc.nat({ max: 2 ** 32 - 1 }),
  contact: fc.oneof(
    fc.record({ case: fc.constant("mail"), value: text() }),
    fc.record({ case: fc.constant("phone"), value: int32() }),
  ),
  ratio: fc.float(),
  stamp: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  limit: int32(),
}, { requiredKeys: [] });

async function readOrRefused(body: Uint8Array): Promise<unknown> {
  try {
    return await codec.decode(body, {});
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    return undefined;
  }
}

describe("protobuf", () => {
  it("reads back whatever a message can hold", async () => {
    await fc.assert(fc.asyncProperty(baskets, async (basket) => {
      const { body } = await codec.encode(basket as never);
      const read = await codec.decode(body, {});
      assert.deepEqual(fieldsOf(Basket, read), fieldsOf(Basket, create(Basket, basket as never)));
    }));
  });

  it("writes what it can read back, or refuses: never something else", async () => {
    const anything = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true }),
      fc.record({ ref: fc.anything(), qty: fc.anything(), gift: fc.anything(), tags: fc.anything() }, {
        requiredKeys: [],
      }),
    );
    await fc.assert(fc.asyncProperty(anything, async (payload) => {
      let body: Uint8Array;
      try {
        ({ body } = await codec.encode(payload as never));
      } catch (error) {
        assert.ok(error instanceof EncodeError, String(error));
        return;
      }
      const read = fieldsOf(Basket, await codec.decode(body, {}));
      for (const [name, value] of Object.entries(payload as Record<string, unknown>)) {
        const isDefault = value === undefined || value === "" || value === false ||
          (Array.isArray(value) && value.length === 0) ||
          Number(value) === 0;
        if (!isDefault) assert.ok(name in read, `${name} is lost`);
      }
    }));
  });

  it("reads arbitrary bytes as some message, or refuses them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (body) => void await readOrRefused(body)),
    );
  });

  it("reads a message with any of its bytes changed, or refuses it", async () => {
    const changed = fc.tuple(baskets, fc.nat(), fc.nat({ max: 255 }), fc.nat());
    await fc.assert(fc.asyncProperty(changed, async ([basket, at, byte, end]) => {
      const { body } = await codec.encode(basket as never);
      if (body.byteLength === 0) return;
      body[at % body.byteLength] = byte;
      await readOrRefused(body);
      await readOrRefused(body.subarray(0, end % body.byteLength));
    }));
  });
});
