/**
 * Avro's primitive types as bytes (Avro 1.11, "Binary encoding").
 *
 * @module
 */

import { MAX_DEPTH, MAX_EMPTY_ITEMS } from "./byte_reader.ts";
import { Fault } from "./fault.ts";
import { textWriter, type WriteText } from "./utf8.ts";

/** A buffer that is larger is not kept for the next body. */
const KEPT_BYTES = 65_536;

/** Up to here a text is written character by character: a call to the runtime costs more than it saves. */
const SHORT_TEXT = 16;

/** Writes one body after the other into a buffer of its own. */
export class ByteWriter {
  readonly #writeText: WriteText = textWriter();
  #bytes = new Uint8Array(1_024);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #depth = 0;
  #emptyItems = 0;

  /** Begins a body behind so many bytes, which are 0. */
  begin(offset: number): void {
    this.#depth = 0;
    this.#emptyItems = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#exchange(1_024);
    this.#bytes.fill(0, 0, offset);
    this.#at = offset;
  }

  /** A copy of what was written. */
  end(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }

  /** Says that a record, a list or a map begins. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new Fault(`it is nested deeper than ${MAX_DEPTH} levels`);
  }

  /** Says that it has ended. */
  leave(): void {
    this.#depth--;
  }

  /** The count in front of the items of a block; what would not be read back is not written. */
  blockCount(count: number, itemSize: number): void {
    if (itemSize === 0 && (this.#emptyItems += count) > MAX_EMPTY_ITEMS) {
      throw new Fault(`there are more than ${MAX_EMPTY_ITEMS} items of no bytes`);
    }
    this.whole(count);
  }

  /** One byte, 00 or 01. */
  boolean(value: boolean): void {
    this.#room(1);
    this.#bytes[this.#at++] = value ? 1 : 0;
  }

  /** A whole number that a `number` holds exactly. */
  whole(value: number): void {
    this.#room(10);
    // What is left of the sign is the lowest bit.
    const magnitude = value < 0 ? -1 - value : value;
    let rest = magnitude < 0x40000000 ? this.#low(value) : this.#wide(magnitude, value < 0 ? 1 : 0);
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = rest & 0x7f | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }

  /** A whole number of at most 64 bits. */
  big(value: bigint): void {
    this.#room(10);
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (rest > 0x7fn) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
  }

  /** Four bytes, the lowest first. */
  float(value: number): void {
    this.#room(4);
    this.#view.setFloat32(this.#at, value, true);
    this.#at += 4;
  }

  /** Eight bytes, the lowest first. */
  double(value: number): void {
    this.#room(8);
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  /** The bytes alone. */
  fixed(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A length and the bytes. */
  byteString(bytes: Uint8Array): void {
    this.whole(bytes.length);
    this.fixed(bytes);
  }

  /** A length and UTF-8. The text has no half of a surrogate pair. */
  text(text: string): void {
    this.#room(3 * text.length + 10);
    if (text.length > SHORT_TEXT || !this.#ascii(text)) this.#utf8(text);
  }

  /** Writes a short text if it has characters of one byte alone: then its length is known beforehand. */
  #ascii(text: string): boolean {
    let at = this.#at;
    this.#bytes[at++] = text.length << 1;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return false;
      this.#bytes[at++] = unit;
    }
    this.#at = at;
    return true;
  }

  /** Writes the text behind the room that its length takes if it is ASCII, and moves it where it is not. */
  #utf8(text: string): void {
    const start = this.#at;
    const room = lengthSize(text.length);
    const length = this.#writeText(text, this.#bytes, start + room);
    const taken = lengthSize(length);
    if (taken !== room) this.#bytes.copyWithin(start + taken, start + room, start + room + length);
    this.whole(length);
    this.#at = start + taken + length;
  }

  /** The zig-zag form of a number of 31 bits. */
  #low(value: number): number {
    return ((value << 1) ^ (value >> 31)) >>> 0;
  }

  /** Writes what of a number is above 31 bits of zig-zag, the lowest bits first, and answers with the rest. */
  #wide(magnitude: number, sign: number): number {
    this.#bytes[this.#at++] = (magnitude % 0x40) << 1 | sign | 0x80;
    let rest = Math.floor(magnitude / 0x40);
    while (rest > 0x7fffffff) {
      this.#bytes[this.#at++] = rest % 0x80 | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    return rest;
  }

  #room(count: number): void {
    const wanted = this.#at + count;
    if (wanted > this.#bytes.length) this.#exchange(Math.max(wanted, 2 * this.#bytes.length));
  }

  #exchange(size: number): void {
    const bytes = new Uint8Array(size);
    if (size > this.#bytes.length) bytes.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

/** How many bytes a length takes. */
function lengthSize(length: number): number {
  let size = 1;
  for (let rest = length; rest >= 0x40; rest = Math.floor(rest / 0x80)) size++;
  return size;
}
