/**
 * The recorded fixtures of `tests/interop/fixtures/`, with their values revived as its README says.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from "node:fs";

/** Where the recordings are. */
export const FIXTURES: URL = new URL("../interop/fixtures/", import.meta.url);

/** The languages that wrote messages, slips, bodies and frames; `dotnet` is imitated. */
export const LANGUAGES = ["dotnet", "go", "java", "python", "ruby"] as const;

/** One of {@linkcode LANGUAGES}. */
export type Language = typeof LANGUAGES[number];

/** The kinds of recordings that come as one file of cases a language. */
export type FixtureKind = "messages" | "slips" | "codecs" | "frames";

/** One recorded case: its name, the recorded input, and mostly what it `means`. */
export interface FixtureCase {
  readonly name: string;
  readonly note?: string;
  readonly [member: string]: unknown;
}

/** A payload too big to be written out: its digest stands for it. */
export class PayloadDigest {
  readonly sha256: string;
  readonly length: number;

  constructor(sha256: string, length: number) {
    this.sha256 = sha256;
    this.length = length;
  }
}

/** The cases one language wrote of one kind. */
export function fixtureCases<T extends FixtureCase>(kind: FixtureKind, language: Language): readonly T[] {
  const { cases } = readFixture(`${kind}/${language}.json`) as { readonly cases: readonly T[] };
  return cases;
}

/** A JSON file of the fixtures, its values revived. */
export function readFixture(path: string): unknown {
  return parseFixture(readFileSync(new URL(path, FIXTURES), "utf8"));
}

/**
 * Fixture text as values: `$bigint` as a bigint, `$hex` as bytes, `$time` as a Date, `$float` as a number, `$decimal` as its
 * decimal text (what an application reads), `$sha256` as a {@linkcode PayloadDigest}.
 */
export function parseFixture(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown) => revive(value));
}

/** The paths of all files of the fixtures, relative to the folder, sorted by code unit. */
export function fixturePaths(): readonly string[] {
  return readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(new URL(path, FIXTURES)).isFile())
    .sort();
}

/** Bytes from hexadecimal text. */
export function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> {
  if (!/^(?:[0-9a-f]{2})*$/i.test(hex)) throw new TypeError(`Cannot read bytes: not hexadecimal: ${hex.slice(0, 40)}`);
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function revive(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const [mark, text] = Object.entries(value)[0] ?? [];
  if (typeof text !== "string") return value;
  switch (mark) {
    case "$bigint":
      return BigInt(text);
    case "$hex":
      return bytesOfHex(text);
    case "$time":
      return new Date(text);
    case "$float":
      return Number(text);
    case "$decimal":
      return text;
    case "$sha256":
      return new PayloadDigest(text, (value as { readonly length: number }).length);
    default:
      return value;
  }
}
