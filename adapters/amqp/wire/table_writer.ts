/**
 * Header tables to bytes, each value as the kind `src/message/wire_value.ts` says.
 *
 * @module
 */

import {
  WireDecimal,
  WireDouble,
  WireNested,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";
import type { ByteWriter } from "./byte_writer.ts";
import * as kind from "./kinds.ts";
import { Unwritable } from "./unwritable.ts";

const LEAST_INT64 = -(2n ** 63n);
const LARGEST_INT64 = 2n ** 63n - 1n;
const LARGEST_UINT64 = 2n ** 64n - 1n;

/** Writes a table; a value no AMQP kind holds throws {@linkcode Unwritable} with the name it stands under. */
export function writeTable(writer: ByteWriter, table: WireTable): void {
  const start = writer.beginLength();
  for (const name of Object.keys(table)) {
    try {
      writer.shortText(name);
      writeValue(writer, table[name]);
    } catch (error) {
      throw named(name, error);
    }
  }
  writer.endLength(start);
}

/** `undefined` and functions are no wire values, but what was stored may come from anywhere: both are refused by name. */
function writeValue(writer: ByteWriter, value: WireValue | undefined): void {
  switch (typeof value) {
    case "string":
      writer.uint8(kind.LONG_TEXT);
      return writer.longText(value);
    case "number":
      return writeNumber(writer, value);
    case "bigint":
      return writeInt64(writer, kind.INT64, value);
    case "boolean":
      writer.uint8(kind.BOOLEAN);
      return writer.uint8(value ? 1 : 0);
    case "object":
      return value === null ? writer.uint8(kind.VOID) : writeObject(writer, value);
    default:
      throw new Unwritable(`is ${typeof value}, which no AMQP kind holds`);
  }
}

function writeNumber(writer: ByteWriter, value: number): void {
  if (value === (value | 0)) {
    writer.uint8(kind.INT32);
    return writer.int32(value);
  }
  if (!Number.isInteger(value)) return writeDouble(writer, value);
  writeInt64(writer, kind.INT64, BigInt(value));
}

function writeDouble(writer: ByteWriter, value: number): void {
  if (!Number.isFinite(value)) throw new Unwritable(`is ${value}, which no AMQP kind holds`);
  writer.uint8(kind.FLOAT64);
  writer.float64(value);
}

function writeInt64(writer: ByteWriter, kindByte: number, value: bigint): void {
  if (value < LEAST_INT64 || value > LARGEST_INT64) throw new Unwritable("does not fit a signed 64-bit integer");
  writer.uint8(kindByte);
  writer.bits64(BigInt.asUintN(64, value));
}

function writeObject(writer: ByteWriter, value: Exclude<WireValue, string | number | bigint | boolean | null>): void {
  if (Array.isArray(value)) return writeArray(writer, value);
  if (value instanceof Uint8Array) return writeBytes(writer, kind.BYTES, value);
  if (value instanceof Date) return writeDate(writer, value);
  if (value instanceof WireDouble) return writeDouble(writer, value.value);
  if (value instanceof WireDecimal) return writeDecimal(writer, value);
  if (value instanceof WireUnsigned) return writeUnsigned(writer, value.value);
  if (value instanceof WireTimestamp) return writeInt64(writer, kind.TIMESTAMP, value.seconds);
  if (value instanceof WireText) return writeBytes(writer, kind.LONG_TEXT, value.bytes);
  if (value instanceof WireNested) {
    return writeBytes(writer, value.kind === "table" ? kind.TABLE : kind.ARRAY, value.bytes);
  }
  writer.uint8(kind.TABLE);
  writeTable(writer, value as WireTable);
}

function writeArray(writer: ByteWriter, items: readonly WireValue[]): void {
  writer.uint8(kind.ARRAY);
  const start = writer.beginLength();
  for (const item of items) writeValue(writer, item);
  writer.endLength(start);
}

function writeBytes(writer: ByteWriter, kindByte: number, bytes: Uint8Array): void {
  writer.uint8(kindByte);
  writer.uint32(bytes.byteLength);
  writer.raw(bytes);
}

function writeDate(writer: ByteWriter, value: Date): void {
  const seconds = Math.floor(value.getTime() / 1_000);
  if (Number.isNaN(seconds)) throw new Unwritable("is an invalid Date");
  writeInt64(writer, kind.TIMESTAMP, BigInt(seconds));
}

function writeDecimal(writer: ByteWriter, { scale, unscaled }: WireDecimal): void {
  const fits = Number.isInteger(scale) && scale >= 0 && scale <= 255 && unscaled === (unscaled | 0);
  if (!fits) throw new Unwritable("is a decimal that does not fit 8 bits of scale and 32 bits of digits");
  writer.uint8(kind.DECIMAL);
  writer.uint8(scale);
  writer.int32(unscaled);
}

function writeUnsigned(writer: ByteWriter, value: bigint): void {
  if (value < 0n || value > LARGEST_UINT64) throw new Unwritable("does not fit an unsigned 64-bit integer");
  writer.uint8(kind.UINT64);
  writer.bits64(value);
}

/** The innermost problem under the whole path of names: `"outer"."inner" is NaN, …`. */
function named(name: string, error: unknown): unknown {
  if (!(error instanceof Unwritable)) return error;
  const quoted = JSON.stringify(name.slice(0, 40));
  return new Unwritable(error.message.startsWith('"') ? `${quoted}.${error.message}` : `${quoted} ${error.message}`);
}
