/**
 * What was declared through a connection, so that it can be declared again.
 *
 * @module
 */

import type { BindingSpec, ExchangeSpec, QueueSpec, TopologySpec } from "./specs.ts";

/** Remembers declarations by name, the newest of each. */
export class Declared {
  readonly #exchanges = new Map<string, ExchangeSpec>();
  readonly #queues = new Map<string, QueueSpec>();
  readonly #bindings = new Map<string, BindingSpec>();

  /** Every exchange. */
  get exchanges(): readonly ExchangeSpec[] {
    return [...this.#exchanges.values()];
  }

  /** Every queue. */
  get queues(): readonly QueueSpec[] {
    return [...this.#queues.values()];
  }

  /** Queues that were declared or bound. */
  get queueNames(): readonly string[] {
    return [...new Set([...this.#queues.keys(), ...this.bindings.map(({ queue }) => queue)])];
  }

  /** Every binding. */
  get bindings(): readonly BindingSpec[] {
    return [...this.#bindings.values()];
  }

  /** An exchange by its name. */
  exchange(name: string): ExchangeSpec | undefined {
    return this.#exchanges.get(name);
  }

  /** A queue by its name. */
  queue(name: string): QueueSpec | undefined {
    return this.#queues.get(name);
  }

  /** The bindings of a queue. */
  bindingsOf(queue: string): readonly BindingSpec[] {
    return this.bindings.filter((binding) => binding.queue === queue);
  }

  /** What the broker may have removed by itself when a consumer of a queue was lost; nothing, where that takes somebody's doing. */
  mayBeGoneWith(queue: string): TopologySpec {
    const spec = this.#queues.get(queue);
    if (spec === undefined || !goesByItself(spec)) return { exchanges: [], queues: [], bindings: [] };
    const bindings = this.bindingsOf(queue);
    const names = new Set(bindings.map(({ exchange }) => exchange));
    const exchanges = this.exchanges.filter(({ name, autoDelete }) => autoDelete && names.has(name));
    return { exchanges, queues: [spec], bindings };
  }

  /** An exchange was declared. */
  addExchange(spec: ExchangeSpec): void {
    this.#exchanges.set(spec.name, spec);
  }

  /** A queue was declared. */
  addQueue(spec: QueueSpec): void {
    this.#queues.set(spec.name, spec);
  }

  /** A queue was bound. */
  addBinding(spec: BindingSpec): void {
    this.#bindings.set(bindingKey(spec), spec);
  }

  /** An exchange was deleted, and its bindings with it. */
  removeExchange(name: string): void {
    this.#exchanges.delete(name);
    this.#removeBindings((binding) => binding.exchange === name);
  }

  /** A queue was deleted, and its bindings with it. */
  removeQueue(name: string): void {
    this.#queues.delete(name);
    this.#removeBindings((binding) => binding.queue === name);
  }

  /** The last consumer that a queue had here was ended: an auto-delete queue goes with it. */
  endConsumers(queue: string): void {
    if (this.#queues.get(queue)?.autoDelete === true) this.removeQueue(queue);
  }

  #removeBindings(isGone: (binding: BindingSpec) => boolean): void {
    for (const [key, binding] of this.#bindings) {
      if (isGone(binding)) this.#bindings.delete(key);
    }
  }
}

/** What a binding is told from others by: two with other arguments are two bindings. */
export function bindingKey({ queue, exchange, routingKey, arguments: args }: BindingSpec): string {
  const plain = (_name: string, value: unknown): unknown => typeof value === "bigint" ? `${value}n` : value;
  return JSON.stringify([queue, exchange, routingKey, args], plain);
}

/** Whether the broker removes a queue without having been asked to. */
function goesByItself({ durable, exclusive, autoDelete, arguments: args }: QueueSpec): boolean {
  return !durable || exclusive || autoDelete || Object.hasOwn(args, "x-expires");
}
