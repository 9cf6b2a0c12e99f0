/**
 * Reading a queue through, once: what was read and not moved goes back where it was.
 *
 * @module
 */

import { ConnectionError } from "../../errors.ts";
import { unlessAborted } from "../../internal/abort.ts";
import type { BrokerConnection, BrokerDelivery, DeliveryHandle, Puller } from "../../ports/broker.ts";
import type { Environment } from "../../ports/environment.ts";

/** What reading works with. */
export interface ReadingContext {
  readonly broker: Pick<BrokerConnection, "openPuller">;
  readonly environment: Pick<Environment, "work">;
}

/** One time through what lies in a queue; of what is kept, only the right to settle it is. Work of its connection until it ends. */
export class Reading {
  readonly #context: ReadingContext;
  readonly #queue: string;
  readonly #signal: AbortSignal;
  readonly #kept: DeliveryHandle[] = [];
  #puller: Puller | undefined;
  #left = Infinity;
  #isWork = false;

  constructor(context: ReadingContext, queue: string, signal: AbortSignal) {
    this.#context = context;
    this.#queue = queue;
    this.#signal = signal;
  }

  /**
   * Begins, unless the signal aborts first.
   *
   * @throws {TopologyError} there is no such queue, or it is a stream
   * @throws {ConnectionError} there is no connection
   */
  async begin(): Promise<void> {
    this.#isWork = true;
    this.#context.environment.work.begin();
    try {
      const opening = this.#context.broker.openPuller(this.#queue);
      this.#puller = await unlessAborted(opening, this.#signal);
      if (this.#puller === undefined) opening.then((late) => late.close(), () => {});
    } catch (error) {
      this.#rest();
      throw error;
    }
  }

  /** Whether everything was read that lay there when the first message was. */
  get isOver(): boolean {
    return this.#left === 0;
  }

  /**
   * Takes the next of the messages that lay there when the first one was taken; null when none is left, or the signal has aborted.
   * What comes back meanwhile comes behind them.
   *
   * @throws {ConnectionError} what is kept went back with its link: the next message would be one of them
   */
  async next(): Promise<BrokerDelivery | null> {
    if (this.isOver || this.#puller === undefined) return null;
    if (this.#kept[0]?.isLive === false) {
      throw new ConnectionError(
        "ACEMQ_CONNECTION_LOST",
        `Cannot go on with queue "${this.#queue}": the connection was lost, and what was passed over is back in it`,
      );
    }
    // A broker that has blocked the connection answers when the block ends: what it hands out then goes back with the puller.
    const delivery = await unlessAborted(this.#puller.pull(), this.#signal) ?? null;
    if (delivery !== null) this.#left = this.#left === Infinity ? delivery.waiting : this.#left - 1;
    return delivery;
  }

  /** Keeps a message until the end. */
  keep(delivery: BrokerDelivery): void {
    this.#kept.push(delivery.detach());
  }

  /** Gives everything back in the order it was taken, so that a classic queue is as it was; twice is once. */
  async end(): Promise<void> {
    for (const handle of this.#kept.splice(0)) handle.settle("requeue");
    await this.#puller?.close().catch(() => {/* then it went back with the link */});
    this.#rest();
  }

  #rest(): void {
    if (!this.#isWork) return;
    this.#isWork = false;
    this.#context.environment.work.end();
  }
}
