/**
 * What the text-based formats share: bodies are UTF-8, strictly (contract codecs 1.2, 1.4).
 *
 * @module
 */

import { DecodeError } from "../errors.ts";
import { parseContentType } from "./content_type.ts";

/** The one that almost every body is read with; it keeps nothing from one body to the next. */
const STRICT_UTF8: TextDecoder = new TextDecoder("utf-8", { fatal: true });

const UTF8_NAMES: readonly string[] = ["utf-8", "utf8", "us-ascii"];

/** What a format asks of a body. */
export interface StructuredTextOptions {
  /** Under which the body came. */
  readonly contentType: string | undefined;
  /** Whether nothing at all is a document. @default {false} */
  readonly mayBeEmpty?: boolean;
  /** A larger body is refused unread. @default {Infinity} */
  readonly maxBodyBytes?: number;
}

/**
 * The text of a structured body, without a byte order mark.
 *
 * @throws {DecodeError} an empty body, one that is too large, another charset, bytes that are no UTF-8
 */
export function structuredText(format: string, body: Uint8Array, options: StructuredTextOptions): string {
  const { contentType, mayBeEmpty = false, maxBodyBytes = Infinity } = options;
  const charset = parseContentType(contentType)?.charset;
  if (charset !== undefined && !isUtf8(charset)) {
    throw new DecodeError(`Cannot read the body as ${format}: its charset must be utf-8, found ${charset}`);
  }
  if (body.byteLength === 0 && !mayBeEmpty) throw new DecodeError(`Cannot read the body as ${format}: it is empty`);
  if (body.byteLength > maxBodyBytes) {
    throw new DecodeError(
      `Cannot read the body as ${format}: it must have at most ${maxBodyBytes} bytes, found ${body.byteLength}`,
    );
  }
  return decodeText(format, body, "utf-8");
}

/** Whether a name of a charset, in lower case, stands for UTF-8 or what is UTF-8 as it is. */
export function isUtf8(charset: string): boolean {
  return UTF8_NAMES.includes(charset);
}

/** Bytes as text in a named charset, strictly. */
export function decodeText(format: string, body: Uint8Array, charset: string): string {
  const decoder = decoderOf(format, charset);
  try {
    return decoder.decode(body);
  } catch {
    throw new DecodeError(`Cannot read the body as ${format}: its bytes are not valid ${charset}`);
  }
}

function decoderOf(format: string, charset: string): TextDecoder {
  if (charset === "utf-8") return STRICT_UTF8;
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    throw new DecodeError(`Cannot read the body as ${format}: its charset is unknown, found ${charset}`);
  }
}
