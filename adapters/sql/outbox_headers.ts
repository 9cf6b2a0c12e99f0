/**
 * Header tables as JSON objects (contract patterns 5.3): an integer stays one and a double one, as far as JSON can say it.
 *
 * @module
 */

import { assertJsonDepth, parseJsonExactly, parseJsonNumbers } from "../../src/codec/json_reader.ts";
import { DecodeError } from "../../src/errors.ts";
import {
  HEADER_ATTEMPT,
  HEADER_FIRST_SEEN,
  HEADER_REPLAY_COUNT,
  HEADER_ROUTE_POSITION,
  HEADER_VERSION,
} from "../../src/message/header_names.ts";
import { readInteger } from "../../src/message/read_value.ts";
import {
  isWireTable,
  setEntry,
  WireDouble,
  type WireTable,
  WireUnsigned,
  type WireValue,
} from "../../src/message/wire_value.ts";

/** A table as text, or why it cannot be one. */
export type HeadersText = { readonly text: string } | { readonly problem: string };

/** What the engine itself counts; another language may have read them from JSON as doubles, and written those. */
const COUNTERS: readonly string[] = [HEADER_VERSION, HEADER_ATTEMPT, HEADER_ROUTE_POSITION, HEADER_REPLAY_COUNT];

/** No table is nested deeper than this by people. */
const DEEPEST = 64;

/** A number with a fraction or an exponent, or of more digits than are safe; behind what may stand before a number. */
const SPECIAL_NUMBER = /[:,[]\s*-?\d+(?:\.|[eE]|(?<=\d{16}))/;

/** Writes a table; what JSON has no word for is a problem that names the header. */
export function formatHeaders(table: WireTable): HeadersText {
  try {
    return { text: textOfTable(table, "") };
  } catch (error) {
    if (error instanceof Unwritable) return { problem: error.problem };
    throw error;
  }
}

/**
 * Reads a table.
 *
 * @throws {DecodeError} the text is no JSON object, or has a number no AMQP kind holds
 */
export function parseHeaders(text: string): WireTable {
  const parsed = parse(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new DecodeError("Cannot read the headers: a JSON object is wanted");
  }
  const table = parsed as Record<string, WireValue>;
  for (const name of COUNTERS) asWhole(table, name, (whole) => whole);
  // Always of 64 bits, as it is published.
  asWhole(table, HEADER_FIRST_SEEN, (whole) => BigInt(whole));
  return table;
}

class Unwritable {
  readonly problem: string;

  constructor(where: string, what: string) {
    this.problem = `header ${where} is ${what}, which JSON cannot hold`;
  }
}

function textOfTable(table: WireTable, where: string): string {
  let text = "{";
  for (const name of Object.keys(table)) {
    const path = where === "" ? JSON.stringify(name) : `${where}.${name}`;
    if (text.length > 1) text += ",";
    text += `${textOfText(name, path)}:${textOf(table[name] as WireValue, path)}`;
  }
  return `${text}}`;
}

function textOf(value: WireValue, where: string): string {
  switch (typeof value) {
    case "string":
      return textOfText(value, where);
    case "boolean":
    case "bigint":
      return String(value);
    case "number":
      return textOfNumber(value, where);
    case "object":
      return value === null ? "null" : textOfObject(value, where);
    default:
      throw new Unwritable(where, `a ${typeof value}`);
  }
}

function textOfText(text: string, where: string): string {
  if (!text.isWellFormed()) throw new Unwritable(where, "half a surrogate pair");
  return JSON.stringify(text);
}

/** A whole number digit by digit: with an exponent it would be read as a double. */
function textOfNumber(value: number, where: string): string {
  if (!Number.isFinite(value)) throw new Unwritable(where, String(value));
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

function textOfObject(value: Exclude<WireValue & object, null>, where: string): string {
  if (value instanceof WireDouble) return textOfDouble(value.value, where);
  if (value instanceof WireUnsigned) return String(value.value);
  if (Array.isArray(value)) {
    return `[${value.map((item: WireValue, index) => textOf(item, `${where}[${index}]`)).join(",")}]`;
  }
  if (isWireTable(value)) return textOfTable(value, where);
  throw new Unwritable(where, value instanceof Uint8Array ? "bytes" : `a ${value.constructor.name}`);
}

function textOfDouble(value: number, where: string): string {
  if (!Number.isFinite(value)) throw new Unwritable(where, String(value));
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function parse(text: string): unknown {
  try {
    assertJsonDepth(text, DEEPEST);
    return SPECIAL_NUMBER.test(text) ? parseJsonNumbers(text, readNumber) : parseJsonExactly(text);
  } catch (error) {
    throw new DecodeError("Cannot read the headers: they are no JSON object of AMQP values", { cause: error });
  }
}

function readNumber(digits: string, isInteger: boolean): WireValue {
  const value = Number(digits);
  if (!isInteger) return Number.isInteger(value) ? new WireDouble(value) : finite(value);
  if (Number.isSafeInteger(value)) return value;
  const whole = BigInt(digits);
  if (BigInt.asIntN(64, whole) === whole) return whole;
  if (BigInt.asUintN(64, whole) === whole) return new WireUnsigned(whole);
  throw new DecodeError("Cannot read a number: it is an integer of more than 64 bits");
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new DecodeError("Cannot read a number: no double holds it");
}

/** Makes a counter the integer it stands for; what stands for none is left as it is. */
function asWhole(table: Record<string, WireValue>, name: string, make: (whole: number) => WireValue): void {
  const value = Object.hasOwn(table, name) ? table[name] : undefined;
  const whole = readInteger(value);
  if (whole !== undefined) setEntry(table, name, make(whole));
}
