/**
 * Reading a queue through, once: what was read and not moved goes back where it was.
 *
 * @module
 */

import { ConnectionError, TopologyError } from "../../errors.ts";
import { unlessAborted } from "../../internal/abort.ts";
import type { BrokerConnection, BrokerDelivery, DeliveryHandle } from "../../ports/broker.ts";

/** One time through what lies in a queue; of what is kept, only the right to settle it is. */
export class Reading {
  readonly #broker: Pick<BrokerConnection, "checkQueue" | "pull">;
  readonly #queue: string;
  readonly #signal: AbortSignal | undefined;
  readonly #kept: DeliveryHandle[] = [];
  #left = Infinity;

  constructor(
    broker: Pick<BrokerConnection, "checkQueue" | "pull">,
    queue: string,
    signal: AbortSignal | undefined,
  ) {
    this.#broker = broker;
    this.#queue = queue;
    this.#signal = signal;
  }

  /**
   * Asks whether there is anything to read from, before the first message: a pull from a queue that is not there would cost the
   * channel that everything pulled came on.
   *
   * @throws {TopologyError} there is no such queue
   */
  async begin(): Promise<void> {
    const state = await unlessAborted(this.#broker.checkQueue(this.#queue), this.#signal);
    if (state?.status !== "absent") return;
    throw new TopologyError("ACEMQ_TOPOLOGY_MISSING", `Cannot read queue "${this.#queue}": it does not exist`);
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
    if (this.isOver) return null;
    if (this.#kept[0]?.isLive === false) {
      throw new ConnectionError(
        "ACEMQ_CONNECTION_LOST",
        `Cannot go on with queue "${this.#queue}": the connection was lost, and what was passed over is back in it`,
      );
    }
    // A broker that has blocked the connection answers when the block ends.
    const pulling = this.#broker.pull(this.#queue);
    const delivery = await unlessAborted(pulling, this.#signal);
    if (delivery === undefined) {
      pulling.then((late) => late?.settle("requeue"), () => {});
      return null;
    }
    if (delivery !== null) this.#left = this.#left === Infinity ? delivery.waiting : this.#left - 1;
    return delivery;
  }

  /** Keeps a message until the end. */
  keep(delivery: BrokerDelivery): void {
    this.#kept.push(delivery.detach());
  }

  /** Gives everything back in the order it was taken, so that a classic queue is as it was. */
  giveBack(): void {
    for (const handle of this.#kept.splice(0)) handle.settle("requeue");
  }
}
