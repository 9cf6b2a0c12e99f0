/**
 * RabbitMQ as a {@linkcode Broker}.
 *
 * @module
 */

import type { Broker } from "../../src/ports/broker.ts";
import { openConnection } from "./connection.ts";
import { type AmqpOptions, resolveOptions } from "./options.ts";

/**
 * A broker at an `amqp` or `amqps` URL.
 *
 * The URL and the options are checked here and now: a `TypeError`, `RangeError` or `SecurityError` is thrown before anything is
 * dialled, and neither it nor the broker itself ever shows a credential. Nothing is dialled until the broker is opened.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { amqpBroker } from "@acemq/amqp";
 *
 * const broker = amqpBroker("amqps://broker.internal/shop", {
 *   credentials: { username: "orders", password: "p@ss#w?rd/$%" },
 * });
 * assert.equal(JSON.stringify(broker), "{}");
 * assert.throws(() => amqpBroker("http://broker.internal"), TypeError);
 * ```
 */
export function amqpBroker(url: string, options: AmqpOptions = {}): Broker {
  const resolved = resolveOptions(url, options);
  return { open: (open) => openConnection(resolved, open) };
}
