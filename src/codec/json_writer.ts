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

/** What the walk found: text that `JSON.stringify` writes faithfully, or a value that needs {@linkcode write}. */
type Verdict = "plain" | "special";

/** The JSON text of a value. */
export function jsonText(value: unknown, maxDepth: number): string {
  return inspect(value, maxDepth, "") === "plain" ? JSON.stringify(value) : write(value, "");
}

/** `path` says where the value stands by counting: a member's name is as much the payload's as its value. */
function inspect(value: unknown, depthLeft: number, path: string): Verdict {
  switch (typeof value) {
    case "string":
    case "boolean":
      return "plain";
    case "number":
      if (!Number.isFinite(value)) throw refusal(path, String(value));
      return "plain";
    case "bigint":
      return "special";
    case "object":
      return value === null ? "plain" : inspectObject(value, depthLeft, path);
    default:
      throw refusal(path, typeof value);
  }
}

function inspectObject(value: object, depthLeft: number, path: string): Verdict {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw refusal(path, "an invalid Date");
    return "plain";
  }
  if (isBytes(value)) return "special";
  if (depthLeft === 0) {
    throw new EncodeError(`Cannot write the payload as JSON: it is nested too deeply at ${place(path)}`);
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    inspect(value.toJSON(""), depthLeft - 1, path);
    return "special";
  }
  if (Array.isArray(value)) return inspectList(value, depthLeft, path);
  if (isOpaque(value)) throw refusal(path, `an instance of ${classOf(value)}`);
  return inspectMembers(value as Record<string, unknown>, depthLeft, path);
}

function inspectList(list: readonly unknown[], depthLeft: number, path: string): Verdict {
  let verdict: Verdict = "plain";
  for (let index = 0; index < list.length; index++) {
    if (inspect(list[index], depthLeft - 1, `${path}, item ${index}`) === "special") verdict = "special";
  }
  return verdict;
}

function inspectMembers(object: Record<string, unknown>, depthLeft: number, path: string): Verdict {
  let verdict: Verdict = "plain";
  let position = 0;
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (member !== undefined && typeof member !== "string") {
      if (inspect(member, depthLeft - 1, `${path}, member ${position}`) === "special") verdict = "special";
    }
    position++;
  }
  return verdict;
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

function isBytes(value: object): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  return value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** What `JSON.stringify` would write as `{}`, or as something else than it is: its content is not in its members. */
function isOpaque(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return false;
  return value instanceof Map || value instanceof Set || value instanceof Error || value instanceof String ||
    Object.keys(value).length === 0;
}

function refusal(path: string, found: string): EncodeError {
  return new EncodeError(`Cannot write the payload as JSON: found ${found} at ${place(path)}`);
}

/** The name the program gave the class; what stands in the object under `constructor` is payload. */
function classOf(value: object): string {
  const constructor: unknown = Object.getPrototypeOf(value)?.constructor;
  return typeof constructor === "function" && constructor.name !== "" ? constructor.name : "a class";
}

function place(path: string): string {
  return path === "" ? "the top" : `${path.slice(2, 200)} (counted from 0)`;
}
