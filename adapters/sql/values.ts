/**
 * What is bound to a statement and what comes back: drivers agree on little, so both are checked here.
 *
 * @module
 */

import type { SqlValue } from "../../src/ports/sql_session.ts";

/** Refuses what drivers bind differently or silently as NULL: a Date, a boolean, undefined, a number that is none. */
export function assertSqlValues(params: readonly unknown[]): asserts params is readonly SqlValue[] {
  for (const [index, value] of params.entries()) {
    if (isSqlValue(value)) continue;
    throw new TypeError(
      `Cannot bind parameter ${index + 1}: a text, a finite number, a bigint, null or a Uint8Array is wanted, not ${
        kindOf(value)
      }`,
    );
  }
}

/** A whole number as any driver gives it: a number, a bigint, or its text. */
export function readInteger(value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number === "bigint") return Number(number);
  if (typeof number === "number" && Number.isInteger(number)) return number;
  throw new TypeError(`Cannot read a whole number: the driver gave ${kindOf(value)}`);
}

/** A text as any driver gives it. */
export function readText(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(`Cannot read a text: the driver gave ${kindOf(value)}`);
}

/** A truth as any driver gives it: a boolean, 0 or 1, or the texts PostgreSQL has for them. */
export function readBoolean(value: unknown): boolean {
  if (value === true || value === "t" || value === "true") return true;
  if (value === false || value === "f" || value === "false") return false;
  return readInteger(value) !== 0;
}

function isSqlValue(value: unknown): value is SqlValue {
  if (typeof value === "number") return Number.isFinite(value);
  return value === null || typeof value === "string" || typeof value === "bigint" || value instanceof Uint8Array;
}

function kindOf(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value !== "object" || value === null) return typeof value === "string" ? "a text" : String(typeof value);
  return `an object of class ${value.constructor?.name ?? "unknown"}`;
}
