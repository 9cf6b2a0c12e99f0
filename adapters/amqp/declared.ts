/**
 * What was declared through a connection, so that it can be declared again when the link comes back.
 *
 * @module
 */

import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";

/** Remembers declarations by name, the newest of each. */
export class Declared {
  readonly #exchanges = new Map<string, ExchangeSpec>();
  readonly #queues = new Map<string, QueueSpec>();
  readonly #bindings = new Map<string, BindingSpec>();

  /** In the order they are declared: exchanges first, since queues and bindings name them. */
  get exchanges(): readonly ExchangeSpec[] {
    return [...this.#exchanges.values()];
  }

  get queues(): readonly QueueSpec[] {
    return [...this.#queues.values()];
  }

  /** Queues that were declared or bound. */
  get queueNames(): readonly string[] {
    return [...new Set([...this.#queues.keys(), ...this.bindings.map(({ queue }) => queue)])];
  }

  get bindings(): readonly BindingSpec[] {
    return [...this.#bindings.values()];
  }

  exchange(name: string): ExchangeSpec | undefined {
    return this.#exchanges.get(name);
  }

  queue(name: string): QueueSpec | undefined {
    return this.#queues.get(name);
  }

  bindingsOf(queue: string): readonly BindingSpec[] {
    return this.bindings.filter((binding) => binding.queue === queue);
  }

  addExchange(spec: ExchangeSpec): void {
    this.#exchanges.set(spec.name, spec);
  }

  addQueue(spec: QueueSpec): void {
    this.#queues.set(spec.name, spec);
  }

  addBinding(spec: BindingSpec): void {
    this.#bindings.set(keyOf(spec), spec);
  }

  /** A binding goes with either of its ends. */
  removeExchange(name: string): void {
    this.#exchanges.delete(name);
    this.#removeBindings((binding) => binding.exchange === name);
  }

  removeQueue(name: string): void {
    this.#queues.delete(name);
    this.#removeBindings((binding) => binding.queue === name);
  }

  #removeBindings(isGone: (binding: BindingSpec) => boolean): void {
    for (const [key, binding] of this.#bindings) {
      if (isGone(binding)) this.#bindings.delete(key);
    }
  }
}

/** What a binding is told from others by: two with other arguments are two bindings. */
export function keyOf({ queue, exchange, routingKey, arguments: args }: BindingSpec): string {
  const plain = (_name: string, value: unknown): unknown => typeof value === "bigint" ? `${value}n` : value;
  return JSON.stringify([queue, exchange, routingKey, args], plain);
}
