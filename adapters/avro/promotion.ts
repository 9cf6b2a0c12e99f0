/**
 * What of the primitive types is read as another one (Avro 1.11, "Schema resolution").
 *
 * @module
 */

import { strictUtf8 } from "../../src/internal/bytes.ts";
import type { ByteReader } from "./byte_reader.ts";
import { Fault } from "./fault.ts";
import { PRIMITIVES, type Read } from "./read.ts";
import type { AvroType, PrimitiveKind } from "./schema.ts";

const PROMOTIONS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  int: { long: (from) => from.int(), float: (from) => Math.fround(from.int()), double: (from) => from.int() },
  long: { float: (from) => Math.fround(Number(from.long())), double: (from) => Number(from.long()) },
  float: { double: (from) => from.float() },
  string: { bytes: (from) => new TextEncoder().encode(from.text()) },
  bytes: { string: readBytesAsText },
};

/** What reads one kind as another; undefined when that cannot be. */
export function promotion(writer: AvroType["kind"], reader: AvroType["kind"]): Read | undefined {
  if (writer === reader) return PRIMITIVES[writer as PrimitiveKind];
  return PROMOTIONS[writer]?.[reader];
}

function readBytesAsText(from: ByteReader): string {
  const text = strictUtf8(from.byteString());
  if (text === undefined) throw new Fault("bytes that are to be read as a text are not UTF-8");
  return text;
}
