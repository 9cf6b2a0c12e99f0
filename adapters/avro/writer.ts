/**
 * What writes the values of one schema, and tells which they are.
 *
 * @module
 */

import type { ByteWriter } from "./byte_writer.ts";

/** Made of a schema once. */
export interface Writer {
  /** Whether a value looks like one of this schema: quick, and without a look inside. */
  readonly may: (value: unknown) => boolean;
  /** Whether {@linkcode Writer.write} would take it; `depth` says how deep it may be nested. */
  readonly fits: (value: unknown, depth: number) => boolean;
  /** Writes it; throws a `Fault` for what is no value of this schema. */
  readonly write: (value: unknown, into: ByteWriter) => void;
}

/** The bytes of a buffer or of a view of one; undefined for anything else. */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Whether an object keeps its content in members: a `Map`, a `Date` and a `Response` do not, and would be written as if empty. */
export function isEntries(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return !isOpaque(value);
}

function isOpaque(value: object): boolean {
  return value instanceof Map || value instanceof Set || value instanceof Error || value instanceof Date ||
    value instanceof String || bytesIn(value) !== undefined || Object.keys(value).length === 0;
}
