/**
 * How many bytes a value of a schema takes at least: what a count of items is held against before anything is made for them.
 *
 * @module
 */

import type { AvroType, RecordType } from "./schema.ts";

/** Bytes of the shortest value. */
export function minimumSize(type: AvroType): number {
  return sizeOf(type, []);
}

function sizeOf(type: AvroType, inside: readonly RecordType[]): number {
  switch (type.kind) {
    case "null":
      return 0;
    case "float":
      return 4;
    case "double":
      return 8;
    case "fixed":
      return type.size;
    case "union":
      return 1 + Math.min(...type.branches.map((branch) => sizeOf(branch, inside)));
    case "record":
      return recordSize(type, inside);
    default:
      return 1;
  }
}

/** A record that can be within itself ends somewhere, so what mentions it again adds nothing. */
function recordSize(type: RecordType, inside: readonly RecordType[]): number {
  if (inside.includes(type)) return 0;
  const within = [...inside, type];
  return type.fields.reduce((sum, field) => sum + sizeOf(field.type, within), 0);
}
