/**
 * A value and its kind in the words of a refusal.
 *
 * @module
 */

import { WireDecimal, WireDouble, WireTimestamp, WireUnsigned, type WireValue } from "../../src/message/wire_value.ts";

/** The broker's name for the kind of a value that has crossed the wire. */
export function kindOf(value: WireValue): string {
  switch (typeof value) {
    case "string":
      return "longstr";
    case "boolean":
      return "bool";
    case "bigint":
      return "long";
    case "number":
      return value === (value | 0) ? "signedint" : "long";
    default:
      return value === null ? "void" : kindOfObject(value);
  }
}

/** How the broker writes a value that has crossed the wire. */
export function textOf(value: WireValue): string {
  if (value instanceof WireDouble) return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value);
  if (value instanceof Date) return String(value.getTime() / 1_000);
  if (value instanceof WireTimestamp) return String(value.seconds);
  return String(value instanceof WireUnsigned ? value.value : value);
}

function kindOfObject(value: object): string {
  if (Array.isArray(value)) return "array";
  if (value instanceof Uint8Array) return "binary";
  if (value instanceof Date || value instanceof WireTimestamp) return "timestamp";
  if (value instanceof WireDouble) return "double";
  if (value instanceof WireDecimal) return "decimal";
  return value instanceof WireUnsigned ? "unsignedlong" : "table";
}
