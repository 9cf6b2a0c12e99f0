/**
 * What the broker calls the kind of a value in the words of a refusal.
 *
 * @module
 */

import { WireDecimal, WireDouble, WireUnsigned, type WireValue } from "../../src/message/wire_value.ts";

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

function kindOfObject(value: object): string {
  if (Array.isArray(value)) return "array";
  if (value instanceof Uint8Array) return "binary";
  if (value instanceof Date) return "timestamp";
  if (value instanceof WireDouble) return "double";
  if (value instanceof WireDecimal) return "decimal";
  return value instanceof WireUnsigned ? "unsignedlong" : "table";
}
