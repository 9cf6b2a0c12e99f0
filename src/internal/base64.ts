/**
 * Base64 as JSON bodies carry bytes: the standard alphabet, padded.
 *
 * @module
 */

/** Bytes per call of `String.fromCharCode`: below every runtime's limit on arguments. */
const CHUNK = 8_192;

/** Bytes as padded base64 text. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(binary);
}
