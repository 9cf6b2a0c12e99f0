/**
 * The names every AceMQ library derives from a queue's name (contract core 4.3). They are wire format: other languages read
 * them, and renaming one strands whatever waits there.
 *
 * @module
 */

/** Brings messages home from rungs. Direct, durable. */
export const RETRY_EXCHANGE = "acemq.retry";

/** Takes what a queue dead-letters by itself (expired, overflowed, rejected by others) to its `.dlq`. Direct, durable. */
export const DEAD_LETTER_EXCHANGE = "acemq.dlx";

/**
 * The queue of messages that were given up.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { deadLetterQueueName } from "@acemq/amqp/core";
 *
 * assert.equal(deadLetterQueueName("orders.new"), "orders.new.dlq");
 * ```
 */
export function deadLetterQueueName(queue: string): string {
  return `${queue}.dlq`;
}

/**
 * The queue of messages that could not be read, or that a handler put aside for a person.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parkedQueueName } from "@acemq/amqp/core";
 *
 * assert.equal(parkedQueueName("orders.new"), "orders.new.parked");
 * ```
 */
export function parkedQueueName(queue: string): string {
  return `${queue}.parked`;
}

/**
 * The queue that holds a message for one retry delay.
 *
 * Whole hours read `2h`, else whole minutes `5m`, else whole seconds `90s`, else milliseconds `67500ms`: the spelling of Java
 * and .NET, which the shared table of names follows.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rungName } from "@acemq/amqp/core";
 *
 * assert.equal(rungName("orders.new", 60_000), "orders.new.retry.1m");
 * assert.equal(rungName("orders.new", 90_000), "orders.new.retry.90s");
 * assert.equal(rungName("orders.new", 500), "orders.new.retry.500ms");
 * ```
 */
export function rungName(queue: string, delayMs: number): string {
  return `${queue}.retry.${delayText(delayMs)}`;
}

function delayText(ms: number): string {
  if (ms > 0 && ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  if (ms > 0 && ms % 60_000 === 0) return `${ms / 60_000}m`;
  if (ms % 1_000 === 0) return `${ms / 1_000}s`;
  return `${ms}ms`;
}
