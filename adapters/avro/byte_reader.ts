/**
 * Avro's primitive types from bytes, each looked at before it is believed (Avro 1.11, "Binary encoding").
 *
 * @module
 */

import { Fault } from "./fault.ts";
import type { ReadText } from "./utf8.ts";

/** How deep records, lists and maps may lie in one another. */
export const MAX_DEPTH = 100;

/** Items that take no bytes, in one body: nothing else bounds them. */
export const MAX_EMPTY_ITEMS = 100_000;

/** Up to here a text is put together character by character: a call to the runtime costs more than it saves. */
const SHORT_TEXT = 8;

/** Beyond it a whole number is no `number` any more. */
const MAX_SAFE = Number.MAX_SAFE_INTEGER;

const NOTHING: Readonly<Uint8Array> = new Uint8Array(0);

/** Reads forward through one body after the other. */
export class ByteReader {
  #bytes: Uint8Array = NOTHING;
  /** Eight bytes at a time are numbers here, without a view of every body. */
  readonly #numberBytes = new Uint8Array(8);
  readonly #numberView = new DataView(this.#numberBytes.buffer);
  readonly #readText: ReadText;
  #at = 0;
  #depth = 0;
  #emptyItems = 0;
  #blockEnd = -1;

  /** Reads texts with what `textReader` gives. */
  constructor(readText: ReadText) {
    this.#readText = readText;
  }

  /** Begins another body. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#at = 0;
    this.#depth = 0;
    this.#emptyItems = 0;
  }

  /** Bytes that nobody has read. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** Says that a record, a list or a map begins. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new Fault(`it is nested deeper than ${MAX_DEPTH} levels`);
  }

  /** Says that it has ended. */
  leave(): void {
    this.#depth--;
  }

  /** One byte, 00 or 01. */
  boolean(): boolean {
    const byte = this.#byte();
    if (byte > 1) throw new Fault("a boolean is neither 00 nor 01");
    return byte === 1;
  }

  /** A zig-zag number of at most 32 bits. */
  int(): number {
    let byte = this.#byte();
    if (byte <= 0x7f) return (byte >>> 1) ^ -(byte & 1);
    let bits = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = this.#byte();
      if (shift === 28 && byte > 0x0f) throw new Fault("an int has more than 32 bits");
      bits |= (byte & 0x7f) << shift;
    }
    return (bits >>> 1) ^ -(bits & 1);
  }

  /** A zig-zag number of at most 64 bits: a `number` where it is exact, otherwise a `bigint`. */
  long(): number | bigint {
    const first = this.#bytes[this.#at];
    if (first !== undefined && first <= 0x7f) {
      this.#at++;
      return (first >>> 1) ^ -(first & 1);
    }
    const low = this.#group();
    if (!this.#goesOn) return (low >>> 1) ^ -(low & 1);
    const middle = this.#group();
    const high = this.#goesOn ? this.#highest() : 0;
    const half = middle * 0x8000000 + (low >>> 1);
    if (high === 0 && half < MAX_SAFE) return (low & 1) === 0 ? half : -half - 1;
    return exactly(low, middle, high);
  }

  /** Four bytes, the lowest first. */
  float(): number {
    return this.#number(4).getFloat32(0, true);
  }

  /** Eight bytes, the lowest first. */
  double(): number {
    return this.#number(8).getFloat64(0, true);
  }

  /** So many bytes, copied: they outlive the body. */
  fixed(size: number): Uint8Array {
    const start = this.#skip(size);
    return this.#bytes.slice(start, start + size);
  }

  /** A length and as many bytes. */
  byteString(): Uint8Array {
    return this.fixed(this.#length());
  }

  /** A length and as many bytes of UTF-8. */
  text(): string {
    const length = this.#length();
    const start = this.#skip(length);
    if (length > SHORT_TEXT) return this.#decode(start, length);
    let text = "";
    for (let at = start; at < start + length; at++) {
      const byte = this.#bytes[at] ?? 0;
      if (byte > 0x7f) return this.#decode(start, length);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** The index of a symbol or of a branch, below `count`. */
  index(count: number, what: string): number {
    const index = this.int();
    if (index < 0 || index >= count) throw new Fault(`there is no ${what} of this number`);
    return index;
  }

  /** Where the block that began last is to end; -1 where it does not say. */
  get blockEnd(): number {
    return this.#blockEnd;
  }

  /** Says that a block with this end has been read. */
  endBlock(end: number): void {
    if (end >= 0 && end !== this.#at) throw new Fault("a block is not as long as it says");
  }

  /** How many items of at least `itemSize` bytes a block has; 0 ends the blocks. */
  blockCount(itemSize: number): number {
    let count = this.#count();
    this.#blockEnd = -1;
    if (count < 0) {
      count = -count;
      // The length is read first: it moves what it is counted from.
      const length = this.#length();
      this.#blockEnd = this.#at + length;
    }
    if (itemSize > 0 && count > this.left / itemSize) throw new Fault("a block has more items than the body has bytes");
    if (itemSize === 0) this.#takeEmpty(count);
    return count;
  }

  #number(size: number): DataView {
    const start = this.#skip(size);
    for (let index = 0; index < size; index++) this.#numberBytes[index] = this.#bytes[start + index] as number;
    return this.#numberView;
  }

  #takeEmpty(count: number): void {
    this.#emptyItems += count;
    if (this.#emptyItems > MAX_EMPTY_ITEMS) throw new Fault(`there are more than ${MAX_EMPTY_ITEMS} items of no bytes`);
  }

  #count(): number {
    const count = this.long();
    if (typeof count === "bigint") throw new Fault("a block has more items than the body has bytes");
    return count;
  }

  #length(): number {
    const length = this.long();
    if (length < 0) throw new Fault("a length is negative");
    if (length > this.left) throw new Fault("a length goes beyond the end of the body");
    return length as number;
  }

  #decode(start: number, length: number): string {
    const text = this.#readText(this.#bytes, start, start + length);
    if (text === undefined) throw new Fault("a text is not UTF-8");
    return text;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Fault("the body ends too early");
    return byte;
  }

  /** Moves past so many bytes, and says where they begin. */
  #skip(count: number): number {
    const start = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) throw new Fault("the body ends too early");
    return start;
  }

  /** Up to four bytes of seven bits; `#goesOn` says whether a byte follows. */
  #group(): number {
    let bits = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      bits |= (byte & 0x7f) << shift;
      this.#goesOn = byte > 0x7f;
      if (!this.#goesOn) return bits;
    }
    return bits;
  }

  #goesOn = false;

  /** The last eight of 64 bits. */
  #highest(): number {
    const first = this.#byte();
    if (first <= 0x7f) return first;
    const second = this.#byte();
    if (second > 1) throw new Fault("a long has more than 64 bits");
    return (first & 0x7f) | second << 7;
  }
}

function exactly(low: number, middle: number, high: number): number | bigint {
  const bits = BigInt(low) | BigInt(middle) << 28n | BigInt(high) << 56n;
  const value = (bits >> 1n) ^ -(bits & 1n);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
