/**
 * Messages that were taken off a queue to be looked at, and go back where they were.
 *
 * @module
 */

import { ConnectionError, TopologyError } from "../../errors.ts";
import type { BrokerConnection, BrokerDelivery, DeliveryHandle } from "../../ports/broker.ts";

/** Deliveries of one queue in hand, oldest first; only the right to settle them is kept of each. */
export class Held {
  readonly #broker: Pick<BrokerConnection, "pull">;
  readonly #queue: string;
  readonly #handles: DeliveryHandle[] = [];

  constructor(broker: Pick<BrokerConnection, "pull">, queue: string) {
    this.#broker = broker;
    this.#queue = queue;
  }

  /**
   * Takes the next message; null when none waits.
   *
   * @throws {ConnectionError} what is held went back with its link: the next message would be one of them
   */
  pull(): Promise<BrokerDelivery | null> {
    if (this.#handles[0]?.isLive === false) {
      return Promise.reject(
        new ConnectionError(
          "ACEMQ_CONNECTION_LOST",
          `Cannot go on with queue "${this.#queue}": the connection was lost, and the messages that were passed over are back in it`,
        ),
      );
    }
    return this.#broker.pull(this.#queue);
  }

  /** Keeps a message until the end. */
  keep(delivery: BrokerDelivery): void {
    this.#handles.push(delivery.detach());
  }

  /** Gives everything back in the order it was taken, so that a classic queue is as it was. */
  giveBack(): void {
    for (const handle of this.#handles.splice(0)) handle.settle("requeue");
  }
}

/**
 * How many messages wait in a queue.
 *
 * @throws {TopologyError} there is no such queue
 */
export async function countWaiting(broker: Pick<BrokerConnection, "checkQueue">, queue: string): Promise<number> {
  const state = await broker.checkQueue(queue);
  if (state.status === "present") return state.messages;
  throw new TopologyError("ACEMQ_TOPOLOGY_MISSING", `Cannot read queue "${queue}": it does not exist`);
}
