/**
 * What a hop over the wire does to a header table: the kinds stay, the widths of integers do not (`message/wire_value.ts`).
 *
 * @module
 */

import { strictUtf8, utf8Length } from "../../src/internal/bytes.ts";
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
} from "../../src/message/wire_value.ts";

/** A value no AMQP kind holds, or a text that no short one does. */
export class UnwritableError extends Error {}

/**
 * A table as the far side reads it; a copy down to the last byte.
 *
 * @throws {UnwritableError} a name of more than 255 bytes, a value no AMQP kind holds
 */
export function tableAfterHop(table: WireTable): WireTable {
  const arrived: Record<string, WireValue> = { ...table };
  for (const name of Object.keys(table)) {
    if (!fitsShortText(name)) throw unwritable(name, "has a name of more than 255 bytes");
    const sent = table[name] as WireValue;
    const value = valueAfterHop(sent, name);
    if (value !== sent) setEntry(arrived, name, value);
  }
  return arrived;
}

/** Whether a table holds nothing that could be changed from outside, so that copying its members copies it. */
export function isFlat(table: WireTable): boolean {
  return Object.values(table).every((value) => typeof value !== "object" || value === null);
}

/** Whether text is whole and fits the 255 bytes of a short string. */
export function fitsShortText(text: string): boolean {
  return text.isWellFormed() && (text.length <= 85 || utf8Length(text) <= 255);
}

function valueAfterHop(value: WireValue, name: string): WireValue {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) throw unwritable(name, "holds half a surrogate pair");
      return value;
    case "number":
      return numberAfterHop(value, name);
    case "bigint":
      return integerAfterHop(value, name);
    case "boolean":
      return value;
    case "object":
      return value === null ? null : objectAfterHop(value, name);
    default:
      throw unwritable(name, `is ${typeof value}, which no AMQP kind holds`);
  }
}

function numberAfterHop(value: number, name: string): WireValue {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  if (!Number.isFinite(value)) throw unwritable(name, `is ${value}, which no AMQP kind holds`);
  return Number.isInteger(value) ? integerAfterHop(BigInt(value), name) : new WireDouble(value);
}

/** A signed 64-bit integer comes back as a number where a number holds it. */
function integerAfterHop(value: bigint, name: string): number | bigint {
  if (BigInt.asIntN(64, value) !== value) throw unwritable(name, "does not fit a signed 64-bit integer");
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : value;
}

function objectAfterHop(value: Exclude<WireValue, string | number | bigint | boolean | null>, name: string): WireValue {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (value instanceof Date) return dateAfterHop(value, name);
  if (value instanceof WireDouble) {
    if (!Number.isFinite(value.value)) throw unwritable(name, `is ${value.value}, which no AMQP kind holds`);
    return value;
  }
  if (value instanceof WireDecimal) return decimalAfterHop(value, name);
  if (value instanceof WireUnsigned) return unsignedAfterHop(value, name);
  if (value instanceof WireTimestamp) return timestampAfterHop(value.seconds);
  if (value instanceof WireNested) return new WireNested(value.kind, new Uint8Array(value.bytes));
  if (value instanceof WireText) return strictUtf8(value.bytes) ?? new WireText(new Uint8Array(value.bytes));
  if (Array.isArray(value)) return value.map((item: WireValue) => valueAfterHop(item, name));
  return tableAfterHop(value as WireTable);
}

function dateAfterHop(value: Date, name: string): Date {
  if (Number.isNaN(value.getTime())) throw unwritable(name, "is an invalid Date");
  return new Date(Math.floor(value.getTime() / 1_000) * 1_000);
}

function decimalAfterHop(value: WireDecimal, name: string): WireDecimal {
  const { scale, unscaled } = value;
  if (scale === (scale & 255) && unscaled === (unscaled | 0)) return value;
  throw unwritable(name, "is a decimal that does not fit 8 bits of scale and 32 bits of digits");
}

function unsignedAfterHop({ value }: WireUnsigned, name: string): WireValue {
  if (BigInt.asUintN(64, value) !== value) throw unwritable(name, "does not fit an unsigned 64-bit integer");
  return BigInt.asIntN(64, value) === value ? integerAfterHop(value, name) : new WireUnsigned(value);
}

function timestampAfterHop(seconds: bigint): WireValue {
  const date = new Date(Number(seconds) * 1_000);
  return Number.isNaN(date.getTime()) ? new WireTimestamp(seconds) : date;
}

function unwritable(name: string, problem: string): UnwritableError {
  return new UnwritableError(`Cannot write header ${JSON.stringify(name.slice(0, 40))}: it ${problem}`);
}
