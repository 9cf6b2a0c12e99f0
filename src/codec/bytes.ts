/**
 * The bytes codec (contract codecs 2.3).
 *
 * @module
 */

import { EncodeError } from "../errors.ts";
import type { Codec } from "../ports/codec.ts";

/** What the bytes codec writes; it always reads a `Uint8Array`. */
export type BytesPayload = Uint8Array | ArrayBuffer | ArrayBufferView | string;

/**
 * Bytes as they are, as `application/octet-stream`; reads every body, whatever its content type. Text is written as UTF-8.
 *
 * For replay tools, relays and reapers; in a composite it must come last, since it claims everything.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { bytesCodec } from "@acemq/amqp/core";
 *
 * const codec = bytesCodec();
 * const { body } = await codec.encode(new Uint8Array([1, 2, 255]));
 * assert.deepEqual(await codec.decode(body, {}), new Uint8Array([1, 2, 255]));
 * ```
 */
export function bytesCodec(): Codec<BytesPayload, Uint8Array> {
  const encoder = new TextEncoder();
  return {
    contentType: "application/octet-stream",
    canDecode: () => true,
    encode: (payload) => ({ body: typeof payload === "string" ? encoder.encode(whole(payload)) : copyOf(payload) }),
    // Not `slice`: that of a Node Buffer shares its memory.
    decode: (body) => new Uint8Array(body),
  };
}

function whole(text: string): string {
  if (text.isWellFormed()) return text;
  throw new EncodeError("Cannot write the payload as bytes: it holds half a surrogate pair");
}

function copyOf(payload: unknown): Uint8Array {
  if (ArrayBuffer.isView(payload)) {
    return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength).slice();
  }
  if (payload instanceof ArrayBuffer) return new Uint8Array(payload.slice(0));
  throw new EncodeError(
    `Cannot write the payload as bytes: it must be bytes or text, found ${payload === null ? "null" : typeof payload}`,
  );
}
