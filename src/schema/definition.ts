/**
 * A schema as a registry keeps it: a format, its text, and what the text is told by (contract codecs 3.3, patterns 6.2).
 *
 * @module
 */

import { sha256Hex } from "../internal/digest.ts";
import { describeKind } from "../internal/option_kinds.ts";

/** A schema to register, of any format. */
export interface SchemaDefinition {
  /** `avro`, `protobuf`, `json-schema`, or a word of your own. */
  readonly format: string;
  /** The schema itself. It is kept as it is: white space makes another one. */
  readonly definition: string;
  /**
   * Why data that `writer` wrote cannot be read with `reader`, one line for each place; empty when all of it can. A registration
   * that asks for compatibility needs it.
   */
  readonly unreadable?: UnreadableParts;
}

/** Compares two schemas of one format, given as text. */
export type UnreadableParts = (reader: string, writer: string) => readonly string[];

/** What a row can hold in every layout there is. */
const MAX_FORMAT_LENGTH = 32;

/**
 * What tells one schema text from another: SHA-256 of its UTF-8 bytes, 64 hexadecimal digits in lower case.
 *
 * The text is taken as it is. Two spellings of one schema have two fingerprints, and two ids.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fingerprint } from "@acemq/amqp/core";
 *
 * assert.equal(await fingerprint('{"type":"string"}'), "00404e686415370f1711c4d7acfa2905444d3cf23cef2e10c47d445ebe690f96");
 * ```
 *
 * @throws {TypeError} no text
 */
export async function fingerprint(text: string): Promise<string> {
  if (typeof text !== "string") {
    throw new TypeError(`Cannot take a fingerprint: a schema is text, found ${describeKind(text)}`);
  }
  return await sha256Hex(new TextEncoder().encode(text));
}

/** Throws a `TypeError` unless it is a definition a registry can keep. */
export function assertDefinition(value: unknown): asserts value is SchemaDefinition {
  if (typeof value !== "object" || value === null) throw wrong("a definition", "an object", value);
  const { format, definition, unreadable } = value as Readonly<Record<string, unknown>>;
  assertText("the format of a schema", format);
  if (format.length > MAX_FORMAT_LENGTH) {
    throw new TypeError(
      `Cannot use the format of a schema: at most ${MAX_FORMAT_LENGTH} characters, found ${format.length}`,
    );
  }
  assertText("the text of a schema", definition);
  const compares = unreadable === undefined || typeof unreadable === "function";
  if (!compares) throw wrong("'unreadable' of a definition", "a function", unreadable);
}

/** Throws a `TypeError` unless it is the name under which the versions of a schema stand. */
export function assertSubject(value: unknown): asserts value is string {
  assertText("the subject of a schema", value);
  if (value.length > 255) {
    throw new TypeError(`Cannot use the subject of a schema: at most 255 characters, found ${value.length}`);
  }
}

function assertText(what: string, value: unknown): asserts value is string {
  if (typeof value !== "string") throw wrong(what, "text", value);
  if (value === "") throw new TypeError(`Cannot use ${what}: it must not be empty`);
  // A database keeps neither: half a character would come back as another text, with another fingerprint.
  if (value.includes("\0") || !value.isWellFormed()) {
    throw new TypeError(`Cannot use ${what}: it must be text without NUL and without half a surrogate pair`);
  }
}

function wrong(what: string, wanted: string, found: unknown): TypeError {
  return new TypeError(`Cannot use ${what}: it must be ${wanted}, found ${describeKind(found)}`);
}
