/**
 * The values of an AMQP header table as they cross the wire.
 *
 * Plain JavaScript values stand for the kinds most programs use. The classes here stand for the others, so that whatever
 * arrives can leave again as the same kind with the same value:
 *
 * | JavaScript | AMQP kind read | AMQP kind written |
 * |---|---|---|
 * | `string` | long string `S` | `S` |
 * | `boolean` | `t` | `t` |
 * | whole `number` | `b B s u I i l` inside 2^53 | `I` where it fits 32 bits, else `l` |
 * | fraction (`number`) | | double `d` |
 * | `bigint` | `l` beyond 2^53 | `l` |
 * | `Date` | timestamp `T`, whole seconds | `T` |
 * | `Uint8Array` | byte array `x` | `x` |
 * | `null` | void `V` | `V` |
 * | array, plain object | `A`, `F` | `A`, `F` |
 * | {@linkcode WireDouble} | `f d` | `d` |
 * | {@linkcode WireDecimal} | `D` | `D` |
 * | {@linkcode WireUnsigned} | `L` from 2^63 | `L` |
 * | {@linkcode WireTimestamp} | `T` outside the range of a `Date` | `T` |
 * | {@linkcode WireText} | `S` that is no valid UTF-8 | `S` |
 * | {@linkcode WireNested} | `A`, `F` nested beyond reason | `A`, `F` |
 *
 * @module
 */

/** One value of a header table. */
export type WireValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Uint8Array
  | WireDouble
  | WireDecimal
  | WireUnsigned
  | WireTimestamp
  | WireText
  | WireNested
  | WireArray
  | WireTable;

/** A list of values, nested to any depth. */
export type WireArray = readonly WireValue[];

/** A header table: names to values. Names are opaque; `__proto__` is a name like another. */
export interface WireTable {
  /** The value under a name, with its wire kind. */
  readonly [name: string]: WireValue;
}

/** A floating-point number that arrived, kept apart from whole numbers so that 2.0 stays a double. */
export class WireDouble {
  /** The number; a 32-bit one arrives as the 64-bit one of the same value. */
  readonly value: number;

  /** Any number, NaN and the infinities included. */
  constructor(value: number) {
    this.value = value;
  }
}

/** An AMQP decimal: `unscaled` divided by ten to the power of `scale`. */
export class WireDecimal {
  /** Digits after the point, 0 to 255. */
  readonly scale: number;
  /** Signed 32-bit. */
  readonly unscaled: number;

  /** The digits after the point first, as on the wire. */
  constructor(scale: number, unscaled: number) {
    this.scale = scale;
    this.unscaled = unscaled;
  }

  /** The decimal as text, digit for digit: scale 2 and unscaled 1234 is `12.34`, scale 0 and 400 is `400`. */
  toString(): string {
    if (this.scale === 0) return String(this.unscaled);
    const digits = String(Math.abs(this.unscaled)).padStart(this.scale + 1, "0");
    const point = digits.length - this.scale;
    return `${this.unscaled < 0 ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
  }
}

/** An unsigned 64-bit integer of 2^63 or more: below that it is a `number` or a `bigint`. */
export class WireUnsigned {
  /** From 2^63 to 2^64 - 1. */
  readonly value: bigint;

  /** Not checked here: what does not fit is refused when it is written. */
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A timestamp no `Date` can hold. */
export class WireTimestamp {
  /** Since 1970, signed. */
  readonly seconds: bigint;

  /** Whole seconds; the wire has no fraction of them. */
  constructor(seconds: bigint) {
    this.seconds = seconds;
  }
}

/** A long string whose bytes are not valid UTF-8. */
export class WireText {
  /** The text, undecoded. */
  readonly bytes: Uint8Array;

  /** Takes the bytes over: nobody else may write to them. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/**
 * A table or a list that nests too deep to be taken apart safely. It goes on as it came; nobody looks into it, and an application
 * sees null in its place.
 */
export class WireNested {
  /** What the bytes are. */
  readonly kind: "table" | "array";
  /** The encoded contents, without their length. */
  readonly bytes: Uint8Array;

  /** Takes the bytes over: nobody else may write to them. */
  constructor(kind: "table" | "array", bytes: Uint8Array) {
    this.kind = kind;
    this.bytes = bytes;
  }
}

/** Whether a value is a nested table. */
export function isWireTable(value: WireValue): value is WireTable {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isScalarObject(value);
}

/** Sets a name of a table under construction as an own property, also when the name is `__proto__`. */
export function setEntry<T>(table: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__") {
    Object.defineProperty(table, name, { value, enumerable: true, configurable: true, writable: true });
  } else table[name] = value;
}

function isScalarObject(value: object): boolean {
  return value instanceof Uint8Array || value instanceof Date || value instanceof WireDouble ||
    value instanceof WireDecimal || value instanceof WireUnsigned || value instanceof WireTimestamp ||
    value instanceof WireText || value instanceof WireNested;
}
