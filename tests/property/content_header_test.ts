/** Every message crosses the wire: envelope → headers → AMQP bytes → headers → envelope. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ByteReader } from "../../adapters/amqp/wire/byte_reader.ts";
import { ByteWriter } from "../../adapters/amqp/wire/byte_writer.ts";
import { type ContentHeader, readContentHeader, writeContentHeader } from "../../adapters/amqp/wire/content_header.ts";
import { TextCache } from "../../adapters/amqp/wire/text_cache.ts";
import { type Envelope, newEnvelope } from "../../src/message/envelope.ts";
import { readableHeaders, writableHeaders } from "../../src/message/header_value.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import { parseEnvelope } from "../../src/message/parse_envelope.ts";
import { renderHeaders } from "../../src/message/render_envelope.ts";
import { contentHeaderSize } from "../../src/message/wire_size.ts";
import { WireDouble, type WireTable, type WireValue } from "../../src/message/wire_value.ts";
import { outgoingHeaders, text, wireTable } from "../support/arbitraries.ts";
import { stoppedSources } from "../support/sources.ts";

const MESSAGE_ID = "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3";

function outbound(headers: WireTable): Outbound {
  return {
    exchange: "shop",
    routingKey: "order.placed",
    body: new Uint8Array(),
    contentType: "application/json",
    messageId: MESSAGE_ID,
    headers,
    persistent: true,
    mandatory: true,
  };
}

/** The bytes of a content header. */
function written(message: Outbound): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(64);
  writeContentHeader(writer, message, MESSAGE_ID);
  const { buffer, length } = writer.swap(Buffer.alloc(0));
  return Uint8Array.from(buffer.subarray(0, length));
}

function read(bytes: Uint8Array<ArrayBuffer>): ContentHeader {
  const reader = new ByteReader(new TextCache());
  reader.point(bytes.buffer, 0, bytes.byteLength);
  return readContentHeader(reader);
}

/** NaN and the infinities can be read but never written: the broker closes the connection over them. */
function isWritable(value: WireValue): boolean {
  if (value instanceof WireDouble) return Number.isFinite(value.value);
  if (Array.isArray(value)) return value.every(isWritable);
  return typeof value !== "object" || value === null || value instanceof Uint8Array || value instanceof Date ||
    Object.values(value).every(isWritable);
}

const present = text.filter((value) => value !== "");

const envelope: fc.Arbitrary<Envelope> = fc.record({
  id: present,
  type: present,
  version: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  correlationId: present,
  causationId: text,
  origin: text,
  claim: text,
}).chain((fields) => fc.integer({ min: 1 }).map((attempt) => ({ ...newEnvelope(fields, stoppedSources()), attempt })));

describe("every message", () => {
  it("arrives with its envelope and with every header of every kind", () => {
    const application = wireTable.filter((table) =>
      isWritable(table) && Object.keys(table).every((name) => !name.startsWith("x-acemq-"))
    );
    fc.assert(
      fc.property(envelope, application, (sent, headers) => {
        const { properties, headers: arrived } = read(written(outbound(renderHeaders(sent, headers))));
        assert.deepEqual(parseEnvelope({ headers: arrived, properties, routingKey: "" }, stoppedSources()), sent);
        for (const [name, value] of Object.entries(headers)) {
          assert.deepEqual(Object.getOwnPropertyDescriptor(arrived, name)?.value, value);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("takes as many bytes as were counted before", () => {
    fc.assert(fc.property(wireTable.filter(isWritable), (headers) => {
      assert.equal(contentHeaderSize(outbound(headers)), written(outbound(headers)).byteLength);
    }));
  });
});

describe("every header an application may send", () => {
  it("is read at the other end as it was, instants in whole seconds", () => {
    fc.assert(fc.property(outgoingHeaders, (headers) => {
      const result = writableHeaders(headers);
      if ("problem" in result) assert.fail(result.problem);
      const arrived = readableHeaders(read(written(outbound(result.table))).headers);
      assert.deepEqual(asComparable(arrived), asComparable(headers));
    }));
  });
});

/** Integers as bigints and instants in whole seconds, which is all the wire tells apart. */
function asComparable(value: unknown): unknown {
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
  if (value instanceof Date) return Math.floor(value.getTime() / 1_000);
  if (Array.isArray(value)) return value.map(asComparable);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asComparable(member)]));
}
