/**
 * Bytes to header tables, keeping the kind of every value so that it can leave again as it came (`src/message/wire_value.ts`).
 *
 * @module
 */

import {
  setEntry,
  WireDecimal,
  WireDouble,
  WireNested,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";
import type { ByteReader } from "./byte_reader.ts";
import * as kind from "./kinds.ts";
import { MalformedFrame } from "./malformed.ts";

/** The seconds a `Date` reaches in both directions. */
const LARGEST_DATE_SECONDS = 8_640_000_000_000n;

/**
 * What nests deeper than this is kept as it came: taking it apart would end in a stack overflow, and refusing the frame would lose
 * the link to a message that comes again on the next one.
 */
const DEEPEST = 64;

/** Reads a table with its length prefix; of a name that stands twice, the last value counts. */
export function readTable(reader: ByteReader, depth = 0): WireTable {
  const end = readEnd(reader);
  const table: Record<string, WireValue> = {};
  while (reader.position < end) setEntry(table, reader.shortText(), readValue(reader, depth));
  assertAt(reader, end);
  return table;
}

function readArray(reader: ByteReader, depth: number): WireValue[] {
  const end = readEnd(reader);
  const items: WireValue[] = [];
  while (reader.position < end) items.push(readValue(reader, depth));
  assertAt(reader, end);
  return items;
}

function readNested(reader: ByteReader, kind: "table" | "array"): WireNested {
  const end = readEnd(reader);
  return new WireNested(kind, reader.copy(end - reader.position));
}

function readEnd(reader: ByteReader): number {
  const length = reader.uint32();
  if (length > reader.remaining) throw new MalformedFrame("holds a table longer than itself");
  return reader.position + length;
}

function assertAt(reader: ByteReader, end: number): void {
  if (reader.position !== end) throw new MalformedFrame("holds a table whose length is wrong");
}

function readValue(reader: ByteReader, depth: number): WireValue {
  const byte = reader.uint8();
  switch (byte) {
    case kind.LONG_TEXT:
      return readText(reader);
    case kind.INT32:
      return reader.int32();
    case kind.INT64:
      return asInteger(reader.int64());
    case kind.BOOLEAN:
      return reader.uint8() !== 0;
    case kind.TABLE:
      return depth < DEEPEST ? readTable(reader, depth + 1) : readNested(reader, "table");
    case kind.ARRAY:
      return depth < DEEPEST ? readArray(reader, depth + 1) : readNested(reader, "array");
    case kind.BYTES:
      return reader.copy(reader.uint32());
    case kind.TIMESTAMP:
      return readTimestamp(reader);
    case kind.VOID:
      return null;
    case kind.DECIMAL:
      return new WireDecimal(reader.uint8(), reader.int32());
    default:
      return readNumber(reader, byte);
  }
}

function readNumber(reader: ByteReader, byte: number): WireValue {
  switch (byte) {
    case kind.INT8:
      return reader.int8();
    case kind.UINT8:
      return reader.uint8();
    case kind.INT16:
      return reader.int16();
    case kind.UINT16:
      return reader.uint16();
    case kind.UINT32:
      return reader.uint32();
    case kind.UINT64:
      return readUnsigned(reader);
    case kind.FLOAT32:
      return new WireDouble(reader.float32());
    case kind.FLOAT64:
      return new WireDouble(reader.float64());
    default:
      throw new MalformedFrame(`holds a value of the unknown kind ${byte}`);
  }
}

function readText(reader: ByteReader): string | WireText {
  const length = reader.uint32();
  return reader.longText(length) ?? new WireText(reader.copy(length));
}

function readUnsigned(reader: ByteReader): number | bigint | WireUnsigned {
  const value = reader.uint64();
  return value >= 2n ** 63n ? new WireUnsigned(value) : asInteger(value);
}

/** Its 64 bits are read as signed: Java writes a date before 1970 so. */
function readTimestamp(reader: ByteReader): Date | WireTimestamp {
  const seconds = reader.int64();
  const fitsDate = seconds >= -LARGEST_DATE_SECONDS && seconds <= LARGEST_DATE_SECONDS;
  return fitsDate ? new Date(Number(seconds) * 1_000) : new WireTimestamp(seconds);
}

function asInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
