/**
 * A key and its name (contract codecs 2.9).
 *
 * @module
 */

import { SecurityError } from "../errors.ts";
import { decodeBase64 } from "../internal/base64.ts";
import { utf8Length } from "../internal/bytes.ts";
import { describeKind } from "../internal/option_kinds.ts";

/** What AES takes: 128, 192 and 256 bits. */
const KEY_BYTES: readonly number[] = [16, 24, 32];

/** The length stands in one byte of the frame. */
const LONGEST_ID_BYTES = 255;

/** What keys are for. */
export const ALGORITHM = "AES-GCM";

/**
 * A key of AES-GCM under the name that stands in the clear in front of what it seals. Shows nothing but its name, whatever prints it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { EncryptionKey, keyFromBase64 } from "@acemq/amqp/core";
 *
 * const key = new EncryptionKey("2026-01", keyFromBase64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="));
 * assert.equal(JSON.stringify(key), '{"id":"2026-01"}');
 * ```
 */
export class EncryptionKey {
  /** Its name. */
  readonly id: string;
  #bytes: Uint8Array<ArrayBuffer> | undefined;
  #imported: Promise<CryptoKey> | undefined;

  /**
   * Gives a key its name. The bytes are copied.
   *
   * @param id 1 to 255 bytes of UTF-8 without NUL; everybody who sees a message can read it
   * @param bytes 16, 24 or 32 of them, as they are: nothing is padded and nothing is hashed
   * @throws {TypeError} an id that is no text, or a key that is no bytes
   * @throws {RangeError} an id or a key of another length
   */
  constructor(id: string, bytes: Uint8Array) {
    assertKeyId(id);
    if (!(bytes instanceof Uint8Array)) {
      // A key as text is never shown.
      throw new TypeError(`Cannot use the key "${id}": it must be bytes, found ${describeKind(bytes)}`);
    }
    if (!KEY_BYTES.includes(bytes.byteLength)) {
      throw new RangeError(`Cannot use the key "${id}": it must be of 16, 24 or 32 bytes, found ${bytes.byteLength}`);
    }
    this.id = id;
    this.#bytes = new Uint8Array(bytes);
  }

  /**
   * The key as the runtime has it, which gives it to nobody.
   *
   * @throws {SecurityError} the runtime takes no key of this length: those in browsers take none of 192 bits
   */
  cryptoKey(): Promise<CryptoKey> {
    return this.#imported ??= this.#import();
  }

  async #import(): Promise<CryptoKey> {
    const bytes = this.#bytes as Uint8Array<ArrayBuffer>;
    try {
      const key = await crypto.subtle.importKey("raw", bytes, ALGORITHM, false, ["encrypt", "decrypt"]);
      bytes.fill(0);
      this.#bytes = undefined;
      return key;
    } catch (error) {
      this.#imported = undefined;
      const bits = 8 * bytes.byteLength;
      throw new SecurityError(`Cannot use the key "${this.id}": this runtime takes no AES key of ${bits} bits`, {
        cause: error,
      });
    }
  }
}

/**
 * The bytes of a key as base64 has them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { keyFromBase64 } from "@acemq/amqp/core";
 *
 * assert.equal(keyFromBase64("AAECAwQFBgcICQoLDA0ODw==").byteLength, 16);
 * ```
 *
 * @throws {TypeError} text that is no base64. What was found is in no error: it may be the key.
 */
export function keyFromBase64(text: string): Uint8Array {
  const bytes = typeof text === "string" ? decodeBase64(text) : undefined;
  if (bytes !== undefined) return bytes;
  throw new TypeError("Cannot read the key: it must be base64 of the standard alphabet");
}

/** Throws unless the text can name a key. */
export function assertKeyId(id: unknown): asserts id is string {
  if (typeof id !== "string") throw new TypeError(`Cannot name a key: its id must be text, found ${describeKind(id)}`);
  if (id === "") throw new RangeError("Cannot name a key: its id must not be empty");
  if (!id.isWellFormed()) throw new RangeError("Cannot name a key: its id holds half a surrogate pair");
  if (id.includes("\0")) throw new RangeError("Cannot name a key: its id holds NUL");
  const length = utf8Length(id);
  if (length <= LONGEST_ID_BYTES) return;
  throw new RangeError(`Cannot name a key: its id must be of ${LONGEST_ID_BYTES} bytes at most, found ${length}`);
}
