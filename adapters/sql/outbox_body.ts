/**
 * Bodies in a column of text (contract patterns 5.3): as they are where they are text, as base64 where they are not.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import { decodeBase64, encodeBase64 } from "../../src/internal/base64.ts";
import { strictUtf8 } from "../../src/internal/bytes.ts";

/** A body as two columns hold it. */
export interface StoredBody {
  readonly text: string;
  readonly encoding: "utf-8" | "base64";
}

/** The text of a body, where it is one a database keeps: PostgreSQL has no NUL in a text. */
export function textOfBody(body: Uint8Array): string | undefined {
  return body.includes(0) ? undefined : strictUtf8(body);
}

/** Writes a body. */
export function storeBody(body: Uint8Array): StoredBody {
  const text = textOfBody(body);
  return text === undefined ? { text: encodeBase64(body), encoding: "base64" } : { text, encoding: "utf-8" };
}

/**
 * Reads a body: bytes where the database was asked for them, else text.
 *
 * @throws {DecodeError} an encoding nobody writes, or a text that is not in it
 */
export function readBody(body: unknown, encoding: string): Uint8Array {
  const kind = encoding.toLowerCase();
  if (kind === "utf-8") return bytesOf(body);
  const bytes = kind === "base64" ? decodeBase64(new TextDecoder().decode(bytesOf(body))) : undefined;
  if (bytes !== undefined) return bytes;
  throw new DecodeError(
    kind === "base64"
      ? "Cannot read the body: it is not base64, as its encoding says"
      : `Cannot read the body: its encoding must be utf-8 or base64, found ${JSON.stringify(encoding.slice(0, 40))}`,
  );
}

/** The bytes of a column, whichever kind the driver gives. */
export function bytesOf(value: unknown): Uint8Array {
  // Not the driver's own: a `Buffer` behaves otherwise in places, and may be a window on a larger one.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value === "string") return new TextEncoder().encode(value);
  throw new DecodeError(`Cannot read the body: bytes or text is wanted, the driver gave ${typeof value}`);
}
