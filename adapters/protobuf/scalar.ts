/**
 * What a field of each scalar type can hold. The library converts what it is given without a word: `true` from "no", "17" from 17.
 *
 * @module
 */

import type { ScalarType } from "@bufbuild/protobuf";

/** What a scalar must be, in words, and whether a value is that. */
export interface ScalarRule {
  readonly wanted: string;
  readonly fits: (value: unknown) => boolean;
}

/** The largest number that 32 bits round to. */
const LARGEST_FLOAT = 3.4028235677973366e38;

/** The rule of a scalar type, by its number in `FieldDescriptorProto.Type`. */
export function scalarRule(type: ScalarType): ScalarRule {
  switch (type) {
    case 1: // double
      return { wanted: "a number", fits: (value) => typeof value === "number" };
    case 2: // float
      return { wanted: "a number of 32 bits", fits: isFloat };
    case 3: // int64
    case 16: // sfixed64
    case 18: // sint64
      return longRule("a 64-bit integer", -(2n ** 63n), 2n ** 63n - 1n);
    case 4: // uint64
    case 6: // fixed64
      return longRule("an unsigned 64-bit integer", 0n, 2n ** 64n - 1n);
    case 5: // int32
    case 15: // sfixed32
    case 17: // sint32
      return integerRule("a 32-bit integer", -(2 ** 31), 2 ** 31 - 1);
    case 7: // fixed32
    case 13: // uint32
      return integerRule("an unsigned 32-bit integer", 0, 2 ** 32 - 1);
    case 8: // bool
      return { wanted: "true or false", fits: (value) => typeof value === "boolean" };
    case 9: // string
      return {
        wanted: "text without half a surrogate pair",
        fits: (value) => typeof value === "string" && value.isWellFormed(),
      };
    case 12: // bytes
      return { wanted: "a Uint8Array", fits: (value) => value instanceof Uint8Array };
    default:
      throw new TypeError(`Cannot use a message type with a field of the unknown scalar type ${type}`);
  }
}

function isFloat(value: unknown): boolean {
  return typeof value === "number" && (!Number.isFinite(value) || Math.abs(value) < LARGEST_FLOAT);
}

function integerRule(wanted: string, least: number, most: number): ScalarRule {
  return {
    wanted,
    fits: (value) => typeof value === "number" && Number.isInteger(value) && value >= least && value <= most,
  };
}

/** As a `bigint`, a number that is exact, or text of digits: all of them are asked for by one generator's option or another. */
function longRule(wanted: string, least: bigint, most: bigint): ScalarRule {
  const isWithin = (value: bigint): boolean => value >= least && value <= most;
  return {
    wanted,
    fits: (value) => {
      if (typeof value === "bigint") return isWithin(value);
      if (typeof value === "number") return Number.isSafeInteger(value) && isWithin(BigInt(value));
      return typeof value === "string" && /^-?\d{1,20}$/.test(value) && isWithin(BigInt(value));
    },
  };
}
