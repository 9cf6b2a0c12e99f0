/**
 * Reading TOML, and making of it what JavaScript has (contract codecs 2.6).
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import { assertDatesExist } from "./existing_dates.ts";
import type { TomlLibrary, TomlTime } from "./library.ts";
import { isInt64 } from "./toml_scalar.ts";

/** The value of a document, at most `maxDepth` levels of it. */
export function readToml(library: TomlLibrary, text: string, maxDepth: number): unknown {
  const document = parse(library, text, maxDepth);
  assertDatesExist(text);
  return plain(document, maxDepth, maxDepth);
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

/** The same value of objects with a prototype, and of dates that are instants or text. */
function plain(value: unknown, left: number, maxDepth: number): unknown {
  if (typeof value === "bigint") return int64(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return timeOf(value as TomlTime);
  if (left === 0) throw new DecodeError(`Cannot read the body as TOML: it is nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) {
    // The list is nobody else's.
    for (let index = 0; index < value.length; index++) value[index] = plain(value[index], left - 1, maxDepth);
    return value;
  }
  const table = value as Readonly<Record<string, unknown>>;
  const object: Record<string, unknown> = {};
  for (const name of Object.keys(table)) {
    const member = plain(table[name], left - 1, maxDepth);
    if (name !== "__proto__") object[name] = member;
    else Object.defineProperty(object, name, { value: member, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

function int64(value: bigint): bigint {
  if (isInt64(value)) return value;
  throw new DecodeError("Cannot read the body as TOML: an integer in it has more than 64 bits");
}

/** A moment as a `Date`; what names no moment as its text, with the milliseconds where there are any. */
function timeOf(time: TomlTime): Date | string {
  return time.isLocal() ? time.toISOString().replace(/\.000$/, "") : new Date(time.getTime());
}
