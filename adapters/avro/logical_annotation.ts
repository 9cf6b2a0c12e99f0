/**
 * The `logicalType` of a schema. One that makes no sense where it stands is left alone, as the specification asks (Avro 1.11, "Logical
 * types").
 *
 * @module
 */

import type { FixedType, LogicalType, PrimitiveKind } from "./schema.ts";

/** A type that can have a logical type. */
type Underneath = PrimitiveKind | FixedType["kind"];

/** What the types of the specification stand on; a name that is not here may stand on anything. */
const UNDERNEATH: Readonly<Record<string, readonly Underneath[]>> = {
  "date": ["int"],
  "time-millis": ["int"],
  "time-micros": ["long"],
  "timestamp-millis": ["long"],
  "timestamp-micros": ["long"],
  "decimal": ["bytes", "fixed"],
  "uuid": ["string", "fixed"],
};

/** The annotation of a schema of this kind, where there is one that counts. */
export function logicalOf(
  json: Readonly<Record<string, unknown>>,
  kind: Underneath,
  size: number | undefined,
): LogicalType | undefined {
  const { logicalType: name, precision = 0, scale = 0 } = json;
  if (typeof name !== "string" || !isWhole(precision) || !isWhole(scale)) return undefined;
  const allowed = Object.hasOwn(UNDERNEATH, name) ? UNDERNEATH[name] : undefined;
  if (allowed?.includes(kind) === false) return undefined;
  if (name === "decimal" && (precision === 0 || scale > precision)) return undefined;
  if (name === "uuid" && size !== undefined && size !== 16) return undefined;
  return { name, precision, scale, size };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
