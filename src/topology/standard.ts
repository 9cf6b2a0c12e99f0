/**
 * The queues and exchanges the library keeps beside a queue (contract core 5.2, 5.3). Every argument is wire format: a
 * difference makes the second service to start unable to declare.
 *
 * @module
 */

import {
  DEAD_LETTER_EXCHANGE,
  deadLetterQueueName,
  parkedQueueName,
  RETRY_EXCHANGE,
  rungName,
} from "../naming/queue_names.ts";
import type { BindingSpec, DeclareArguments, ExchangeSpec, QueueSpec, TopologySpec } from "./specs.ts";

/** The arguments that make a queue dead-letter by itself into its `.dlq`. */
export function deadLetterArguments(queue: string): DeclareArguments {
  return {
    "x-dead-letter-exchange": DEAD_LETTER_EXCHANGE,
    "x-dead-letter-routing-key": deadLetterQueueName(queue),
  };
}

/** The failure side of a queue: `acemq.dlx`, `{queue}.dlq`, `{queue}.parked`, each bound under its own name. */
export function failureSide(queue: string): TopologySpec {
  const names = [deadLetterQueueName(queue), parkedQueueName(queue)];
  return {
    exchanges: [managedExchange(DEAD_LETTER_EXCHANGE)],
    queues: names.map((name) => classicQueue(name, {})),
    bindings: names.map((name) => binding(name, DEAD_LETTER_EXCHANGE, name)),
  };
}

/** The rungs of a queue and the way home from them; nothing when there are none. */
export function rungs(queue: string, rungsMs: readonly number[]): TopologySpec {
  if (rungsMs.length === 0) return { exchanges: [], queues: [], bindings: [] };
  return {
    exchanges: [managedExchange(RETRY_EXCHANGE)],
    queues: rungsMs.map((delayMs) => classicQueue(rungName(queue, delayMs), rungArguments(queue, delayMs))),
    bindings: [binding(queue, RETRY_EXCHANGE, queue)],
  };
}

/** Several topologies as one; an object named more than once is kept once. */
export function merge(...parts: readonly TopologySpec[]): TopologySpec {
  const byName = <T extends { readonly name: string }>(all: readonly T[]): T[] => [
    ...new Map(all.map((one) => [one.name, one])).values(),
  ];
  return {
    exchanges: byName(parts.flatMap((part) => part.exchanges)),
    queues: byName(parts.flatMap((part) => part.queues)),
    bindings: parts.flatMap((part) => part.bindings),
  };
}

/** Exactly three arguments, and no queue type: rule 3 of contract core 0. */
function rungArguments(queue: string, delayMs: number): DeclareArguments {
  return {
    "x-message-ttl": delayMs,
    "x-dead-letter-exchange": RETRY_EXCHANGE,
    "x-dead-letter-routing-key": queue,
  };
}

function managedExchange(name: string): ExchangeSpec {
  return { name, type: "direct", durable: true, autoDelete: false, arguments: {} };
}

function classicQueue(name: string, args: DeclareArguments): QueueSpec {
  return { name, durable: true, exclusive: false, autoDelete: false, arguments: args };
}

function binding(queue: string, exchange: string, routingKey: string): BindingSpec {
  return { queue, exchange, routingKey, arguments: {} };
}
