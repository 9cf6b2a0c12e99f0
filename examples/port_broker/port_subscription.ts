/**
 * A subscription whose deliveries come over a port.
 *
 * @module
 */
import type { SubscribeOptions, Subscription } from "@acemq/amqp/core";
import { type Hand, HandedDelivery } from "./hand.ts";
import type { Handed, Question } from "./messages.ts";

/** What a subscription needs of its connection. */
interface Terms {
  /** An empty hand. */
  readonly hand: () => Hand;
  /** Asks something about this subscription. */
  readonly ask: (question: Question, ...args: readonly unknown[]) => Promise<void>;
  /** It was closed. */
  readonly onEnd: () => void;
}

/** See {@linkcode Subscription}. */
export class PortSubscription implements Subscription {
  readonly #options: SubscribeOptions;
  readonly #terms: Terms;
  #hand: Hand;
  #isLive = true;
  #isCancelled = false;

  constructor(options: SubscribeOptions, terms: Terms) {
    this.#options = options;
    this.#terms = terms;
    this.#hand = terms.hand();
  }

  get live(): boolean {
    return this.#isLive && !this.#isCancelled;
  }

  setPrefetch(prefetch: number): Promise<void> {
    return this.#terms.ask("set_prefetch", prefetch);
  }

  /** Deliveries are sent ahead of the answer, and a port keeps the order. */
  caughtUp(): Promise<void> {
    return this.#unlessClosed("catch_up");
  }

  cancel(): Promise<void> {
    this.#isCancelled = true;
    return this.#unlessClosed("cancel");
  }

  close(): Promise<void> {
    this.end();
    this.#terms.onEnd();
    return this.#unlessClosed("close_subscription");
  }

  /** Nothing is taken any more, and nothing can be settled. */
  end(): void {
    this.#isCancelled = true;
    this.#hand.lose();
  }

  deliver(handed: Handed): void {
    this.#options.onDelivery(new HandedDelivery(handed, this.#hand));
  }

  /** What is settled from now on is stale; what comes next has a hand of its own. */
  lose(reason: string): void {
    this.#isLive = false;
    this.#hand.lose();
    this.#hand = this.#terms.hand();
    this.#options.onLost(reason);
  }

  recover(): void {
    this.#isLive = true;
    this.#options.onRecovered();
  }

  /** With the connection the subscription went as well: there is nobody left to ask, and nothing left to do. */
  async #unlessClosed(question: Question): Promise<void> {
    await this.#terms.ask(question).catch(() => {});
  }
}
