/**
 * Lenient readings of single header values (contract core 1.1 and 1.5): every width and spelling another language writes is
 * understood, and what cannot be understood is absent, never an error.
 *
 * @module
 */

import { lenientUtf8 } from "../internal/bytes.ts";
import { WireDecimal, WireDouble, WireText, WireUnsigned, type WireValue } from "./wire_value.ts";

/** A whole number, or a decimal whose fraction is cut: no exponent, no hexadecimal, no blank. */
const DECIMAL_TEXT = /^([+-]?\d+)(?:\.\d*)?$/;

/** Text or bytes as text, a number as its decimal text; empty text and every other kind are absent. */
export function readText(value: WireValue | undefined): string | undefined {
  const text = textOf(value) ?? numberText(value);
  return text === "" ? undefined : text;
}

/** A whole number of any width, a float or a decimal (fraction cut), or decimal text; everything else is absent. */
export function readInteger(value: WireValue | undefined): number | undefined {
  if (typeof value === "number") return cut(value);
  if (typeof value === "bigint") return cut(Number(value));
  if (value instanceof WireDouble) return cut(value.value);
  if (value instanceof WireDecimal) return cut(Number(value.toString()));
  if (value instanceof WireUnsigned) return cut(Number(value.value));
  // The fraction is cut as text: as a number, one of many digits would round up to the next whole one.
  const whole = DECIMAL_TEXT.exec(textOf(value)?.trim() ?? "")?.[1];
  return whole === undefined ? undefined : cut(Number(whole));
}

/** Epoch milliseconds: what {@linkcode readInteger} reads, and the milliseconds of an AMQP timestamp. */
export function readEpochMs(value: WireValue | undefined): number | undefined {
  return value instanceof Date ? value.getTime() : readInteger(value);
}

/** RFC 3339 with an optional fraction of any length and a zone. */
const INSTANT_TEXT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * An instant in every spelling the libraries have used: epoch milliseconds as number or text, RFC 3339 with `Z` or an offset
 * and any fraction. Finer than a millisecond is cut, not rounded.
 */
export function readInstant(value: WireValue | undefined): Date | undefined {
  const epochMs = readEpochMs(value);
  if (epochMs !== undefined) return validDate(epochMs);
  const match = INSTANT_TEXT.exec(textOf(value)?.trim() ?? "");
  if (match === null) return undefined;
  const [, date, time, fraction = "", zone = "Z"] = match;
  if (date === undefined || !isCalendarDay(date)) return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  return validDate(Date.parse(`${date}T${time}.${milliseconds}${zone.toUpperCase()}`));
}

function textOf(value: WireValue | undefined): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return lenientUtf8(value);
  if (value instanceof WireText) return lenientUtf8(value.bytes);
  return undefined;
}

function numberText(value: WireValue | undefined): string | undefined {
  if (typeof value === "number") return decimalText(value);
  if (typeof value === "bigint") return String(value);
  if (value instanceof WireDouble) return decimalText(value.value);
  if (value instanceof WireDecimal) return value.toString();
  return value instanceof WireUnsigned ? String(value.value) : undefined;
}

/** Whole numbers digit by digit: from 1e21 on `String` would write an exponent. */
function decimalText(value: number): string | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

/** Without its fraction, and inside the integers a number holds exactly: what is read must be writable again. */
function cut(value: number): number | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Math.min(Math.max(Math.trunc(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** A date of this calendar: `Date.parse` takes 30 February for 2 March. */
function isCalendarDay(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

/** 0000-01-01T00:00:00.000Z, the first instant RFC 3339 can spell. */
const EARLIEST_INSTANT_MS = -62_167_219_200_000;

/** 9999-12-31T23:59:59.999Z, the last one. */
const LATEST_INSTANT_MS = 253_402_300_799_999;

/** An instant that can be written as text again. */
function validDate(epochMs: number): Date | undefined {
  return epochMs >= EARLIEST_INSTANT_MS && epochMs <= LATEST_INSTANT_MS ? new Date(epochMs) : undefined;
}
