/**
 * What can be the key of a claim.
 *
 * @module
 */

import { FatalError } from "../../src/errors.ts";

/** The width of the column, characters. */
const LONGEST_ID = 255;

/**
 * Refuses an id the table cannot keep as it is. Always a text: SQLite does not compare bytes with a text, so one key would be two.
 *
 * @throws {FatalError} trying again cannot help: the message is rejected
 */
export function assertClaimId(id: unknown): asserts id is string {
  const fault = faultOf(id);
  if (fault !== undefined) throw new FatalError(`Cannot claim a message: its id ${fault}`);
}

function faultOf(id: unknown): string | undefined {
  if (typeof id !== "string") return `must be a text, not ${id instanceof Uint8Array ? "bytes" : typeof id}`;
  if (id === "") return "is empty";
  // Characters are counted only where there may be too many: never more than code units.
  const length = id.length > LONGEST_ID ? [...id].length : id.length;
  if (length > LONGEST_ID) return `has ${length} characters, and ${LONGEST_ID} can be kept`;
  // PostgreSQL keeps no NUL, and half a character becomes the same replacement for every half.
  if (id.includes("\0")) return "has a NUL character, which a database does not keep";
  return /\p{Surrogate}/u.test(id) ? "has half a character in it, which a database does not keep" : undefined;
}
