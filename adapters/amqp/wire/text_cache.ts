/**
 * Bytes to text, remembering the short texts that come with every message: header names, exchanges, consumer tags.
 *
 * @module
 */

import type { Buffer } from "node:buffer";
import { strictUtf8 } from "../../../src/internal/bytes.ts";

/** Slots, a power of two; a text takes the place of another that falls into its slot. */
const SLOTS = 512;

/** Longer texts are ids and payloads more often than names, and rarely come twice. */
const LONGEST_REMEMBERED = 32;

/** What a decoder puts in the place of bytes that are no UTF-8. */
const REPLACEMENT = "\uFFFD";

/** A cache that needs no upkeep: a fixed number of slots, each with the last text that fell into it. */
export class TextCache {
  readonly #slots: string[] = new Array<string>(SLOTS).fill("");

  /** The text of bytes; an invalid sequence is replaced. */
  text(bytes: Buffer, at: number, length: number): string {
    if (length > LONGEST_REMEMBERED) return bytes.toString("utf8", at, at + length);
    const slot = slotOf(bytes, at, length);
    const known = this.#slots[slot] as string;
    if (isSame(known, bytes, at, length)) return known;
    const text = bytes.toString("utf8", at, at + length);
    this.#slots[slot] = text;
    return text;
  }

  /** The text of bytes, or undefined when they are no valid UTF-8. */
  longText(bytes: Buffer, at: number, length: number): string | undefined {
    const text = this.text(bytes, at, length);
    return text.includes(REPLACEMENT) ? strictUtf8(bytes.subarray(at, at + length)) : text;
  }
}

function slotOf(bytes: Buffer, at: number, length: number): number {
  if (length === 0) return 0;
  const first = bytes[at] as number;
  const middle = bytes[at + (length >> 1)] as number;
  const last = bytes[at + length - 1] as number;
  return (length * 31 + first * 7 + middle * 131 + last * 17) & (SLOTS - 1);
}

/** Compares with ASCII texts only: any other has fewer characters than bytes, or a character no byte equals. */
function isSame(text: string, bytes: Buffer, at: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let index = 0; index < length; index++) {
    const byte = bytes[at + index] as number;
    if (byte > 0x7f || text.charCodeAt(index) !== byte) return false;
  }
  return true;
}
