/**
 * Hands that hold messages of one queue until they are settled: the part of an AMQP channel that matters here.
 *
 * @module
 */

import type { SettleAs } from "../../src/ports/broker.ts";
import { MemoryDelivery } from "./delivery.ts";
import type { Inlet } from "./inlet.ts";
import type { QueueEntry } from "./ready_list.ts";
import { type SettlementTerms, SettlementWatch } from "./settlement_watch.ts";
import { receivedMessage } from "./stored_message.ts";

/** Somebody who may hold messages of a queue. */
export interface Hands {
  /** As how many consumers a quorum queue counts what is held, beside those who take more. */
  readonly countsAs: number;
}

/** The queue side of a settlement. */
export interface SourceQueue {
  /** Whether it tells how often a message came back, in `x-delivery-count`. */
  readonly isQuorum: boolean;
  /** Somebody may hold something from now on. */
  heldBy(hands: Hands): void;
  /** Somebody will hold nothing any more. */
  heldNoMoreBy(hands: Hands): void;
  acknowledge(): void;
  requeue(entry: QueueEntry): void;
  discard(entry: QueueEntry): void;
  /** The link went away with the messages in hand, oldest first; whoever is next gets them before anything else. */
  giveBack(entries: readonly QueueEntry[]): void;
}

/** Whose hands, and how long they may hold something. */
export interface HolderOptions {
  readonly inlet: Inlet;
  readonly terms: SettlementTerms;
  /** It has held something too long. */
  readonly onLate: () => void;
}

/** Holds unsettled deliveries of one queue. */
export class Holder implements Hands {
  readonly #queue: SourceQueue;
  readonly #inlet: Inlet;
  readonly #watch: SettlementWatch;
  readonly #held = new Set<MemoryDelivery>();
  #isOpen = true;
  #isLeft = false;

  constructor(queue: SourceQueue, { inlet, terms, onLate }: HolderOptions) {
    this.#queue = queue;
    this.#inlet = inlet;
    this.#watch = new SettlementWatch(terms, () => this.#oldest?.takenAtMs, onLate);
    queue.heldBy(this);
  }

  /** Each pull is a consumer that takes no more. */
  get countsAs(): number {
    return this.#held.size;
  }

  /** Whether what it holds can still be settled. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#isLeft;
  }

  /** Unsettled deliveries. */
  get held(): number {
    return this.#held.size;
  }

  /** What it holds of a queue, oldest first. */
  heldOf(queue: SourceQueue): readonly QueueEntry[] {
    return queue === this.#queue ? Array.from(this.#held, ({ entry }) => entry) : [];
  }

  get #oldest(): MemoryDelivery | undefined {
    for (const delivery of this.#held) return delivery;
    return undefined;
  }

  /** Takes what the queue has let go. */
  take(entry: QueueEntry): MemoryDelivery {
    const { returns } = entry;
    const tellsReturns = this.#queue.isQuorum && this.tellsReturns(returns);
    const message = receivedMessage(entry.message, {
      redelivered: returns > 0,
      returns: tellsReturns ? returns : undefined,
    });
    const delivery = new MemoryDelivery({ entry, message, takenAtMs: this.#watch.taken(), turn: this.turn }, this);
    this.#held.add(delivery);
    return delivery;
  }

  settle(delivery: MemoryDelivery, as: SettleAs): "sent" | "stale" {
    if (!this.isOpen) return "stale";
    if (this.#inlet.isBlocked) this.#inlet.send(() => this.#isOpen && this.release(delivery, as));
    else this.release(delivery, as);
    return "sent";
  }

  /** Kept with what is taken now. */
  protected get turn(): number {
    return 0;
  }

  /** Whether `x-delivery-count` is there: a pull says even that there was no return. */
  protected tellsReturns(_returns: number): boolean {
    return true;
  }

  /** The broker has read the settlement. */
  protected release(delivery: MemoryDelivery, as: SettleAs): void {
    this.#held.delete(delivery);
    if (as === "ack") this.#queue.acknowledge();
    else if (as === "requeue") this.#queue.requeue(delivery.entry);
    else this.#queue.discard(delivery.entry);
  }

  /** Whoever holds has gone, which the broker hears of later: what is held can no longer be settled. */
  leave(): void {
    this.#isLeft = true;
  }

  /** Gives everything back, in the order it was taken. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#watch.stop();
    const entries = Array.from(this.#held, ({ entry }) => entry);
    this.#held.clear();
    this.#queue.heldNoMoreBy(this);
    this.#queue.giveBack(entries);
  }

  /** Lets go of everything, if there is anything: there is no queue to give it back to. */
  forget(): void {
    this.#isOpen = false;
    this.#watch.stop();
    this.#held.clear();
    this.#queue.heldNoMoreBy(this);
  }
}
