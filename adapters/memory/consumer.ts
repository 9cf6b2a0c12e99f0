/**
 * A consumer as its queue sees it: somebody to hand messages to, as many as the prefetch allows.
 *
 * @module
 */

import type { BrokerDelivery, SettleAs } from "../../src/ports/broker.ts";
import type { MemoryDelivery } from "./delivery.ts";
import { Holder, type HolderOptions, type SourceQueue } from "./holder.ts";
import type { Postbox } from "./postbox.ts";
import type { QueueEntry } from "./ready_list.ts";

/** The queue side of a consumer. */
export interface ConsumedQueue extends SourceQueue {
  /** The consumer may have room for another message; it is handed none before {@linkcode ConsumedQueue.goOn}. */
  offer(consumer: Consumer): void;
  /** The consumer is to be taken for a new one. */
  replaceConsumer(consumer: Consumer): void;
  /** The consumer takes no more; nobody is handed anything for that before {@linkcode ConsumedQueue.goOn}. */
  removeConsumer(consumer: Consumer): void;
  /** Whoever can take a message gets it. */
  goOn(): void;
}

/** What a {@linkcode Consumer} is told, and how. */
export interface ConsumerOptions extends HolderOptions {
  readonly prefetch: number;
  /** Its `x-priority`. */
  readonly priority: number;
  readonly postbox: Postbox;
  readonly onDelivery: (delivery: BrokerDelivery) => void;
  /** The queue is gone. */
  readonly onCancelled: () => void;
  /** It has settled something as its queue does not let it, and is closed for that. */
  readonly onRefused: () => void;
}

/** One consumer of one queue. */
export class Consumer extends Holder {
  readonly #queue: ConsumedQueue;
  readonly #options: ConsumerOptions;
  #prefetch: number;
  #isActive = true;
  /** Over the wire a changed prefetch takes a new consumer: which one this is. */
  #turn = 0;
  /** What it holds as the consumer that it is. */
  #current = 0;
  /** What it still holds as each of those it was. */
  readonly #earlier = new Map<number, number>();

  constructor(queue: ConsumedQueue, options: ConsumerOptions) {
    super(queue, options);
    this.#queue = queue;
    this.#options = options;
    this.#prefetch = options.prefetch;
  }

  get priority(): number {
    return this.#options.priority;
  }

  /** Whether it may have one message more. */
  get hasCredit(): boolean {
    return this.#isActive && (this.#prefetch === 0 || this.#current < this.#prefetch);
  }

  /** As long as it takes more, what it holds as the consumer that it is counts once, with it. */
  override get countsAs(): number {
    return this.#earlier.size + (!this.#isActive && this.#current > 0 ? 1 : 0);
  }

  /** Hands over a message: counted now, told a little later. */
  deliver(entry: QueueEntry): void {
    const delivery = this.take(entry);
    this.#current++;
    this.#options.postbox.post({ arrive: () => this.#tell(delivery) });
  }

  setPrefetch(prefetch: number): void {
    this.#prefetch = prefetch;
    if (!this.#isActive) return;
    if (this.#current > 0) this.#earlier.set(this.#turn, this.#current);
    this.#turn++;
    this.#current = 0;
    this.#queue.replaceConsumer(this);
  }

  /** A push says nothing of returns before the first one. */
  protected override tellsReturns(returns: number): boolean {
    return returns > 0;
  }

  protected override get turn(): number {
    return this.#turn;
  }

  protected override release(delivery: MemoryDelivery, as: SettleAs): void {
    this.#count(delivery);
    // It is in line before the message is back, and may be handed it again.
    this.#queue.offer(this);
    super.release(delivery, as);
    this.#queue.goOn();
  }

  /** Takes no more; what it holds can still be settled. */
  cancel(): void {
    this.#takeNoMore();
    this.#queue.goOn();
  }

  override close(): void {
    this.#takeNoMore();
    super.close();
  }

  /** The queue is gone, and whatever it had handed out with it. */
  lose(): void {
    const wasActive = this.#isActive;
    this.#isActive = false;
    this.forget();
    if (wasActive) this.#options.postbox.post({ arrive: () => this.#options.onCancelled() });
  }

  /** What it holds no more. */
  #count({ turn }: MemoryDelivery): void {
    if (turn === this.#turn) return void this.#current--;
    const left = (this.#earlier.get(turn) ?? 0) - 1;
    if (left > 0) this.#earlier.set(turn, left);
    else this.#earlier.delete(turn);
  }

  #takeNoMore(): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    this.#queue.removeConsumer(this);
  }

  #tell(delivery: MemoryDelivery): void {
    if (!this.isOpen) return;
    try {
      this.#options.onDelivery(delivery);
    } catch {
      // As over the wire: the delivery stays unsettled, and is handed out again when the consumer ends.
    }
  }
}
