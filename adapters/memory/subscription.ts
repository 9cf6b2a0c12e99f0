/**
 * A subscription: a consumer, and another after it when its queue went away and came back.
 *
 * @module
 */

import type { BrokerEvent, SubscribeOptions, Subscription } from "../../src/ports/broker.ts";
import { newConsumer } from "./any_queue.ts";
import type { Consumer } from "./consumer.ts";
import type { Inlet } from "./inlet.ts";
import type { AnyQueue } from "./any_queue.ts";
import type { QueueEntry } from "./ready_list.ts";
import { notForStreams, Refusal } from "./refusals.ts";
import { turn } from "./turn.ts";
import type { VirtualHost } from "./virtual_host.ts";
import { tableAfterHop } from "./wire_hop.ts";

/** Whose subscription, to what, and how. */
export interface SubscriptionTerms {
  readonly queue: string;
  readonly user: object;
  readonly inlet: Inlet;
  readonly options: SubscribeOptions;
  readonly onEvent: (event: BrokerEvent) => void;
  /** It was closed. */
  readonly onEnd: () => void;
  /** Has its queue back, where the broker has removed it by itself. */
  readonly redeclare: () => void;
}

/** A subscription of the memory broker. */
export class MemorySubscription implements Subscription {
  readonly #host: VirtualHost;
  readonly #terms: SubscriptionTerms;
  #prefetch: number;
  #consumer: Consumer | undefined;
  #stopWaiting: (() => void) | undefined;
  #isEnded = false;

  /** @throws {Refusal} no such queue, or one that is somebody else's alone */
  constructor(host: VirtualHost, terms: SubscriptionTerms) {
    this.#host = host;
    this.#terms = terms;
    this.#prefetch = terms.options.prefetch;
    this.#attach();
  }

  get queue(): string {
    return this.#terms.queue;
  }

  get live(): boolean {
    return !this.#isEnded && this.#consumer !== undefined;
  }

  setPrefetch(prefetch: number): Promise<void> {
    this.#prefetch = prefetch;
    return new Promise((resolve) => {
      const read = (): void => {
        this.#consumer?.setPrefetch(prefetch);
        resolve();
      };
      this.#terms.inlet.send(read, resolve);
    });
  }

  /** What it was handed of a queue and has not settled. */
  heldOf(queue: AnyQueue): readonly QueueEntry[] {
    return this.#consumer?.heldOf(queue) ?? [];
  }

  caughtUp(): Promise<void> {
    return turn();
  }

  cancel(): Promise<void> {
    this.#comeNoMore();
    this.#terms.inlet.send(() => this.#consumer?.cancel());
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#comeNoMore();
    this.#consumer?.leave();
    this.#terms.inlet.send(() => this.end());
    return Promise.resolve();
  }

  /** The broker has read the close, or the connection is gone. */
  end(): void {
    this.#comeNoMore();
    this.#consumer?.close();
    this.#terms.onEnd();
  }

  #comeNoMore(): void {
    this.#isEnded = true;
    this.#stopWaiting?.();
  }

  #attach(): void {
    const { queue: name, user, inlet, options } = this.#terms;
    const queue = this.#host.queue(name, user);
    this.#consumer = newConsumer(queue, {
      prefetch: this.#prefetch,
      inlet,
      terms: this.#host,
      postbox: this.#host.postbox,
      onDelivery: options.onDelivery,
      onCancelled: () => this.#queueIsGone(),
      onLate: () => this.#closed(lateReason(this.#host.acknowledgementTimeoutMs)),
      onRefused: () => this.#closed(refusedReason(name)),
    }, tableAfterHop(options.arguments ?? {}));
  }

  #queueIsGone(): void {
    if (!this.#isEnded) this.#lose(`The broker cancelled the consumer: queue "${this.#terms.queue}" is gone`);
  }

  /** The broker has closed the channel over something its consumer did, and the consumer has another. */
  #closed(reason: string): void {
    this.#consumer?.close();
    if (this.#isEnded) this.#terms.options.onLost(reason);
    else this.#lose(reason);
  }

  #lose(reason: string): void {
    const { queue, options, onEvent } = this.#terms;
    this.#consumer = undefined;
    this.#stopWaiting = this.#host.awaitQueue(queue, () => this.#recover());
    onEvent({ type: "consumer_lost", queue, reason });
    options.onLost(reason);
    this.#terms.redeclare();
    if (this.#host.findQueue(queue) !== undefined) this.#recover();
  }

  #recover(): void {
    const { queue, options, onEvent } = this.#terms;
    if (this.#isEnded || this.#consumer !== undefined) return;
    try {
      this.#attach();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Somebody else has it to themselves now: wait for the next one of that name.
      return;
    }
    this.#stopWaiting?.();
    onEvent({ type: "consumer_recovered", queue });
    options.onRecovered();
  }
}

function lateReason(timeoutMs: number): string {
  return `406 PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: ${timeoutMs} ms. ` +
    "This timeout value can be configured, see consumers doc guide to learn more";
}

function refusedReason(queue: string): string {
  return `540 ${notForStreams("basic.nack and basic.reject", queue).message}`;
}
