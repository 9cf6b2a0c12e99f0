/**
 * Reading YAML by the core schema of YAML 1.2, within limits (contract codecs 2.5).
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import { assertExpanded } from "./expanded.ts";
import type { YamlLibrary, YamlScalarTag, YamlSchema } from "./library.ts";

/** Limits and choices of a reader. */
export interface YamlReaderOptions {
  readonly dates: "text" | "date";
  readonly maxAliases: number;
  readonly maxNodes: number;
  readonly maxDepth: number;
}

/** Makes a value of the text of a document. */
export type YamlReader = (text: string) => unknown;

/** A reader over the library. */
export function yamlReader(library: YamlLibrary, options: YamlReaderOptions): YamlReader {
  const { maxAliases, maxNodes, maxDepth } = options;
  const schema = schemaOf(library, options.dates);
  const load = (text: string, depth: number): unknown => library.load(text, { schema, maxDepth: depth, maxAliases });
  return (text) => {
    const { value, isDeep } = loadWithin(maxDepth, (depth) => load(text, depth));
    if (value === undefined) throw new DecodeError("Cannot read the body as YAML: it holds no document");
    // Without an alias nothing in a document is larger than its text.
    if (isDeep || text.includes("*")) assertExpanded(value, { maxNodes, maxDepth });
    return value;
  };
}

const TOO_DEEP = "nesting exceeded";

/** The levels that the library may count beside those of the value: one for what is innermost, one for where it stands. */
const UNCOUNTED = 2;

/** What is read within the limit by the library's own count, and with a look at what it came to where that is too strict. */
function loadWithin(maxDepth: number, load: (depth: number) => unknown): { value: unknown; isDeep: boolean } {
  try {
    return { value: load(maxDepth), isDeep: false };
  } catch (error) {
    if (!(error as { readonly reason?: string }).reason?.startsWith(TOO_DEEP)) throw notYaml(error);
  }
  try {
    return { value: load(maxDepth + UNCOUNTED), isDeep: true };
  } catch (error) {
    throw notYaml(error);
  }
}

function schemaOf(library: YamlLibrary, dates: "text" | "date"): YamlSchema {
  const integers = exactIntegers(library);
  if (dates === "text") return library.CORE_SCHEMA.withTags(integers);
  const { timestampTag, mapTag } = library;
  const textOf = (key: unknown): unknown => key instanceof Date ? key.toISOString() : key;
  const keyed: YamlLibrary["mapTag"] = {
    ...mapTag,
    has: (carrier, key) => mapTag.has(carrier, textOf(key)),
    addPair: (carrier, key, value) => mapTag.addPair(carrier, textOf(key), value),
  };
  return library.CORE_SCHEMA.withTags(integers, timestampTag, keyed);
}

/** What is an integer by itself, and what is one where the tag says so. */
const PLAIN_INTEGER = /^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\d+)$/;
const TAGGED_INTEGER = /^[-+]?(?:0b[01]+|0o[0-7]+|0x[0-9a-fA-F]+|\d+)$/;

/** More digits than any integer type has; reading them costs more than their number. */
const MOST_DIGITS = 1_000;

/** The library's integers, but for those a `number` would round: they are bigint. */
function exactIntegers({ intCoreTag, NOT_RESOLVED }: YamlLibrary): YamlScalarTag {
  return {
    ...intCoreTag,
    resolve: (source, isExplicit, tagName) => {
      const value = intCoreTag.resolve(source, isExplicit, tagName);
      if (typeof value === "number" && Number.isSafeInteger(value)) return value;
      // For an integer beyond the largest `number` the library has no value either.
      if (!(isExplicit ? TAGGED_INTEGER : PLAIN_INTEGER).test(source)) return value;
      if (source.length > MOST_DIGITS) return NOT_RESOLVED;
      const magnitude = BigInt(source.replace(/^[-+]/, ""));
      return source.startsWith("-") ? -magnitude : magnitude;
    },
  };
}

/** The library's words by their beginnings, and ours: its own go on with what stands in the body. */
const REASONS: readonly (readonly [begins: string, words: string])[] = [
  ["expected a single document", "it holds more than one document"],
  ["expected a document", "it holds no document"],
  ["duplicated mapping key", "a key stands twice in a mapping"],
  ["unknown ", "a tag is outside the core schema"],
  ["aliases exceeded", "it has too many aliases"],
  ["unidentified alias", "an alias has no anchor"],
  [TOO_DEEP, "it is nested too deeply"],
  ["object-based map", "a key of a mapping is a collection"],
];

/** The library's error quotes the body: all that goes on is which rule was broken, and where. */
function notYaml(error: unknown): DecodeError {
  const { reason, mark } = error as { readonly reason?: string; readonly mark?: { readonly line?: number } };
  const words = REASONS.find(([begins]) => reason?.startsWith(begins))?.[1] ?? "it is not valid YAML";
  const line = typeof mark?.line === "number" ? `, line ${mark.line + 1}` : "";
  return new DecodeError(`Cannot read the body as YAML: ${words}${line}`);
}
