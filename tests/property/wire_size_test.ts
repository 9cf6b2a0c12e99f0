/** The size of every content header is the length of what another client's encoder writes. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Outbound } from "../../src/message/outbound.ts";
import { contentHeaderSize } from "../../src/message/wire_size.ts";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../src/message/wire_value.ts";
import { text, wireTable } from "../support/arbitraries.ts";

/** The part of amqplib that writes a content header frame; it exports none of it by name. */
interface Encoder {
  encodeProperties(classAndWeight: number, channel: number, bodySize: number, fields: object): Uint8Array;
}

const amqplib = createRequire(import.meta.url)("../../node_modules/amqplib/lib/defs.js") as Encoder;

const BASIC_PROPERTIES = 60;

/** Frame type, channel, size and end. */
const FRAME_BYTES = 8;

function encodedLength(outbound: Outbound): number {
  const { contentType, messageId, replyTo, priority, expirationMs } = outbound;
  return amqplib.encodeProperties(BASIC_PROPERTIES, 1, outbound.body.byteLength, {
    contentType: contentType || undefined,
    headers: foreignTable(outbound.headers),
    deliveryMode: outbound.persistent ? 2 : 1,
    priority,
    replyTo: replyTo || undefined,
    expiration: expirationMs === undefined ? undefined : String(expirationMs),
    messageId: messageId || undefined,
  }).byteLength - FRAME_BYTES;
}

/** A table as amqplib takes it: whole numbers of 32 bits as `I`, others as `l`, fractions as `d`. */
function foreignTable(table: WireTable): object {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, foreign(value)]));
}

function foreign(value: WireValue): unknown {
  if (typeof value === "number") return foreignNumber(value);
  if (typeof value === "bigint") return { "!": "int64", value };
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (value instanceof WireDouble) return { "!": "double", value: value.value };
  if (value instanceof WireDecimal) {
    return { "!": "decimal", value: { places: value.scale, digits: value.unscaled >>> 0 } };
  }
  if (value instanceof Date) return { "!": "timestamp", value: BigInt.asUintN(64, BigInt(value.getTime() / 1_000)) };
  if (value instanceof WireTimestamp) return { "!": "timestamp", value: BigInt.asUintN(64, value.seconds) };
  if (Array.isArray(value)) return value.map(foreign);
  return typeof value === "object" && value !== null ? foreignTable(value as WireTable) : value;
}

function foreignNumber(value: number): unknown {
  if (!Number.isInteger(value)) return { "!": "double", value };
  return value >= -(2 ** 31) && value < 2 ** 31 ? { "!": "int32", value } : { "!": "int64", value };
}

/** amqplib knows no unsigned 64-bit integer, writes text as UTF-8 only, and takes a member `!` for a kind. */
function isKnownToAmqplib(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (value instanceof WireUnsigned || value instanceof WireText || Object.hasOwn(value, "!")) return false;
  return value instanceof Uint8Array || Object.values(value).every(isKnownToAmqplib);
}

const shortText = text.filter((value) => Buffer.byteLength(value) < 256);
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

const outbound: fc.Arbitrary<Outbound> = fc.record({
  exchange: shortText,
  routingKey: shortText,
  body: fc.uint8Array(),
  contentType: optional(shortText),
  messageId: optional(shortText),
  headers: wireTable.filter(isKnownToAmqplib),
  persistent: fc.boolean(),
  mandatory: fc.boolean(),
  replyTo: optional(shortText),
  priority: optional(fc.nat(255)),
  expirationMs: optional(fc.nat()),
});

describe("the size of a content header", () => {
  it("is what amqplib writes, for every message", () => {
    fc.assert(
      fc.property(outbound, (message) => {
        assert.equal(contentHeaderSize(message), encodedLength(message));
      }),
      { numRuns: 1_000 },
    );
  });
});
