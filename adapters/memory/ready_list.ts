/**
 * The messages of a queue that wait for a consumer, in the order they leave.
 *
 * What was never handed out waits in the order it came. What was handed out and came back always came earlier, so it leaves
 * first: a small heap beside the deque is all it takes to find its old place.
 *
 * @module
 */

import { Deque } from "./deque.ts";
import type { StoredMessage } from "./stored_message.ts";

/** One message in one queue. */
export interface QueueEntry {
  readonly message: StoredMessage;
  /** On the broker's monotonic clock; `Infinity` for never. */
  readonly expiresAtMs: number;
  /** Its place among those that come back: lower leaves earlier. */
  rank: number;
  /** How often a consumer had it and did not settle it for good. */
  returns: number;
}

/** What was taken off a queue, and what was behind it. */
export interface PulledEntry {
  readonly entry: QueueEntry;
  readonly waiting: number;
}

/** Waiting entries. */
export class ReadyList {
  readonly #fresh = new Deque<QueueEntry>();
  readonly #returned: QueueEntry[] = [];

  get size(): number {
    return this.#returned.length + this.#fresh.size;
  }

  /** Puts an entry at the back. */
  push(entry: QueueEntry): void {
    this.#fresh.push(entry);
  }

  /** Puts an entry that was handed out back among the others that were, by rank. */
  giveBack(entry: QueueEntry): void {
    const heap = this.#returned;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (rankAt(heap, above) <= entry.rank) break;
      heap[at] = heap[above] as QueueEntry;
      at = above;
    }
    heap[at] = entry;
  }

  /** The entry that leaves next. */
  peek(): QueueEntry | undefined {
    return this.#returned[0] ?? this.#fresh.peek();
  }

  /** Takes the entry that leaves next. */
  shift(): QueueEntry | undefined {
    const first = this.#returned[0];
    if (first === undefined) return this.#fresh.shift();
    const last = this.#returned.pop() as QueueEntry;
    if (this.#returned.length > 0) this.#sink(last);
    return first;
  }

  /** Every entry in the order it would leave, as a copy. */
  toArray(): QueueEntry[] {
    return [...this.#returned.toSorted((one, other) => one.rank - other.rank), ...this.#fresh.toArray()];
  }

  /** Finds the place of `entry` from the top down, where a hole is. */
  #sink(entry: QueueEntry): void {
    const heap = this.#returned;
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      if (rankAt(heap, below + 1) < rankAt(heap, below)) below++;
      if (rankAt(heap, below) >= entry.rank) break;
      heap[at] = heap[below] as QueueEntry;
      at = below;
    }
    heap[at] = entry;
  }
}

function rankAt(heap: readonly QueueEntry[], index: number): number {
  return heap[index]?.rank ?? Infinity;
}
