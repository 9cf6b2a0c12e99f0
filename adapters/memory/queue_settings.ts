/**
 * What the arguments of a queue ask for, read once when it is declared.
 *
 * @module
 */

import type { WireTable, WireValue } from "../../src/message/wire_value.ts";
import type { QueueSpec } from "../../src/topology/specs.ts";
import type { Declared } from "./equivalence.ts";
import { notImplemented, preconditionFailed, type Refusal } from "./refusals.ts";
import { kindOf } from "./wire_kind.ts";

/** What becomes of a message that finds its queue full. */
export type Overflow = "drop-head" | "reject-publish" | "reject-publish-dlx";

/** How a queue behaves. */
export interface QueueSettings {
  readonly isQuorum: boolean;
  /** `Infinity` where nothing expires. */
  readonly ttlMs: number;
  /** Messages that may wait; `Infinity` for any number. */
  readonly maxLength: number;
  /** Bytes of body that may wait; `Infinity` for any number. */
  readonly maxLengthBytes: number;
  readonly overflow: Overflow;
  /** Undefined where what is discarded is gone. */
  readonly deadLetterExchange: string | undefined;
  /** Undefined keeps the message's own keys. */
  readonly deadLetterRoutingKey: string | undefined;
  /** Times a message may come back; `Infinity` for any number. */
  readonly deliveryLimit: number;
}

/** Reads the arguments of a queue; throws the {@linkcode Refusal} the broker answers with where it refuses them. */
export function queueSettings(spec: Declared<QueueSpec>): QueueSettings {
  const read = new ArgumentReader(spec);
  const isQuorum = read.queueType() === "quorum";
  if (isQuorum) assertQuorumProperties(spec, read);
  const deadLetterExchange = read.text("x-dead-letter-exchange");
  const deadLetterRoutingKey = read.text("x-dead-letter-routing-key");
  if (deadLetterExchange === undefined && deadLetterRoutingKey !== undefined) {
    throw read.invalid("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined");
  }
  if (!isQuorum && read.has("x-delivery-limit")) throw read.invalidForType("x-delivery-limit");
  return {
    isQuorum,
    ttlMs: read.wholeNumber("x-message-ttl"),
    maxLength: read.wholeNumber("x-max-length"),
    maxLengthBytes: read.wholeNumber("x-max-length-bytes"),
    overflow: read.overflow(isQuorum),
    deadLetterExchange,
    deadLetterRoutingKey,
    deliveryLimit: read.wholeNumber("x-delivery-limit"),
  };
}

function assertQuorumProperties(spec: Declared<QueueSpec>, read: ArgumentReader): void {
  if (!spec.durable) throw read.invalidProperty("non-durable");
  if (spec.exclusive) throw read.invalidProperty("exclusive-owner");
  if (spec.autoDelete) throw read.invalidProperty("auto-delete");
}

/** What this broker does not do, it refuses: a queue that silently did something else would be no test of anything. */
const NOT_HERE: readonly string[] = ["x-expires", "x-max-priority", "x-single-active-consumer"];

class ArgumentReader {
  readonly #name: string;
  readonly #arguments: WireTable;

  constructor({ name, arguments: args }: Declared<QueueSpec>) {
    this.#name = name;
    this.#arguments = args;
    for (const argument of NOT_HERE) {
      if (this.has(argument)) throw notImplemented(`the memory broker has no ${argument}`);
    }
    if (this.#value("x-dead-letter-strategy") === "at-least-once") {
      throw notImplemented("the memory broker has no dead-lettering that waits until somebody takes what died");
    }
  }

  has(argument: string): boolean {
    return Object.hasOwn(this.#arguments, argument);
  }

  queueType(): "classic" | "quorum" {
    const value = this.#value("x-queue-type") ?? "classic";
    if (typeof value !== "string") throw this.invalid("x-queue-type", `{unacceptable_type,${kindOf(value)}}`);
    if (value === "stream") throw notImplemented("the memory broker has no streams");
    if (value === "classic" || value === "quorum") return value;
    throw this.invalid("x-queue-type", `"unsupported queue type '${value}'"`);
  }

  /** A quorum queue knows only two ways, and takes the third for the first. */
  overflow(isQuorum: boolean): Overflow {
    const value = this.#value("x-overflow") ?? "drop-head";
    if (typeof value !== "string") throw this.invalid("x-overflow", `{unacceptable_type,${kindOf(value)}}`);
    if (value === "reject-publish-dlx") return isQuorum ? "drop-head" : value;
    if (value === "drop-head" || value === "reject-publish") return value;
    throw this.invalid("x-overflow", "invalid_overflow");
  }

  wholeNumber(argument: string): number {
    const value = this.#value(argument);
    if (value === undefined) return Infinity;
    if (typeof value !== "number" && typeof value !== "bigint") {
      throw this.invalid(argument, `"expected integer, got ${kindOf(value)}"`);
    }
    if (value < 0) throw this.invalid(argument, `{value_negative,${value}}`);
    return Number(value);
  }

  text(argument: string): string | undefined {
    const value = this.#value(argument);
    if (value === undefined || typeof value === "string") return value;
    return this.#refuse(`invalid type '${kindOf(value)}' for arg '${argument}' in queue '${this.#name}' in vhost '/'`);
  }

  invalid(argument: string, reason: string): Refusal {
    return preconditionFailed(`invalid arg '${argument}' for queue '${this.#name}' in vhost '/': ${reason}`);
  }

  invalidForType(argument: string): Refusal {
    return preconditionFailed(
      `invalid arg '${argument}' for queue '${this.#name}' in vhost '/' of queue type rabbit_classic_queue`,
    );
  }

  invalidProperty(property: string): Refusal {
    return preconditionFailed(`invalid property '${property}' for queue '${this.#name}' in vhost '/'`);
  }

  #value(argument: string): WireValue | undefined {
    return this.has(argument) ? this.#arguments[argument] : undefined;
  }

  #refuse(words: string): never {
    throw preconditionFailed(words);
  }
}
