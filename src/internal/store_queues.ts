/**
 * Which queues of one connection claim by the message's id in which store: with two of them, the first to handle its copy of a message
 * has the other acknowledge its own unhandled.
 *
 * @module
 */

/** See the module. One for each connection. */
export class StoreQueues {
  readonly #queues = new WeakMap<object, Set<string>>();

  /** A queue claims in a store. Gives one that did so before, when this queue is new to the store. */
  join(store: object, queue: string): string | undefined {
    const queues = this.#queues.get(store) ?? new Set<string>();
    this.#queues.set(store, queues);
    const [first] = queues;
    if (queues.has(queue)) return undefined;
    queues.add(queue);
    return first;
  }
}
