/**
 * Whether the numbers of a TOML document fit a double: the library takes one that is beyond it for an infinity.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import { valuesLike } from "./bare_values.ts";

const NUMBER = /0[xob][\da-fA-F_]+|[-+]?[\d_]+(?:\.[\d_]+)?(?:[eE][-+]?[\d_]+)?/;

/** Throws a `DecodeError` for one that does not. The text is a valid document otherwise. */
export function assertNumbersFit(text: string): void {
  for (const [number] of valuesLike(text, NUMBER)) {
    if (Number.isFinite(Number(number.replaceAll("_", "")))) continue;
    throw new DecodeError("Cannot read the body as TOML: a number in it is beyond what a double holds");
  }
}
