/**
 * What a broker is asked to have: exchanges, queues and bindings as plain values.
 *
 * @module
 */

import type { HeaderValue } from "../message/header_value.ts";

/** Arguments of a declaration or a subscription, such as `x-max-length`. */
export interface DeclareArguments {
  readonly [name: string]: HeaderValue;
}

/** The exchange types every RabbitMQ has. */
export type ExchangeType = "direct" | "topic" | "fanout" | "headers";

/** One exchange. */
export interface ExchangeSpec {
  readonly name: string;
  readonly type: ExchangeType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly arguments: DeclareArguments;
}

/** One queue. Its type is in the arguments: `x-queue-type`, absent for classic. */
export interface QueueSpec {
  readonly name: string;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly arguments: DeclareArguments;
}

/** One binding of a queue to an exchange. */
export interface BindingSpec {
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly arguments: DeclareArguments;
}

/** Everything to declare, in the order it is declared: exchanges, queues, bindings. */
export interface TopologySpec {
  readonly exchanges: readonly ExchangeSpec[];
  readonly queues: readonly QueueSpec[];
  readonly bindings: readonly BindingSpec[];
}
