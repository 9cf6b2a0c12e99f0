/**
 * The entries of a stream, in segments: it grows at the end, and whole segments are dropped from its beginning.
 *
 * @module
 */

import type { StreamEntry } from "./stream_entry.ts";
import type { StreamSettings } from "./stream_settings.ts";

/** Entries that are dropped together. */
interface Segment {
  readonly entries: StreamEntry[];
  bytes: number;
}

/** Entries by their offsets. */
export class StreamLog {
  readonly #settings: StreamSettings;
  #segments: Segment[] = [{ entries: [], bytes: 0 }];
  #next = 0;

  constructor(settings: StreamSettings) {
    this.#settings = settings;
  }

  /** The offset of the entry that comes next. */
  get next(): number {
    return this.#next;
  }

  /** The offset of the oldest entry; that of the next one when there is none. */
  get first(): number {
    return this.#segments.find(({ entries }) => entries.length > 0)?.entries[0]?.offset ?? this.#next;
  }

  get size(): number {
    return this.#next - this.first;
  }

  /** Adds the entry whose offset is next. */
  append(entry: StreamEntry): void {
    const segment = this.#roomFor(entry.atMs);
    segment.entries.push(entry);
    segment.bytes += entry.message.body.byteLength;
    this.#next++;
  }

  /** The entry at an offset, or the oldest one when that has been dropped; undefined when it is still to come. */
  at(offset: number): StreamEntry | undefined {
    const wanted = Math.max(offset, this.first);
    const segment = this.#segments.findLast(({ entries }) => entries[0] !== undefined && entries[0].offset <= wanted);
    return segment?.entries[wanted - (segment.entries[0]?.offset ?? 0)];
  }

  /** The offset of the oldest entry that was written at a time or later; that of the next one when there is none. */
  since(atMs: number): number {
    for (const { entries } of this.#segments) {
      const found = entries.find((entry) => entry.atMs >= atMs);
      if (found !== undefined) return found.offset;
    }
    return this.#next;
  }

  toArray(): readonly StreamEntry[] {
    return this.#segments.flatMap(({ entries }) => entries);
  }

  /** The newest segment, another one when that is full; it is only then that old ones are dropped. */
  #roomFor(nowMs: number): Segment {
    const newest = this.#segments.at(-1) as Segment;
    if (newest.entries.length === 0 || newest.bytes < this.#settings.segmentBytes) return newest;
    const segment: Segment = { entries: [], bytes: 0 };
    this.#segments.push(segment);
    this.#drop(nowMs);
    return segment;
  }

  #drop(nowMs: number): void {
    const { maxAgeMs, maxLengthBytes } = this.#settings;
    let bytes = this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
    const isOld = ({ entries }: Segment): boolean => (entries.at(-1)?.atMs ?? nowMs) < nowMs - maxAgeMs;
    const dropped = this.#segments.findIndex((segment, index) => {
      const goes = index < this.#segments.length - 1 && (bytes > maxLengthBytes || isOld(segment));
      if (goes) bytes -= segment.bytes;
      return !goes;
    });
    this.#segments = this.#segments.slice(dropped);
  }
}
