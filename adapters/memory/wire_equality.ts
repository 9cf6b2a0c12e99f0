/**
 * When the broker takes two values of a table for the same: it compares what they hold, hardly what kind they are.
 *
 * @module
 */

import {
  isWireTable,
  WireDecimal,
  WireDouble,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../src/message/wire_value.ts";

/**
 * Equality of two values that have both crossed the wire.
 *
 * Numbers are the same by their size, a timestamp is its seconds, text is its bytes; a list or a table is the same item by
 * item, in the same order, and where there are no items they are the same.
 */
export function isSameValue(one: WireValue | undefined, other: WireValue | undefined): boolean {
  const [a, b] = [comparable(one), comparable(other)];
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && areSame(a, b, Object.is);
  if (isEmpty(a) && isEmpty(b)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && areSame(a, b, isSameValue);
  if (a instanceof WireDecimal) return b instanceof WireDecimal && a.scale === b.scale && a.unscaled === b.unscaled;
  return isWireTable(a) && isWireTable(b) && areSame(Object.entries(a).flat(), Object.entries(b).flat(), isSameValue);
}

/** Whole numbers of every kind as integers, fractions as they are, text as its bytes. */
function comparable(value: WireValue | undefined): WireValue | undefined {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (value instanceof Date) return BigInt(value.getTime() / 1_000);
  if (value instanceof WireTimestamp) return value.seconds;
  if (value instanceof WireDouble) return comparable(value.value);
  if (value instanceof WireUnsigned) return value.value;
  return value instanceof WireText ? value.bytes : value;
}

/** A list or a table with nothing in it. */
function isEmpty(value: WireValue): boolean {
  return (Array.isArray(value) || isWireTable(value)) && Object.keys(value).length === 0;
}

function areSame<T>(one: ArrayLike<T>, other: ArrayLike<T>, isSame: (a: T, b: T) => boolean): boolean {
  return one.length === other.length && Array.from(one).every((item, index) => isSame(item, other[index] as T));
}
