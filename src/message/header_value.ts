/**
 * Header values as the application reads and writes them.
 *
 * Reading never fails: a byte array that is valid UTF-8 is text (.NET writes its strings so), a decimal is its decimal text, a
 * double is a number. Writing is strict: what no AMQP kind holds is refused by name before a byte is sent (contract core 1.2).
 *
 * @module
 */

import { lenientUtf8, strictUtf8, utf8Length } from "../internal/bytes.ts";
import { isBrokerBookkeeping } from "./broker_headers.ts";
import { isReserved } from "./header_names.ts";
import {
  isWireTable,
  setEntry,
  WireDecimal,
  WireDouble,
  WireNested,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "./wire_value.ts";

/** One header value in an application's hands. Integers beyond 2^53 are `bigint`; a `Date` travels in whole seconds. */
export type HeaderValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Uint8Array
  | readonly HeaderValue[]
  | { readonly [name: string]: HeaderValue };

/** Application headers by name: everything outside the reserved prefix `x-acemq-`. */
export interface MessageHeaders {
  /** The value as it is read; undefined under a name that did not come. */
  readonly [name: string]: HeaderValue;
}

/** Headers to send: a member that is `undefined` is left out. */
export interface OutgoingHeaders {
  /** The value to send. */
  readonly [name: string]: HeaderValue | undefined;
}

/** The application's view of a received header table, frozen; reserved names are not in it. */
export function readableHeaders(table: WireTable): MessageHeaders {
  const headers: Record<string, HeaderValue> = {};
  for (const name of Object.keys(table)) {
    if (!isReserved(name)) setEntry(headers, name, readable(table[name] as WireValue));
  }
  return Object.freeze(headers);
}

/** Outgoing headers as a wire table, or why they cannot be one. */
export type WritableHeaders = { readonly table: WireTable } | { readonly problem: string };

/** No table is nested deeper than this by people; a value that contains itself is. */
const DEEPEST = 64;

/**
 * Checks and converts the headers an application wants to send.
 *
 * The broker's bookkeeping (`x-death` and its kin) is left out rather than refused, so that the headers of a received message
 * can be handed on; sent along it could make the broker drop the message as a dead-letter cycle.
 */
export function writableHeaders(headers: OutgoingHeaders): WritableHeaders {
  const names = Object.keys(headers);
  const reserved = names.filter(isReserved);
  if (reserved.length > 0) {
    return { problem: `the prefix x-acemq- is reserved: found ${reserved.map(quote).join(", ")}` };
  }
  const table: Record<string, WireValue> = {};
  for (const name of names) {
    const value = headers[name];
    if (value === undefined || isBrokerBookkeeping(name)) continue;
    const problem = problemOfName(name) ?? problemOfCopies(name, value) ?? problemOf(value, quote(name), 1);
    if (problem !== undefined) return { problem };
    setEntry(table, name, writable(value));
  }
  return { table };
}

function readable(value: WireValue): HeaderValue {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return new Date(value);
  if (value instanceof Uint8Array) return strictUtf8(value) ?? new Uint8Array(value);
  if (value instanceof WireDouble) return value.value;
  if (value instanceof WireDecimal) return value.toString();
  if (value instanceof WireUnsigned) return value.value;
  if (value instanceof WireTimestamp) return value.seconds;
  if (value instanceof WireText) return lenientUtf8(value.bytes);
  if (value instanceof WireNested) return null;
  if (!isWireTable(value)) return Object.freeze(value.map(readable));
  const table: Record<string, HeaderValue> = {};
  for (const name of Object.keys(value)) setEntry(table, name, readable(value[name] as WireValue));
  return Object.freeze(table);
}

/** Only called on what {@linkcode problemOf} has passed. */
function writable(value: HeaderValue): WireValue {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return new Date(value);
  // Not slice(): of a Node Buffer that is a view of the caller's memory.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(writable);
  const table: Record<string, WireValue> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) setEntry(table, name, writable(member));
  }
  return table;
}

function problemOf(value: unknown, where: string, depth: number): string | undefined {
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "string") {
    return value.isWellFormed() ? undefined : `header ${where} holds half a surrogate pair`;
  }
  if (typeof value === "number") return problemOfNumber(value, where);
  if (typeof value === "bigint") {
    return BigInt.asIntN(64, value) === value ? undefined : `header ${where} does not fit a signed 64-bit integer`;
  }
  if (value === undefined) return `header ${where} is undefined, which no AMQP kind holds`;
  if (typeof value !== "object") return `header ${where} is a ${typeof value}, which no AMQP kind holds`;
  return problemOfObject(value, where, depth);
}

function problemOfNumber(value: number, where: string): string | undefined {
  if (!Number.isFinite(value)) return `header ${where} is ${value}, which no AMQP kind holds`;
  const fits = value >= -(2 ** 63) && value < 2 ** 63;
  return fits ? undefined : `header ${where} does not fit a signed 64-bit integer`;
}

function problemOfObject(value: object, where: string, depth: number): string | undefined {
  if (value instanceof Uint8Array) return undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? `header ${where} is an invalid Date` : undefined;
  if (depth > DEEPEST) return `header ${where} is nested deeper than ${DEEPEST} levels`;
  if (Array.isArray(value)) {
    return firstProblem(value, (item, index) => problemOf(item, `${where}[${index}]`, depth + 1));
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return `header ${where} is an instance of ${value.constructor?.name || "a class"}, which no AMQP kind holds`;
  }
  return firstProblem(
    Object.entries(value),
    ([name, member]) =>
      member === undefined ? undefined : problemOfName(name) ?? problemOf(member, `${where}.${name}`, depth + 1),
  );
}

/** The broker closes the channel over copies that are no lists of text (contract core 1.2). */
function problemOfCopies(name: string, value: HeaderValue): string | undefined {
  if (name !== "CC" && name !== "BCC") return undefined;
  const isList = Array.isArray(value) && value.every((key) => typeof key === "string" && utf8Length(key) <= 255);
  return isList ? undefined : `header ${quote(name)} must be a list of routing keys`;
}

function problemOfName(name: string): string | undefined {
  if (!name.isWellFormed()) return `header name ${quote(name)} holds half a surrogate pair`;
  const bytes = name.length <= 85 ? 0 : utf8Length(name);
  return bytes <= 255
    ? undefined
    : `a header name must fit 255 bytes of UTF-8, found ${bytes}: ${quote(name.slice(0, 40))}`;
}

function firstProblem<T>(
  items: readonly T[],
  problem: (item: T, index: number) => string | undefined,
): string | undefined {
  for (let index = 0; index < items.length; index++) {
    const found = problem(items[index] as T, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
