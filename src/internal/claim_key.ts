/**
 * What can be the key of a claim, wherever it is kept.
 *
 * @module
 */

import { FatalError } from "../errors.ts";

/**
 * Refuses a key that is none: every message without one would be the same message.
 *
 * @throws {FatalError} trying again cannot help: the message is rejected
 */
export function assertClaimKey(id: unknown): asserts id is string {
  if (typeof id === "string" && id !== "") return;
  throw new FatalError(`Cannot claim a message: its id ${id === "" ? "is empty" : `must be a text, not ${typeof id}`}`);
}
