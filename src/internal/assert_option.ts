/**
 * Checks of option values: what was found and what is wanted, before anything happens.
 *
 * @module
 */

import { describeKind } from "./option_kinds.ts";

/** Throws a `RangeError` unless `value` is a whole number of at least `least`. */
export function assertWholeNumber(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `Cannot use option '${name}': it must be a whole number of at least ${least}, found ${describeNumber(value)}`,
  );
}

/** Throws a `RangeError` unless `value` is a whole number of at least `least` and at most `most`. */
export function assertWithin(name: string, value: number, [least, most]: readonly [least: number, most: number]): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new RangeError(
    `Cannot use option '${name}': it must be a whole number from ${least} to ${most}, found ${describeNumber(value)}`,
  );
}

/** Throws a `RangeError` unless `value` is a finite number of at least `least`. */
export function assertFiniteNumber(name: string, value: number, least: number): void {
  if (typeof value === "number" && Number.isFinite(value) && value >= least) return;
  throw new RangeError(
    `Cannot use option '${name}': it must be a finite number of at least ${least}, found ${describeNumber(value)}`,
  );
}

/** Throws a `TypeError` unless `value` is one of these words. */
export function assertOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (typeof value === "string" && allowed.includes(value)) return;
  const found = typeof value === "string" ? `"${value.slice(0, 40)}"` : describeKind(value);
  throw new TypeError(`Cannot use option '${name}': it must be one of ${allowed.join(", ")}, found ${found}`);
}

/** Throws a `TypeError` unless `value` is text with at least one character and at most 255 bytes: an AMQP short string. */
export function assertName(what: string, value: unknown): asserts value is string {
  if (typeof value !== "string" || value === "") {
    throw new TypeError(
      `Cannot use ${what}: it must be non-empty text, found ${value === "" ? "empty text" : describeKind(value)}`,
    );
  }
  assertShortText(what, value);
}

/** Throws a `TypeError` unless `value` is text, a `RangeError` when it is longer than an AMQP short string: 255 bytes of UTF-8. */
export function assertShortText(what: string, value: unknown): asserts value is string {
  if (typeof value !== "string") {
    throw new TypeError(`Cannot use ${what}: it must be text, found ${describeKind(value)}`);
  }
  if (value.length <= 85) return;
  const bytes = new TextEncoder().encode(value).byteLength;
  if (bytes > 255) throw new RangeError(`Cannot use ${what}: it must fit 255 bytes of UTF-8, found ${bytes}`);
}

/** What can hold nothing more as it is, and of anything else what it is. */
function describeNumber(value: unknown): string {
  return typeof value === "object" || typeof value === "function" ? describeKind(value) : String(value);
}
