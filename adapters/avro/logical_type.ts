/**
 * What a logical type makes of the raw value underneath; used only where a codec is told to (Avro 1.11, "Logical types").
 *
 * @module
 */

import { describeKind } from "../../src/internal/option_kinds.ts";
import type { LogicalType } from "./schema.ts";

/** Converts between a raw value and another one. Both may throw: then the value does not fit, or the body is refused. */
export interface LogicalConverter {
  /** What a handler gets of the raw value. */
  readonly read: (raw: unknown, type: LogicalType) => unknown;
  /** The raw value; undefined for a value that is none of this type. */
  readonly write: (value: unknown, type: LogicalType) => unknown;
}

/** Converters by the name of their logical type. A type without one stays raw. */
export type LogicalTypes = Readonly<Record<string, LogicalConverter>>;

/** The converter of a type, where it has one. */
export function converterOf(types: LogicalTypes, logical: LogicalType | undefined): LogicalConverter | undefined {
  return logical !== undefined && Object.hasOwn(types, logical.name) ? types[logical.name] : undefined;
}

/** Throws a `TypeError` unless every member is a converter. */
export function assertLogicalTypes(types: unknown): asserts types is LogicalTypes {
  if (typeof types !== "object" || types === null || Array.isArray(types)) throw wrong(describeKind(types));
  for (const converter of Object.values(types) as unknown[]) {
    if (typeof converter !== "object" || converter === null) throw wrong(`${describeKind(converter)} in it`);
    const { read, write } = converter as { readonly read?: unknown; readonly write?: unknown };
    if (typeof read !== "function" || typeof write !== "function") throw wrong("one without them");
  }
}

function wrong(found: string): TypeError {
  return new TypeError(
    `Cannot use option 'logicalTypes': it must be an object of converters with read and write, found ${found}`,
  );
}
