/**
 * The messages of a queue with priorities that wait for a consumer: the highest first, and those of one in the order they leave.
 *
 * @module
 */

import { type QueueEntry, ReadyList } from "./ready_list.ts";

/** What a queue needs of the list its messages wait in. */
export type WaitingList = Pick<ReadyList, "size" | "push" | "giveBack" | "peek" | "shift" | "toArray">;

/** A list for a queue with this `x-max-priority`; without one, priorities do not count. */
export function waitingList(maxPriority: number | undefined): WaitingList {
  return maxPriority === undefined ? new ReadyList() : new PriorityList(maxPriority);
}

/** Waiting entries, by priority. */
class PriorityList implements WaitingList {
  readonly #maxPriority: number;
  /** At the index that is their priority. */
  readonly #levels: (ReadyList | undefined)[];
  #size = 0;

  constructor(maxPriority: number) {
    this.#maxPriority = maxPriority;
    this.#levels = new Array<ReadyList | undefined>(maxPriority + 1).fill(undefined);
  }

  get size(): number {
    return this.#size;
  }

  push(entry: QueueEntry): void {
    this.#size++;
    this.#levelOf(entry).push(entry);
  }

  giveBack(entry: QueueEntry): void {
    this.#size++;
    this.#levelOf(entry).giveBack(entry);
  }

  peek(): QueueEntry | undefined {
    return this.#highest()?.peek();
  }

  shift(): QueueEntry | undefined {
    const level = this.#highest();
    if (level !== undefined) this.#size--;
    return level?.shift();
  }

  toArray(): QueueEntry[] {
    return this.#levels.toReversed().flatMap((level) => level?.toArray() ?? []);
  }

  #highest(): ReadyList | undefined {
    return this.#levels.findLast((level) => level !== undefined && level.size > 0);
  }

  /** A message without a priority has the lowest, and one above the maximum has that. */
  #levelOf({ message: { properties } }: QueueEntry): ReadyList {
    return this.#levels[Math.min(properties.priority ?? 0, this.#maxPriority)] ??= new ReadyList();
  }
}
