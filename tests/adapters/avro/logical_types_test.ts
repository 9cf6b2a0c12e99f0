/** Logical types: raw unless a codec is told, and then nothing of them is lost (Avro 1.11, "Logical types"). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { avroCodec, type LogicalTypes, registeredAvroCodec, standardLogicalTypes } from "../../../adapters/avro/mod.ts";
import { memorySchemaRegistry } from "../../../adapters/memory/mod.ts";
import { DecodeError, EncodeError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import { bytesOfHex } from "../../support/fixtures.ts";

const logicalTypes = standardLogicalTypes();
const of = (type: string, logicalType: string, more: object = {}): object => ({ type, logicalType, ...more });
const fixed = (size: number, logicalType: string, more: object = {}): object => ({
  type: "fixed",
  name: "F",
  size,
  logicalType,
  ...more,
});
const DECIMAL = of("bytes", "decimal", { precision: 9, scale: 2 });

/** A schema, a value, its bytes, and the raw value underneath. */
const ROWS: readonly (readonly [schema: object, value: unknown, hex: string, raw: unknown])[] = [
  [of("long", "timestamp-millis"), new Date("2026-03-04T05:06:07.890Z"), "a4d6e9f39667", 1_772_600_767_890],
  [of("long", "timestamp-millis"), new Date(-1), "01", -1],
  [of("long", "timestamp-micros"), "2026-03-04T05:06:07.890123Z", "968bcaf1f88aa606", 1_772_600_767_890_123],
  [of("long", "timestamp-micros"), "1969-12-31T23:59:59.999999Z", "01", -1],
  [of("int", "date"), "2026-03-04", "c8c002", 20_516],
  [of("int", "date"), "1969-12-31", "01", -1],
  [of("int", "time-millis"), "05:06:07.890", "a496c211", 18_367_890],
  [of("long", "time-micros"), "05:06:07.890123", "968bfeec8801", 18_367_890_123],
  [DECIMAL, "12.34", "0404d2", bytesOfHex("04d2")],
  [DECIMAL, "-12.34", "04fb2e", bytesOfHex("fb2e")],
  [DECIMAL, "0.05", "0205", bytesOfHex("05")],
  [DECIMAL, "-0.01", "02ff", bytesOfHex("ff")],
  [DECIMAL, "1.28", "040080", bytesOfHex("0080")],
  [DECIMAL, "-1.28", "0280", bytesOfHex("80")],
  [DECIMAL, "0.00", "0200", bytesOfHex("00")],
  [
    of("bytes", "decimal", { precision: 30 }),
    "123456789012345678901234567890",
    "1a018ee90ff6c373e0ee4e3f0ad2",
    bytesOfHex(
      "018ee90ff6c373e0ee4e3f0ad2",
    ),
  ],
  [fixed(4, "decimal", { precision: 9, scale: 2 }), "-12.34", "fffffb2e", bytesOfHex("fffffb2e")],
  [
    of("string", "uuid"),
    "83f1f852-d3b0-4e5d-9a77-2f4c0f7a1b9d",
    `48${hexOf("83f1f852-d3b0-4e5d-9a77-2f4c0f7a1b9d")}`,
    "83f1f852-d3b0-4e5d-9a77-2f4c0f7a1b9d",
  ],
  [
    fixed(16, "uuid"),
    "83f1f852-d3b0-4e5d-9a77-2f4c0f7a1b9d",
    "83f1f852d3b04e5d9a772f4c0f7a1b9d",
    bytesOfHex(
      "83f1f852d3b04e5d9a772f4c0f7a1b9d",
    ),
  ],
];

function hexOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

