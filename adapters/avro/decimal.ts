/**
 * Decimals: the digits as a whole number in two's complement, the highest byte first; the schema says where the point is.
 *
 * @module
 */

import type { LogicalType } from "./schema.ts";

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** The decimal as text, with every digit behind the point that the schema has. */
export function formatDecimal(raw: unknown, { precision, scale }: LogicalType): string {
  const bytes = raw as Uint8Array;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const value = BigInt.asIntN(8 * bytes.length, BigInt(hex === "" ? "0" : `0x${hex}`));
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  if (digits.replace(/^0+/, "").length > precision) throw new RangeError("It has more digits than the schema says");
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return value < 0n ? `-${text}` : text;
}

/** The bytes of a decimal; undefined for what is none, or has more digits than the schema. */
export function parseDecimal(value: unknown, { precision, scale, size }: LogicalType): Uint8Array | undefined {
  const [all, sign, whole = "", fraction = ""] = DECIMAL.exec(typeof value === "string" ? value : "") ?? [];
  if (all === undefined || fraction.length > scale) return undefined;
  const digits = (whole + fraction.padEnd(scale, "0")).replace(/^0+(?=\d)/, "");
  if (digits.replace(/^0+/, "").length > precision) return undefined;
  return bytesOf(sign === "-" ? -BigInt(digits) : BigInt(digits), size);
}

/** As few bytes as hold the number and its sign, or as many as are asked for; undefined where those are too few. */
function bytesOf(value: bigint, size: number | undefined): Uint8Array | undefined {
  let length = size ?? 1;
  if (size !== undefined && BigInt.asIntN(8 * size, value) !== value) return undefined;
  while (size === undefined && BigInt.asIntN(8 * length, value) !== value) length++;
  const bits = BigInt.asUintN(8 * length, value);
  return Uint8Array.from({ length }, (_, index) => Number(bits >> BigInt(8 * (length - 1 - index)) & 0xffn));
}
