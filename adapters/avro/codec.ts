/**
 * Avro with one schema that both sides know (contract codecs 2.7): nothing stands in front of the body.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { FRAME_BYTES } from "../../src/schema/framing.ts";
import { FIXED_TYPE, framingOf, REGISTERED_TYPE } from "./content_type.ts";
import { bodyReader, bodyWriter, unreadable } from "./datum.ts";
import { type AvroSchema, checkedSchema } from "./definition.ts";
import type { LogicalTypes } from "./logical_type.ts";
import { assertLogicalTypes } from "./logical_type.ts";
import { Readers } from "./read.ts";

/** Options of {@linkcode avroCodec}. */
export interface AvroCodecOptions {
  /**
   * What logical types become, by name: `standardLogicalTypes()`, or converters of your own.
   *
   * @default {{}: raw, as in the other AceMQ languages}
   */
  readonly logicalTypes?: LogicalTypes;
}

const KINDS: Readonly<OptionKinds<AvroCodecOptions>> = { logicalTypes: "checked" };

/**
 * Avro as `avro/binary`, of a schema that publishers and consumers share for ever: nothing in the body says which it is, and a body
 * of another schema may read as nonsense without an error. Where schemas change, use {@linkcode registeredAvroCodec}.
 *
 * Integers are a `number` where that is exact and a `bigint` beyond 2^53, both ways. Bytes are a `Uint8Array`. A value of a union is
 * written plainly where it fits one branch alone, and as `{ "branch.name": value }` where it fits several; it is always read plainly.
 * Refused: members that the schema has no field for, fields without a value or default, numbers out of range.
 *
 * Reads `avro/…`, `application/avro`, `application/x-avro…` and anything `+avro`. Under a content type that says nothing of Avro, a
 * body that begins as a registered one does is refused.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { avroCodec } from "@acemq/amqp/avro";
 *
 * interface Order {
 *   readonly id: string;
 *   readonly cents: number | bigint;
 * }
 *
 * const codec = avroCodec<Order>({
 *   type: "record",
 *   name: "Order",
 *   fields: [{ name: "id", type: "string" }, { name: "cents", type: "long" }],
 * });
 * const { body } = await codec.encode({ id: "o-1", cents: 4250 });
 * assert.deepEqual(body, Uint8Array.of(0x06, 0x6f, 0x2d, 0x31, 0xb4, 0x42));
 * assert.deepEqual(await codec.decode(body, { contentType: "avro/binary" }), { id: "o-1", cents: 4250 });
 * ```
 *
 * @throws {TypeError} what is no Avro schema; an option that there is not: a body of one schema has nothing to resolve
 */
export function avroCodec<T = unknown>(schema: AvroSchema, options: AvroCodecOptions = {}): Codec<T> {
  assertOptions("an Avro codec of one schema", options, KINDS);
  const { logicalTypes = {} } = options;
  assertLogicalTypes(logicalTypes);
  const { type } = checkedSchema(schema, "the Avro schema");
  const write = bodyWriter(type, logicalTypes, 0);
  const read = bodyReader(new Readers(logicalTypes).of(type));
  return {
    contentType: FIXED_TYPE,
    guessable: false,
    canDecode: (contentType) => ["fixed", "either"].includes(framingOf(contentType)),
    encode: (payload) => ({ body: write(payload) }),
    decode: (body, { contentType }) => {
      assertUnframed(body, contentType);
      try {
        // The cast is the codec's boundary: what the schema says of T is the caller's to know.
        return read(body) as T;
      } catch (error) {
        throw unreadable(error, "Avro");
      }
    },
  };
}

/** A legitimate body may begin with 00, so the content type is asked first, and the bytes only where it says nothing. */
function assertUnframed(body: Uint8Array, contentType: string | undefined): void {
  const framing = framingOf(contentType);
  if (framing === "registered") {
    throw new DecodeError(
      `Cannot read the body as Avro: ${REGISTERED_TYPE} is the type of registered schemas, and this codec has one of its own`,
    );
  }
  if (framing !== "unknown" || body.byteLength < FRAME_BYTES || body[0] !== 0) return;
  throw new DecodeError(
    `Cannot read the body as Avro: it begins as one of a registered schema does, and no content type says ${FIXED_TYPE}`,
  );
}
