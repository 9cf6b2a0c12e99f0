/**
 * A value as JSON text, or an error for what JSON cannot hold faithfully.
 *
 * `JSON.stringify` does the writing; a walk before it finds what it would change silently. Only a value with a `bigint`, bytes or
 * a `toJSON` of its own is written by hand.
 *
 * @module
 */

import { EncodeError } from "../errors.ts";
import { encodeBase64 } from "../internal/base64.ts";
import { bytesOf, classOf, isBytes, objectKind, placeOf, type Trail } from "../internal/payload_value.ts";

/** The JSON text of a value. */
export function jsonText(value: unknown, maxDepth: number): string {
  return inspect(value, [], 0, maxDepth) ? JSON.stringify(value) : write(value, "");
}

/** Whether `JSON.stringify` writes the value faithfully; throws for what JSON cannot hold. `left` is how many levels it may have. */
function inspect(value: unknown, trail: Trail, depth: number, left: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      if (!Number.isFinite(value)) throw refusal(trail, depth, String(value));
      return true;
    case "bigint":
      return false;
    case "object":
      return value === null || inspectObject(value, trail, depth, left);
    default:
      throw refusal(trail, depth, typeof value);
  }
}

function inspectObject(value: object, trail: Trail, depth: number, left: number): boolean {
  const kind = objectKind(value);
  if (kind === "date") {
    if (Number.isNaN((value as Date).getTime())) throw refusal(trail, depth, "an invalid Date");
    return true;
  }
  if (kind === "bytes") return false;
  if (left === 0) {
    throw new EncodeError(`Cannot write the payload as JSON: it is nested too deeply at ${placeOf(trail, depth)}`);
  }
  switch (kind) {
    case "replaced":
      inspect((value as { toJSON(key: string): unknown }).toJSON(""), trail, depth, left - 1);
      return false;
    case "list":
      return inspectList(value as readonly unknown[], trail, depth, left - 1);
    case "opaque":
      throw refusal(trail, depth, `an instance of ${classOf(value)}`);
    case "record":
      return inspectMembers(value as Record<string, unknown>, trail, depth, left - 1);
  }
}

function inspectList(list: readonly unknown[], trail: Trail, depth: number, left: number): boolean {
  let isPlain = true;
  for (let index = 0; index < list.length; index++) {
    const item = list[index];
    if (typeof item === "string") continue;
    trail[depth] = ~index;
    if (!inspect(item, trail, depth + 1, left)) isPlain = false;
  }
  return isPlain;
}

function inspectMembers(object: Record<string, unknown>, trail: Trail, depth: number, left: number): boolean {
  let isPlain = true;
  let position = 0;
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (member !== undefined && typeof member !== "string") {
      trail[depth] = position;
      if (!inspect(member, trail, depth + 1, left)) isPlain = false;
    }
    position++;
  }
  return isPlain;
}

/** Only called on what {@linkcode inspect} has passed. */
function write(value: unknown, key: string): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null || value instanceof Date) return JSON.stringify(value);
  if (isBytes(value)) return `"${encodeBase64(bytesOf(value))}"`;
  if ("toJSON" in value && typeof value.toJSON === "function") return write(value.toJSON(key), key);
  if (Array.isArray(value)) return `[${value.map((item, index) => write(item, String(index))).join(",")}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member, name)}`).join(",")}}`;
}

function refusal(trail: Trail, depth: number, found: string): EncodeError {
  return new EncodeError(`Cannot write the payload as JSON: found ${found} at ${placeOf(trail, depth)}`);
}
