/**
 * Reading TOML, and making of it what JavaScript has (contract codecs 2.6).
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import { assertDatesExist } from "./existing_dates.ts";
import type { TomlLibrary, TomlTime } from "./library.ts";
import { assertNumbersFit } from "./finite_numbers.ts";
import { isInt64 } from "./toml_scalar.ts";

/** The value of a document, at most `maxDepth` levels of it. */
export function readToml(library: TomlLibrary, text: string, maxDepth: number): unknown {
  const document = parse(library, text, maxDepth);
  const reader = new Reader(maxDepth);
  const value = reader.collection(document as object, maxDepth);
  if (reader.hasTimes) assertDatesExist(text);
  if (reader.hasInfinities) assertNumbersFit(text);
  return value;
}

function parse({ parse }: TomlLibrary, text: string, maxDepth: number): unknown {
  try {
    return parse(text, { integersAsBigInt: "asNeeded", maxDepth });
  } catch (error) {
    // The library's words and its cause quote the body.
    const { line } = error as { readonly line?: number };
    throw new DecodeError(
      `Cannot read the body as TOML: it is not valid TOML${typeof line === "number" ? `, line ${line}` : ""}`,
    );
  }
}

/** Makes the same value of objects with a prototype, and of dates that are instants or text. */
class Reader {
  readonly #maxDepth: number;
  /** Whether there was a date or a time. */
  hasTimes = false;
  /** Whether there was a number without an end: one that says so, or that is too large. */
  hasInfinities = false;

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  collection(value: object, left: number): unknown {
    if (left === 0) {
      throw new DecodeError(`Cannot read the body as TOML: it is nested deeper than ${this.#maxDepth} levels`);
    }
    return Array.isArray(value) ? this.#list(value, left - 1) : this.#table(value as Table, left - 1);
  }

  /** The list is nobody else's. */
  #list(list: unknown[], left: number): unknown[] {
    for (let index = 0; index < list.length; index++) {
      const item = list[index];
      if (isScalar(item)) continue;
      list[index] = this.#other(item, left);
    }
    return list;
  }

  #table(table: Table, left: number): unknown {
    const object: Record<string, unknown> = {};
    for (const name of Object.keys(table)) {
      const given = table[name];
      const value = isScalar(given) ? given : this.#other(given, left);
      if (name !== "__proto__") object[name] = value;
      else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return object;
  }

  #other(value: unknown, left: number): unknown {
    if (typeof value === "bigint") return int64(value);
    if (typeof value === "number") {
      this.hasInfinities = true;
      return value;
    }
    if (!(value instanceof Date)) return this.collection(value as object, left);
    this.hasTimes = true;
    return timeOf(value as TomlTime);
  }
}

type Table = Readonly<Record<string, unknown>>;

/** Whether a value is as it was read: text, a number that has an end or is none, or a boolean. */
function isScalar(value: unknown): boolean {
  return typeof value !== "object" && typeof value !== "bigint" && value !== Infinity && value !== -Infinity;
}

function int64(value: bigint): bigint {
  if (isInt64(value)) return value;
  throw new DecodeError("Cannot read the body as TOML: an integer in it has more than 64 bits");
}

/** A moment as a `Date`; what names no moment as its text, with the milliseconds where there are any. */
function timeOf(time: TomlTime): Date | string {
  return time.isLocal() ? time.toISOString().replace(/\.000$/, "") : new Date(time.getTime());
}
