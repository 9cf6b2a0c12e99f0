/**
 * Names of queues and exchanges, routing keys and other short texts, as they come over the wire.
 *
 * @module
 */

import { utf8Length } from "../../src/internal/bytes.ts";
import { fitsShortText, UnwritableError } from "./wire_hop.ts";

/** Why a text cannot be sent as a short one; undefined when it can. */
export function problemOfShortText(text: string): string | undefined {
  if (fitsShortText(text)) return undefined;
  return text.isWellFormed() ? `must fit 255 bytes of UTF-8, found ${utf8Length(text)}` : "holds half a surrogate pair";
}

/** Throws an {@linkcode UnwritableError} for a text that cannot be sent as a short one. */
export function assertWritable(text: string): void {
  const problem = problemOfShortText(text);
  if (problem !== undefined) throw new UnwritableError(problem);
}

/** The name that is meant where something is declared, asked for, bound or deleted: the broker takes line breaks out of it there. */
export function nameAfterHop(name: string): string {
  assertWritable(name);
  return name.replaceAll(/[\r\n]/g, "");
}
