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

/** The bytes of base64 text, which may have line breaks in it; undefined when it is none. */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
