/**
 * The frame of a sealed body (contract codecs 2.9): `AE 01`, the key's id with its length, a nonce, the ciphertext and its tag.
 *
 * @module
 */

import { DecodeError } from "../errors.ts";
import { strictUtf8 } from "../internal/bytes.ts";

/** What a sealed body says of itself, whatever is in it. */
export const ENCRYPTED_CONTENT_TYPE = "application/vnd.acemq.encrypted";

/** Bytes of a nonce. */
export const NONCE_BYTES = 12;

const MAGIC = 0xae;
const VERSION = 0x01;
const TAG_BYTES = 16;

/** Before the id: the magic, the version and the id's length. */
const PREFIX_BYTES = 3;

/** What the frames of Go and .NET up to 0.3.0 begin with. */
const RETIRED = 0x01;

/** A sealed body, taken apart. */
export interface SealedFrame {
  readonly keyId: string;
  /** Everything in front of the nonce: it is authenticated. */
  readonly header: Uint8Array<ArrayBuffer>;
  readonly nonce: Uint8Array<ArrayBuffer>;
  /** The ciphertext with its tag. */
  readonly sealed: Uint8Array<ArrayBuffer>;
}

/** The frame's beginning for a key. The id is one that {@linkcode assertKeyId} takes. */
export function frameHeader(keyId: string): Uint8Array<ArrayBuffer> {
  const id = new TextEncoder().encode(keyId);
  const header = new Uint8Array(PREFIX_BYTES + id.byteLength);
  header.set([MAGIC, VERSION, id.byteLength]);
  header.set(id, PREFIX_BYTES);
  return header;
}

/** Puts a frame together. */
export function joinFrame(
  header: Uint8Array<ArrayBuffer>,
  nonce: Uint8Array<ArrayBuffer>,
  sealed: ArrayBuffer,
): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(header.byteLength + nonce.byteLength + sealed.byteLength);
  body.set(header);
  body.set(nonce, header.byteLength);
  body.set(new Uint8Array(sealed), header.byteLength + nonce.byteLength);
  return body;
}

/**
 * Takes a body apart.
 *
 * @throws {DecodeError} it is no such frame, or one that was cut off
 */
export function splitFrame(body: Uint8Array): SealedFrame {
  if (body[0] === RETIRED) {
    throw new DecodeError(
      "Cannot open the body: it was not written by an encrypting codec of today. It begins with 01 as the frames do that the Go and .NET libraries wrote up to 0.3.0, which are retired: their own libraries still read them",
    );
  }
  const keyId = keyIdOf(body);
  if (keyId === null) {
    throw new DecodeError(
      "Cannot open the body: it was not written by an encrypting codec. Wanted are AE 01, the length of a key's id, and the id",
    );
  }
  const headerBytes = headerLength(body);
  const shortest = headerBytes + NONCE_BYTES + TAG_BYTES;
  if (body.byteLength < shortest) {
    throw new DecodeError(
      `Cannot open the body: it is cut off. It takes ${shortest} bytes at least, found ${body.byteLength}`,
    );
  }
  const whole = ownBytes(body);
  return {
    keyId,
    header: whole.subarray(0, headerBytes),
    nonce: whole.subarray(headerBytes, headerBytes + NONCE_BYTES),
    sealed: whole.subarray(headerBytes + NONCE_BYTES),
  };
}

/**
 * The name of the key that a body was sealed with, for whoever looks at a message and has no key; null when it is no sealed body.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { keyIdOf } from "@acemq/amqp/core";
 *
 * assert.equal(keyIdOf(new TextEncoder().encode('{"orderId":"A-19"}')), null);
 * assert.equal(keyIdOf(new Uint8Array([0xae, 0x01, 0x01, 0x6b])), "k");
 * ```
 */
export function keyIdOf(body: Uint8Array): string | null {
  if (body[0] !== MAGIC || body[1] !== VERSION) return null;
  const end = headerLength(body);
  if (end === PREFIX_BYTES || body.byteLength < end) return null;
  const id = strictUtf8(body.subarray(PREFIX_BYTES, end));
  return id === undefined || id.includes("\0") ? null : id;
}

function headerLength(body: Uint8Array): number {
  return PREFIX_BYTES + (body[2] ?? 0);
}

/** Memory that is shared with other threads could change while it is looked at, and no runtime takes it. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? bytes as Uint8Array<ArrayBuffer> : new Uint8Array(bytes);
}
