/**
 * All that a queue has and nobody holds: what waits, and what died and has not arrived elsewhere.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { type Fullness, fullness } from "./backpressure.ts";
import { type WaitingList, waitingList } from "./priority_list.ts";
import type { QueueSettings } from "./queue_settings.ts";
import type { QueueEntry } from "./ready_list.ts";
import type { StoredMessage } from "./stored_message.ts";
import { Unburied } from "./unburied.ts";

/** Entries in the order they leave, and how much of its queue they fill. */
export class Backlog {
  /** Counts towards the length of the queue. */
  readonly unburied: Unburied = new Unburied();
  readonly #settings: QueueSettings;
  readonly #list: WaitingList;
  #bytes = 0;
  #ranks = 0;

  constructor(settings: QueueSettings) {
    this.#settings = settings;
    this.#list = waitingList(settings.maxPriority);
  }

  /** What waits, in messages. */
  get size(): number {
    return this.#list.size;
  }

  /** How long the queue is. */
  get fullness(): Fullness {
    const { maxLength, maxLengthBytes } = this.#settings;
    return fullness({ messages: this.#messages, bytes: this.#allBytes }, {
      messages: maxLength,
      bytes: maxLengthBytes,
    });
  }

  /** Whether there is no room for one message more, of so many bytes. */
  isFullFor(bytes: number): boolean {
    return this.#messages >= this.#settings.maxLength || this.#allBytes + bytes > this.#settings.maxLengthBytes;
  }

  /** A message as it comes in. */
  entryOf(message: StoredMessage, clock: Clock): QueueEntry {
    const ttlMs = Math.min(this.#settings.ttlMs, Number(message.properties.expiration ?? Infinity));
    const expiresAtMs = ttlMs === Infinity ? Infinity : clock.elapsed() + ttlMs;
    return { message, expiresAtMs, rank: this.nextRank(), returns: 0 };
  }

  /** Where whatever comes just now stands among the others. */
  nextRank(): number {
    return this.#ranks++;
  }

  /** Puts an entry at the back. */
  push(entry: QueueEntry): void {
    this.#list.push(entry);
    this.#bytes += entry.message.body.byteLength;
  }

  /** Puts an entry back that was handed out, where it was. */
  giveBack(entry: QueueEntry): void {
    this.#list.giveBack(entry);
    this.#bytes += entry.message.body.byteLength;
  }

  /** The entry that leaves next. */
  peek(): QueueEntry | undefined {
    return this.#list.peek();
  }

  /** Takes the entry that leaves next. */
  shift(): QueueEntry | undefined {
    const entry = this.#list.shift();
    if (entry !== undefined) this.#bytes -= entry.message.body.byteLength;
    return entry;
  }

  /** Takes what is too much, the next to leave first. */
  *excess(): Iterable<QueueEntry> {
    while (this.fullness === "over" && this.size > 0) yield this.shift() as QueueEntry;
  }

  /** What waits, head first, as a copy. */
  toArray(): readonly QueueEntry[] {
    return this.#list.toArray();
  }

  get #messages(): number {
    return this.#list.size + this.unburied.size;
  }

  get #allBytes(): number {
    return this.#bytes + this.unburied.bytes;
  }
}
