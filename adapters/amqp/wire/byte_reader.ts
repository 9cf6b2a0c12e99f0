/**
 * Reads the primitive types of AMQP 0-9-1 from one frame.
 *
 * The frame lies somewhere in a larger buffer that other frames share and that is written to again later: nothing is read outside
 * the frame, and whatever is kept is copied.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { MalformedFrame } from "./malformed.ts";
import type { TextCache } from "./text_cache.ts";

/** A window on one frame. The same reader is pointed at frame after frame. */
export class ByteReader {
  readonly #names: TextCache;
  #bytes: Buffer = Buffer.alloc(0);
  /** The same bytes: what is cut out of it is a plain `Uint8Array`. */
  #plain: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #position = 0;
  #end = 0;

  constructor(names: TextCache) {
    this.#names = names;
  }

  /** Points the reader at a frame; `start` and `end` count from the beginning of `buffer`. */
  point(buffer: ArrayBufferLike, start: number, end: number): void {
    if (this.#view.buffer !== buffer) {
      this.#view = new DataView(buffer);
      this.#bytes = Buffer.from(buffer);
      this.#plain = new Uint8Array(buffer);
    }
    this.#position = start;
    this.#end = end;
  }

  /** Where the next byte is read. */
  get position(): number {
    return this.#position;
  }

  /** Bytes left in the frame. */
  get remaining(): number {
    return this.#end - this.#position;
  }

  skip(bytes: number): void {
    this.#take(bytes);
  }

  uint8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  int8(): number {
    return this.#view.getInt8(this.#take(1));
  }

  uint16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  int16(): number {
    return this.#view.getInt16(this.#take(2));
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  int32(): number {
    return this.#view.getInt32(this.#take(4));
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.#take(8));
  }

  uint64(): bigint {
    return this.#view.getBigUint64(this.#take(8));
  }

  /** A counter or size of 64 bits: delivery tags and body sizes never come near 2^53. */
  count64(): number {
    const high = this.uint32();
    return high * 0x1_0000_0000 + this.uint32();
  }

  float32(): number {
    return this.#view.getFloat32(this.#take(4));
  }

  float64(): number {
    return this.#view.getFloat64(this.#take(8));
  }

  /** Text behind a length of one byte; an invalid sequence is replaced, since names and keys are only compared. */
  shortText(): string {
    const length = this.uint8();
    return this.#names.text(this.#bytes, this.#take(length), length);
  }

  /** Text of `length` bytes, or undefined and nothing consumed when they are no valid UTF-8. */
  longText(length: number): string | undefined {
    const at = this.#take(length);
    const text = this.#names.longText(this.#bytes, at, length);
    if (text === undefined) this.#position = at;
    return text;
  }

  /** A copy of the next `length` bytes. */
  copy(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#plain.slice(at, at + length);
  }

  /** Copies the next `length` bytes into `target`. */
  copyInto(target: Uint8Array, offset: number, length: number): void {
    const at = this.#take(length);
    this.#bytes.copy(target, offset, at, at + length);
  }

  #take(bytes: number): number {
    const at = this.#position;
    if (at + bytes > this.#end) throw new MalformedFrame("ends in the middle of a value");
    this.#position = at + bytes;
    return at;
  }
}
