/**
 * How the types without parts are written, and which values each of them holds.
 *
 * @module
 */

import { describeKind } from "../../src/internal/option_kinds.ts";
import { Fault } from "./fault.ts";
import type { PrimitiveKind } from "./schema.ts";
import { bytesIn, type Writer } from "./writer.ts";

const LONG_LIMIT = 2n ** 63n;

/** The largest number of 32 bits with a fraction. */
const FLOAT_LIMIT = 3.4028234663852886e38;

/** What writes this kind. */
export function primitiveWriter(kind: PrimitiveKind): Writer {
  const { may, fits, write, wanted } = KINDS[kind];
  return {
    may,
    fits,
    write: (value, into) => {
      if (!fits(value)) throw new Fault(`it must be ${wanted}, found ${found(value, may(value))}`);
      write(value as never, into);
    },
  };
}

interface Kind {
  readonly may: (value: unknown) => boolean;
  readonly fits: (value: unknown) => boolean;
  readonly write: (value: never, into: Parameters<Writer["write"]>[1]) => void;
  readonly wanted: string;
}

const KINDS: Readonly<Record<PrimitiveKind, Kind>> = {
  null: { may: isNull, fits: isNull, write: () => {}, wanted: "null" },
  boolean: {
    may: isBoolean,
    fits: isBoolean,
    write: (value: boolean, into) => into.boolean(value),
    wanted: "true or false",
  },
  int: {
    may: isNumber,
    fits: isInt,
    write: (value: number, into) => into.whole(value),
    wanted: "a whole number of 32 bits",
  },
  long: {
    may: (value) => typeof value === "number" || typeof value === "bigint",
    fits: isLong,
    write: (value: number | bigint, into) => typeof value === "bigint" ? into.big(value) : into.whole(value),
    wanted: "a whole number of 64 bits, as a bigint beyond 2^53",
  },
  float: {
    may: isNumber,
    fits: isFloat,
    write: (value: number, into) => into.float(value),
    wanted: "a number in the range of 32 bits",
  },
  double: { may: isNumber, fits: isNumber, write: (value: number, into) => into.double(value), wanted: "a number" },
  string: {
    may: (value) => typeof value === "string",
    fits: isText,
    write: (value: string, into) => into.text(value),
    wanted: "text without half a surrogate pair",
  },
  bytes: {
    may: isBytes,
    fits: isBytes,
    write: (value: unknown, into) => into.byteString(bytesIn(value) as Uint8Array),
    wanted: "bytes",
  },
};

function isNull(value: unknown): boolean {
  return value === null;
}

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}

function isInt(value: unknown): boolean {
  return typeof value === "number" && (value | 0) === value;
}

function isLong(value: unknown): boolean {
  return typeof value === "bigint" ? value >= -LONG_LIMIT && value < LONG_LIMIT : Number.isSafeInteger(value);
}

/** A fraction is rounded, as the type has it; only what would become infinite is refused. */
function isFloat(value: unknown): boolean {
  return typeof value === "number" && !(Number.isFinite(value) && Math.abs(Math.fround(value)) > FLOAT_LIMIT);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.isWellFormed();
}

function isBytes(value: unknown): boolean {
  return bytesIn(value) !== undefined;
}

/** What a value is, and nothing of what it says. */
function found(value: unknown, isOfKind: boolean): string {
  return isOfKind ? `another ${typeof value}` : describeKind(value);
}
