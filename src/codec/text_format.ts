/**
 * What the text-based formats share: bodies are UTF-8, strictly (contract codecs 1.2, 1.4).
 *
 * @module
 */

import { DecodeError } from "../errors.ts";
import { parseContentType } from "./content_type.ts";

const UTF8_NAMES: readonly string[] = ["utf-8", "utf8", "us-ascii"];

/**
 * The text of a structured body, without a byte order mark.
 *
 * @throws {DecodeError} an empty body, another charset, bytes that are no UTF-8
 */
export function structuredText(format: string, body: Uint8Array, contentType: string | undefined): string {
  const charset = parseContentType(contentType)?.charset;
  if (charset !== undefined && !UTF8_NAMES.includes(charset)) {
    throw new DecodeError(`Cannot read the body as ${format}: its charset must be utf-8, found ${charset}`);
  }
  if (body.byteLength === 0) throw new DecodeError(`Cannot read the body as ${format}: it is empty`);
  return decodeText(format, body, "utf-8");
}

/** Bytes as text in a named charset, strictly. */
export function decodeText(format: string, body: Uint8Array, charset: string): string {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    throw new DecodeError(`Cannot read the body as ${format}: its charset is unknown, found ${charset}`);
  }
  try {
    return decoder.decode(body);
  } catch {
    throw new DecodeError(`Cannot read the body as ${format}: its bytes are not valid ${charset}`);
  }
}
