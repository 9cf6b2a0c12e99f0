/**
 * One stream: a log that everybody reads at a pace of their own, and nobody empties.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import type { QueueSpec } from "../../src/topology/specs.ts";
import type { ConsumedQueue } from "./consumer.ts";
import type { Declared } from "./equivalence.ts";
import type { QueueEntry } from "./ready_list.ts";
import { foundStream } from "./refusals.ts";
import type { StoredMessage } from "./stored_message.ts";
import { type StreamEntry, streamEntry } from "./stream_entry.ts";
import { StreamLog } from "./stream_log.ts";
import type { StreamReader } from "./stream_reader.ts";
import { streamSettings } from "./stream_settings.ts";

/** A stream of the memory broker. */
export class MemoryStream implements ConsumedQueue {
  readonly spec: Declared<QueueSpec>;
  readonly log: StreamLog;
  readonly isQuorum = false;
  readonly owner = undefined;
  /** The broker counts no reader. */
  readonly consumers = 0;
  readonly #clock: Clock;
  readonly #readers = new Set<StreamReader>();
  #unsettled = 0;

  /** @throws {Refusal} arguments the broker refuses */
  constructor(spec: Declared<QueueSpec>, clock: Clock) {
    this.spec = spec;
    this.log = new StreamLog(streamSettings(spec));
    this.#clock = clock;
  }

  get messages(): number {
    return this.log.size;
  }

  get unsettled(): number {
    return this.#unsettled;
  }

  /** Who reads it. */
  get subscribers(): number {
    return this.#readers.size;
  }

  /** By the broker's clock, epoch milliseconds. */
  get nowMs(): number {
    return this.#clock.now();
  }

  isOpenTo(_user: object): boolean {
    return true;
  }

  /** Everything it keeps, oldest first. */
  waiting(): readonly QueueEntry[] {
    return this.log.toArray().map(asQueueEntry);
  }

  /** Takes a message in; false when it cannot be kept. */
  publish(message: StoredMessage): boolean {
    const entry = streamEntry(message, this.log.next, this.nowMs);
    if (entry === undefined) return false;
    this.log.append(entry);
    for (const reader of this.#readers) this.offer(reader);
    return true;
  }

  addConsumer(reader: StreamReader): void {
    this.#readers.add(reader);
    this.offer(reader);
  }

  removeConsumer(reader: StreamReader): void {
    this.#readers.delete(reader);
  }

  replaceConsumer(reader: StreamReader): void {
    this.offer(reader);
  }

  /** Hands over what a reader has room for. */
  offer(reader: StreamReader): void {
    while (reader.hasCredit) {
      const entry = this.log.at(reader.next);
      if (entry === undefined) return;
      reader.next = entry.offset + 1;
      this.#unsettled++;
      reader.deliver(asQueueEntry(entry));
    }
  }

  /** Nobody waits for anybody else. */
  goOn(): void {}

  /** The broker counts no reader. */
  heldBy(): void {}

  /** As {@linkcode MemoryStream.heldBy}. */
  heldNoMoreBy(): void {}

  acknowledge(): void {
    this.#unsettled--;
  }

  giveBack(entries: readonly QueueEntry[]): void {
    this.#unsettled -= entries.length;
  }

  /** Readers acknowledge and nothing else. */
  requeue(): void {}

  /** As {@linkcode MemoryStream.requeue}. */
  discard(): void {}

  /** @throws {Refusal} always: it is read, not emptied */
  pull(): never {
    throw foundStream();
  }

  /** @throws {Refusal} always: it is dropped in segments, by its age and its size */
  purge(): never {
    throw foundStream();
  }

  /** Ends the stream: every reader is told. */
  end(): void {
    for (const reader of this.#readers) reader.lose();
    this.#readers.clear();
  }

  /** It does not go by itself, and nothing in it expires before another segment is begun. */
  asked(): void {}

  /** As {@linkcode MemoryStream.asked}. */
  expire(): void {}

  /** As {@linkcode MemoryStream.asked}. */
  rest(): void {}
}

function asQueueEntry({ message, offset }: StreamEntry): QueueEntry {
  return { message, expiresAtMs: Infinity, rank: offset, returns: 0 };
}
