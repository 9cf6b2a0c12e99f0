/**
 * The composition root: the only file that joins the library and the AMQP client.
 *
 * @module
 */

import { amqpBroker, type AmqpOptions } from "./adapters/amqp/mod.ts";
import { AMQP_KINDS } from "./adapters/amqp/options.ts";
import { asyncScope } from "./adapters/async_hooks/mod.ts";
import { type Connection, openConnection } from "./src/connection.ts";
import { CONNECT_KINDS, type ConnectOptions } from "./src/connect_options.ts";
import { assertOptions } from "./src/internal/option_kinds.ts";
import type { Broker } from "./src/ports/broker.ts";

export { amqpBroker } from "./adapters/amqp/mod.ts";
export type {
  AmqpCredentials,
  AmqpOptions,
  AmqpTlsOptions,
  CredentialsSource,
  Mechanism,
  Pem,
  ReconnectOptions,
} from "./adapters/amqp/mod.ts";

const WANTED = "the first argument must be an AMQP URL as text, or a broker such as memoryBroker()";

/** Options of {@linkcode connect} with a URL: those of every connection, and those of AMQP. */
export type AmqpConnectOptions = ConnectOptions & AmqpOptions;

/**
 * Connects to RabbitMQ by URL, or to any broker that is handed in.
 *
 * Resolves when the connection stands. Later losses are its own business: it comes back, declares again what was declared through
 * it, and subscribes again; `mq.events()` and `mq.health()` say so. Credentials are asked for again at every attempt and never
 * appear in an error, a log or a printed object.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect, topology } from "@acemq/amqp";
 * import { memoryBroker } from "@acemq/amqp/memory";
 *
 * // "amqps://broker.internal/shop" in production: everything below stays as it is.
 * const mq = await connect(memoryBroker(), { name: "order-service" });
 * await mq.declare(topology().queue("orders.new", { deadLetter: true }));
 *
 * const handled: unknown[] = [];
 * await mq.consume("orders.new", (message) => void handled.push(message.payload));
 * await mq.publisher("", "orders.new").send({ orderId: "A-19" });
 * await mq.close();
 * assert.deepEqual(handled, [{ orderId: "A-19" }]);
 * ```
 *
 * @throws {ConnectionError} `ACEMQ_CONNECT_REFUSED`, `_AUTH`, `_VHOST` or `_TLS`
 * @throws {SecurityError} settings that would weaken security without saying so; nothing was dialled
 * @throws {TypeError} a URL that is none, or neither text nor a broker; an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 */
export function connect(url: string, options?: AmqpConnectOptions): Promise<Connection>;
/** Connects to a broker that is handed in. */
export function connect(broker: Broker, options?: ConnectOptions): Promise<Connection>;
export async function connect(target: string | Broker, options: AmqpConnectOptions = {}): Promise<Connection> {
  assertOptions<AmqpConnectOptions>("connect", options, { ...CONNECT_KINDS, ...AMQP_KINDS });
  const broker = typeof target === "string" ? amqpBroker(target, options) : target;
  if (typeof broker?.open !== "function") throw new TypeError(`Cannot connect: ${WANTED}, found ${kindOf(target)}`);
  return await openConnection(broker, { scope: asyncScope(), ...options });
}

/** What a value is, and nothing of what it holds: a URL object may hold a password. */
function kindOf(value: unknown): string {
  if (value instanceof URL) return "a URL object: hand in its 'href'";
  return value === null ? "null" : typeof value;
}
