/**
 * Reads the arguments of a declaration, and refuses them in the broker's words.
 *
 * @module
 */

import type { WireTable, WireValue } from "../../src/message/wire_value.ts";
import type { QueueSpec } from "../../src/topology/specs.ts";
import type { Declared } from "./equivalence.ts";
import { preconditionFailed, type Refusal } from "./refusals.ts";
import { kindOf } from "./wire_kind.ts";

/** The longest time the broker can wait for, milliseconds: ten years. */
export const LONGEST_TIME_MS = 315_360_000_000;

/** Where RabbitMQ may put the leader of a queue that several nodes have. */
const LEADER_LOCATORS: readonly string[] = ["client-local", "balanced", "random", "least-leaders"];

/** The arguments of one queue. */
export class ArgumentReader {
  readonly #name: string;
  readonly #arguments: WireTable;
  readonly #foreign: readonly string[];

  /** What only queues of another type have is there for nobody but {@linkcode ArgumentReader.assertNoneIsForeign}. */
  constructor(
    { name, arguments: args }: Pick<Declared<QueueSpec>, "name" | "arguments">,
    foreign: readonly string[] = [],
  ) {
    this.#name = name;
    this.#arguments = args;
    this.#foreign = foreign;
  }

  has(argument: string): boolean {
    return Object.hasOwn(this.#arguments, argument) && !this.#foreign.includes(argument);
  }

  value(argument: string): WireValue | undefined {
    return this.has(argument) ? this.#arguments[argument] : undefined;
  }

  integer(argument: string): number | undefined {
    const value = this.value(argument);
    if (value === undefined) return undefined;
    if (typeof value === "number" || typeof value === "bigint") return Number(value);
    throw this.invalid(argument, `"expected integer, got ${kindOf(value)}"`);
  }

  /** `Infinity` where it is not there. */
  wholeNumber(argument: string): number {
    const value = this.integer(argument) ?? Infinity;
    if (value < 0) throw this.invalid(argument, `{value_negative,${value}}`);
    return value;
  }

  /** As {@linkcode ArgumentReader.wholeNumber}, for a time. */
  timeMs(argument: string): number {
    const ms = this.wholeNumber(argument);
    if (ms !== Infinity && ms > LONGEST_TIME_MS) throw this.invalid(argument, `{value_too_large,${ms}}`);
    return ms;
  }

  /** `Infinity` where it is not there. */
  positive(argument: string): number {
    const value = this.wholeNumber(argument);
    if (value === 0) throw this.invalid(argument, "{value_zero,0}");
    return value;
  }

  truth(argument: string): boolean {
    const value = this.value(argument) ?? false;
    if (typeof value !== "boolean") throw this.unacceptable(argument, value);
    return value;
  }

  text(argument: string): string | undefined {
    const value = this.value(argument);
    if (value === undefined || typeof value === "string") return value;
    throw this.unacceptable(argument, value);
  }

  /** Throws for a place that there is none of. */
  assertLeaderLocator(): void {
    const locator = this.text("x-queue-leader-locator") ?? "client-local";
    if (!LEADER_LOCATORS.includes(locator)) throw this.invalid("x-queue-leader-locator", "invalid_queue_locator_arg");
  }

  invalid(argument: string, reason: string): Refusal {
    return preconditionFailed(`invalid arg '${argument}' for queue '${this.#name}' in vhost '/': ${reason}`);
  }

  /** Of a kind the argument does not take. */
  unacceptable(argument: string, value: WireValue): Refusal {
    return this.invalid(argument, `{unacceptable_type,${kindOf(value)}}`);
  }

  /** Of a kind the argument does not take, in the words for names of other objects. */
  wrongType(argument: string, value: WireValue): Refusal {
    const words = `invalid type '${kindOf(value)}' for arg '${argument}' in queue '${this.#name}' in vhost '/'`;
    return preconditionFailed(words);
  }

  /** Nothing for a queue of this type. */
  invalidForType(argument: string, type: string): Refusal {
    return preconditionFailed(
      `invalid arg '${argument}' for queue '${this.#name}' in vhost '/' of queue type rabbit_${type}_queue`,
    );
  }

  /** Throws for the first argument that only queues of another type have, in the order they were sent. */
  assertNoneIsForeign(type: string): void {
    const foreign = Object.keys(this.#arguments).find((argument) => this.#foreign.includes(argument));
    if (foreign !== undefined) throw this.invalidForType(foreign, type);
  }

  /** Throws for what only a queue on one node can be. */
  assertReplicable({ durable, exclusive, autoDelete }: Omit<QueueSpec, "arguments">): void {
    if (autoDelete) throw this.invalidProperty("auto-delete");
    if (exclusive) throw this.invalidProperty("exclusive-owner");
    if (!durable) throw this.invalidProperty("non-durable");
  }

  invalidProperty(property: string): Refusal {
    return preconditionFailed(`invalid property '${property}' for queue '${this.#name}' in vhost '/'`);
  }
}
