/**
 * A growing buffer that AMQP frames are written into, one after another.
 *
 * A frame that turns out not to be writable is cut off again with {@linkcode ByteWriter.truncate}: what stood before it is intact.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { Unwritable } from "./unwritable.ts";

/** An AMQP short string holds this many bytes. */
export const LONGEST_SHORT_TEXT = 255;

/** Up to here a loop over characters is faster than a call into the runtime. */
const LOOP_LENGTH = 64;

/** Writes the primitive types of AMQP 0-9-1, big-endian. */
export class ByteWriter {
  #bytes: Buffer;
  #view: DataView;
  #length = 0;
  #limit = Infinity;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
    this.#view = viewOf(this.#bytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Cuts off everything written after `length`, and lifts the limit. */
  truncate(length: number): void {
    this.#length = length;
    this.#limit = Infinity;
  }

  /** Lets at most `bytes` more be written before {@linkcode Unwritable} is thrown; `Infinity` lifts the limit. */
  limit(bytes: number): void {
    this.#limit = this.#length + bytes;
  }

  /** Gives away the buffer with what was written, and goes on in `next`, which must be empty. */
  swap(next: Buffer): { readonly buffer: Buffer; readonly length: number } {
    const full = { buffer: this.#bytes, length: this.#length };
    this.#bytes = next;
    this.#view = viewOf(next);
    this.#length = 0;
    return full;
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  uint16(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.#length, value);
    this.#length += 2;
  }

  uint32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value);
    this.#length += 4;
  }

  int32(value: number): void {
    this.#reserve(4);
    this.#view.setInt32(this.#length, value);
    this.#length += 4;
  }

  /** A whole number from 0 to 2^53. */
  uint64(value: number): void {
    this.uint32(Math.floor(value / 0x1_0000_0000));
    this.uint32(value >>> 0);
  }

  /** The low 64 bits of a bigint, which are the same for signed and unsigned. */
  bits64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigUint64(this.#length, value);
    this.#length += 8;
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value);
    this.#length += 8;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.byteLength);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.byteLength;
  }

  /** Text behind a length of one byte. */
  shortText(text: string): void {
    if (text.length > LONGEST_SHORT_TEXT) throw tooLong(text);
    this.#reserve(1 + text.length);
    const length = this.#text(text, this.#length + 1);
    if (length > LONGEST_SHORT_TEXT) throw tooLong(text);
    this.#bytes[this.#length] = length;
    this.#length += 1 + length;
  }

  /** Text behind a length of four bytes. */
  longText(text: string): void {
    this.#reserve(4 + text.length);
    const length = this.#text(text, this.#length + 4);
    this.#view.setUint32(this.#length, length);
    this.#length += 4 + length;
  }

  /** Leaves four bytes for a length that is known later, and says where they are. */
  beginLength(): number {
    this.#reserve(4);
    this.#length += 4;
    return this.#length;
  }

  /** Fills in the length left open at `start`. */
  endLength(start: number, except = 0): void {
    this.#view.setUint32(start - 4, this.#length - start - except);
  }

  /** Writes text as UTF-8 at `at`, without moving on; there is room for one byte a character already. */
  #text(text: string, at: number): number {
    if (text.length > LOOP_LENGTH) return this.#anyText(text, at);
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return this.#anyText(text, at);
      this.#bytes[at + index] = unit;
    }
    return text.length;
  }

  #anyText(text: string, at: number): number {
    if (!text.isWellFormed()) throw new Unwritable("holds half a surrogate pair");
    const bytes = Buffer.byteLength(text);
    this.#reserve(at - this.#length + bytes);
    return this.#bytes.write(text, at);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed > this.#limit) throw new Unwritable("takes more bytes than one frame holds");
    if (needed <= this.#bytes.byteLength) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.byteLength * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = viewOf(grown);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function tooLong(text: string): Unwritable {
  return new Unwritable(
    `must fit ${LONGEST_SHORT_TEXT} bytes of UTF-8, found ${Buffer.byteLength(text)}`,
  );
}