describe("a logical type", () => {
  for (const [schema, value, hex, raw] of ROWS) {
    const { logicalType } = schema as { readonly logicalType: string };
    it(`${logicalType} is ${String(value)} where the codec is told, and raw where it is not`, async () => {
      const context = { contentType: "avro/binary" };
      const told: Codec = avroCodec(schema, { logicalTypes });
      assert.deepEqual((await told.encode(value)).body, bytesOfHex(hex));
      assert.deepEqual(await told.decode(bytesOfHex(hex), context), value);
      const plain = avroCodec(schema);
      assert.deepEqual((await plain.encode(raw)).body, bytesOfHex(hex));
      assert.deepEqual(await plain.decode(bytesOfHex(hex), context), raw);
    });
  }

  it("takes a Date for a timestamp in microseconds as well", async () => {
    const codec: Codec = avroCodec(of("long", "timestamp-micros"), { logicalTypes });
    const { body } = await codec.encode(new Date("2026-03-04T05:06:07.890Z"));
    assert.equal(await codec.decode(body, { contentType: "avro/binary" }), "2026-03-04T05:06:07.890000Z");
  });

  it("refuses to write what is none of its values, without showing it", async () => {
    const cases: readonly (readonly [object, readonly unknown[]])[] = [
      [of("long", "timestamp-millis"), [new Date(NaN), 4242, "2026-03-04", null]],
      [of("long", "timestamp-micros"), ["2026-03-04", "2026-03-04T05:06:07", "2026-03-04T05:06:07.1234567Z", 4242]],
      [of("int", "date"), ["2026-02-30", "2026-13-01", "4242", new Date(0), 1]],
      [of("int", "time-millis"), ["24:00:00", "00:60:00", "00:00:60", "00:00:00.1234", "4242"]],
      [of("long", "time-micros"), ["00:00:00.1234567", 1]],
      [DECIMAL, ["12.345", "4242e3", "12345678.00", 12.34, "1.", "", "--1", "0x1"]],
      [fixed(1, "decimal", { precision: 5 }), ["200", "-129"]],
      [of("string", "uuid"), ["4242", "", 7]],
    ];
    for (const [schema, values] of cases) {
      const codec: Codec = avroCodec(schema, { logicalTypes });
      for (const value of values) {
        assert.throws(() => codec.encode(value), (error: unknown) => {
          assert.ok(error instanceof EncodeError, `${JSON.stringify(schema)}: ${String(value)}`);
          assert.ok(!error.message.includes("4242"));
          return true;
        });
      }
    }
  });

  it("refuses to read what is none of its values", async () => {
    const cases: readonly (readonly [object, string])[] = [
      [of("long", "timestamp-millis"), "feffffffffffffffff01"],
      [of("long", "timestamp-micros"), "feffffffffffffffff01"],
      [of("int", "date"), "feffffff0f"],
      [of("int", "time-millis"), "01"],
      [of("long", "time-micros"), "80a0e2ce8f28"],
      [DECIMAL, "0a7fffffffff"],
      [of("string", "uuid"), "0278"],
    ];
    for (const [schema, hex] of cases) {
      const codec = avroCodec(schema, { logicalTypes });
      assert.throws(
        () => codec.decode(bytesOfHex(hex), { contentType: "avro/binary" }),
        DecodeError,
        JSON.stringify(schema),
      );
    }
  });

  it("is left alone where it makes no sense", async () => {
    const senseless = [
      of("string", "date"),
      of("string", "timestamp-millis"),
      of("string", "decimal", { precision: 4 }),
      of("string", "unheard-of"),
      { type: "string", logicalType: 7 },
    ];
    for (const schema of senseless) {
      const { body } = await avroCodec(schema, { logicalTypes }).encode("x");
      assert.deepEqual(body, bytesOfHex("0278"));
    }
    for (
      const more of [{}, { precision: 0 }, { precision: 2, scale: 3 }, { precision: "2" }, { precision: 2, scale: -1 }]
    ) {
      const { body } = await avroCodec(of("bytes", "decimal", more), { logicalTypes }).encode(Uint8Array.of(1));
      assert.deepEqual(body, bytesOfHex("0201"));
    }
    assert.deepEqual(
      (await avroCodec(fixed(2, "uuid"), { logicalTypes }).encode(Uint8Array.of(1, 2))).body,
      bytesOfHex("0102"),
    );
  });

  it("is converted wherever in a schema it stands, by converters of one's own as well [SR-06]", async () => {
    const asBigint: LogicalTypes = {
      "timestamp-micros": {
        read: (raw) => BigInt(raw as number),
        write: (value) => typeof value === "bigint" ? value : undefined,
      },
    };
    const micros = of("long", "timestamp-micros");
    const schema = {
      type: "record",
      name: "R",
      fields: [
        { name: "plain", type: micros },
        { name: "list", type: { type: "array", items: micros } },
        { name: "map", type: { type: "map", values: micros } },
        { name: "maybe", type: ["null", micros] },
      ],
    };
    const codec: Codec = avroCodec(schema, { logicalTypes: asBigint });
    const value = { plain: 1n, list: [2n, -3n], map: { k: 4n }, maybe: 5n };
    const { body } = await codec.encode(value);
    assert.deepEqual(body, bytesOfHex("020404050002026b0800020a"));
    assert.deepEqual(await codec.decode(body, { contentType: "avro/binary" }), value);
  });

  it("is the reader's where a schema is read as another, and its default is converted too [SR-08]", async () => {
    const registry = memorySchemaRegistry();
    const record = (...fields: object[]): object => ({ type: "record", name: "R", fields });
    const codec: Codec = registeredAvroCodec(registry, {
      subject: "s",
      schema: record({ name: "at", type: "long" }),
      readerSchema: record(
        { name: "at", type: of("long", "timestamp-millis") },
        { name: "since", type: of("long", "timestamp-millis"), default: 0 },
        { name: "big", type: "long", default: JSON.parse("9007199254740991") },
      ),
      logicalTypes,
    });
    const { body } = await codec.encode({ at: 1_772_600_767_890 });
    assert.deepEqual(await codec.decode(body, {}), {
      at: new Date("2026-03-04T05:06:07.890Z"),
      since: new Date(0),
      big: 9_007_199_254_740_991,
    });
  });

  it("says nothing of what a converter throws", async () => {
    const boom = (): never => {
      throw new Error("4242");
    };
    const codec = avroCodec(of("int", "date"), { logicalTypes: { date: { read: boom, write: boom } } });
    assert.throws(
      () => codec.encode(1),
      (error: unknown) => error instanceof EncodeError && !error.message.includes("4242"),
    );
    assert.throws(
      () => codec.decode(Uint8Array.of(2), { contentType: "avro/binary" }),
      (error: unknown) => error instanceof DecodeError && !error.message.includes("4242"),
    );
  });
});
