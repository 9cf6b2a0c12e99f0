/**
 * SHA-256 of payloads.
 *
 * @module
 */

import { DecodeError } from "../errors.ts";

/** Of bytes that are there, as 64 hexadecimal digits. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A payload in a store is not the one that was kept there. */
export function otherPayload(): DecodeError {
  return new DecodeError("Cannot read the payload: it is not the one that was kept, by its digest");
}
