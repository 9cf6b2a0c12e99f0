/**
 * One exchange: which of the queues bound to it a message goes to.
 *
 * @module
 */

import type { WireTable } from "../../src/message/wire_value.ts";
import type { ExchangeSpec } from "../../src/topology/specs.ts";
import type { AnyQueue } from "./any_queue.ts";
import type { Declared } from "./equivalence.ts";
import { matchesHeaders } from "./headers_match.ts";
import { preconditionFailed } from "./refusals.ts";
import type { StoredMessage } from "./stored_message.ts";
import { matchesTopic } from "./topic_match.ts";
import { isSameValue } from "./wire_equality.ts";
import { kindOf } from "./wire_kind.ts";

/** A queue bound to an exchange. */
export interface Binding {
  readonly queue: AnyQueue;
  readonly routingKey: string;
  readonly arguments: WireTable;
}

/** Keys an exchange remembers the way of; beyond it, it starts again. */
const REMEMBERED_KEYS = 1_000;

/** An exchange of the memory broker. */
export class MemoryExchange {
  readonly spec: Declared<ExchangeSpec>;
  /** Where a message goes that finds no queue here. */
  readonly alternate: string | undefined;
  #bindings: readonly Binding[] = [];
  /** Where each key went before; a headers exchange looks at more than the key. */
  readonly #ways = new Map<string, readonly AnyQueue[]>();

  /** @throws {Refusal} an alternate exchange that is no name */
  constructor(spec: Declared<ExchangeSpec>) {
    this.spec = spec;
    this.alternate = alternateOf(spec);
  }

  /** What binds a queue, oldest first. */
  bindingsOf(queue: AnyQueue): readonly Binding[] {
    return this.#bindings.filter((one) => one.queue === queue);
  }

  /** Binds a queue; the same binding twice is one. */
  bind(binding: Binding): void {
    const isThere = this.#bindings.some((one) =>
      one.queue === binding.queue && one.routingKey === binding.routingKey &&
      isSameValue(one.arguments, binding.arguments)
    );
    if (isThere) return;
    this.#bindings = [...this.#bindings, binding];
    this.#ways.clear();
  }

  /** Forgets a queue; true when it was the last one bound. */
  unbind(queue: AnyQueue): boolean {
    const kept = this.#bindings.filter((one) => one.queue !== queue);
    if (kept.length === this.#bindings.length) return false;
    this.#bindings = kept;
    this.#ways.clear();
    return kept.length === 0;
  }

  /** The queues a message goes to, each once. */
  queuesFor(message: StoredMessage): readonly AnyQueue[] {
    const { keys } = message;
    if (keys.length === 1) return this.#queuesForKey(keys[0], message.headers);
    return [...new Set(keys.flatMap((key) => this.#queuesForKey(key, message.headers)))];
  }

  #queuesForKey(key: string, headers: WireTable): readonly AnyQueue[] {
    if (this.spec.type === "headers") return this.#matching(key, headers);
    const known = this.#ways.get(key);
    if (known !== undefined) return known;
    const found = this.#matching(key, headers);
    if (this.#ways.size >= REMEMBERED_KEYS) this.#ways.clear();
    this.#ways.set(key, found);
    return found;
  }

  #matching(key: string, headers: WireTable): readonly AnyQueue[] {
    return [...new Set(this.#bindings.filter((one) => this.#matches(one, key, headers)).map((one) => one.queue))];
  }

  #matches(binding: Binding, key: string, headers: WireTable): boolean {
    switch (this.spec.type) {
      case "direct":
        return binding.routingKey === key;
      case "fanout":
        return true;
      case "topic":
        return matchesTopic(binding.routingKey, key);
      case "headers":
        return matchesHeaders(binding.arguments, headers);
    }
  }
}

function alternateOf({ name, arguments: args }: Declared<ExchangeSpec>): string | undefined {
  const argument = "alternate-exchange";
  const value = Object.hasOwn(args, argument) ? args[argument] : undefined;
  if (value === undefined || typeof value === "string") return value;
  throw preconditionFailed(`invalid type '${kindOf(value)}' for arg '${argument}' in exchange '${name}' in vhost '/'`);
}
