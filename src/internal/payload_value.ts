/**
 * What the text formats have in common when they write: which objects they can hold, and how a place in a payload is told.
 *
 * @module
 */

/**
 * An object of a payload, as a format of texts, numbers, lists and records sees it. `replaced`: it says itself what stands for it, by
 * `toJSON`. `opaque`: its content is not in its members, so writing those would lose it without a word.
 */
export type ObjectKind = "date" | "bytes" | "replaced" | "list" | "record" | "opaque";

/** What kind of object this is. */
export function objectKind(value: object): ObjectKind {
  if (Array.isArray(value)) return isReplaced(value) ? "replaced" : "list";
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  if (!isPlain) {
    if (value instanceof Date) return "date";
    if (isBytes(value)) return "bytes";
  }
  if (isReplaced(value)) return "replaced";
  return isPlain || !isOpaque(value) ? "record" : "opaque";
}

/** Whether the object is bytes: a view of a buffer, or a buffer. */
export function isBytes(value: object): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** The bytes of such an object, shared with it. */
export function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  return value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** The name the program gave the class; what stands in the object under `constructor` is payload. */
export function classOf(value: object): string {
  const constructor: unknown = Object.getPrototypeOf(value)?.constructor;
  return typeof constructor === "function" && constructor.name !== "" ? constructor.name : "a class";
}

/** The way to a value, one number a level: the position of a member, and of an item the complement of its index. */
export type Trail = number[];

/**
 * Where a value stands, told by counting: a member's name is as much the payload's as its value.
 *
 * @param depth how many steps of the trail lead to it
 */
export function placeOf(trail: Readonly<Trail>, depth: number): string {
  if (depth === 0) return "the top";
  const steps = trail.slice(0, depth).map((at) => at < 0 ? `item ${~at}` : `member ${at}`);
  return `${steps.join(", ").slice(0, 200)} (counted from 0)`;
}

function isReplaced(value: object): value is { toJSON(key: string): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

/** An error, a map or the like; and an instance without any members of its own, a `Response` for one. */
function isOpaque(value: object): boolean {
  return value instanceof Map || value instanceof Set || value instanceof Error || value instanceof String ||
    Object.keys(value).length === 0;
}
