/**
 * What a broker is asked to have: exchanges, queues and bindings as plain values.
 *
 * @module
 */

import type { HeaderValue } from "../message/header_value.ts";

/** Arguments of a declaration or a subscription, such as `x-max-length`. */
export interface DeclareArguments {
  /** A value the broker knows this argument by. */
  readonly [name: string]: HeaderValue;
}

/** The exchange types every RabbitMQ has. */
export type ExchangeType = "direct" | "topic" | "fanout" | "headers";

/** One exchange. */
export interface ExchangeSpec {
  /** Never empty: the default exchange is always there. */
  readonly name: string;
  /** How it routes. */
  readonly type: ExchangeType;
  /** Survives a restart of the broker. */
  readonly durable: boolean;
  /** Goes when its last binding goes. */
  readonly autoDelete: boolean;
  /** Whatever else the broker is told, such as `alternate-exchange`. */
  readonly arguments: DeclareArguments;
}

/** One queue. Its type is in the arguments: `x-queue-type`, absent for classic. */
export interface QueueSpec {
  /** Also its routing key on the default exchange. */
  readonly name: string;
  /** Survives a restart of the broker. */
  readonly durable: boolean;
  /** Belongs to the connection that declared it and goes with it. */
  readonly exclusive: boolean;
  /** Goes when its last consumer goes. */
  readonly autoDelete: boolean;
  /** Every argument, the queue type included. */
  readonly arguments: DeclareArguments;
}

/** One binding of a queue to an exchange. */
export interface BindingSpec {
  /** Where messages go. */
  readonly queue: string;
  /** Where they come from. */
  readonly exchange: string;
  /** Which of them: a pattern for a topic exchange. */
  readonly routingKey: string;
  /** What a headers exchange matches. */
  readonly arguments: DeclareArguments;
}

/** Everything to declare, in the order it is declared: exchanges, queues, bindings. */
export interface TopologySpec {
  /** Declared first. */
  readonly exchanges: readonly ExchangeSpec[];
  /** Declared second. */
  readonly queues: readonly QueueSpec[];
  /** Declared last: both ends are there by then. */
  readonly bindings: readonly BindingSpec[];
}
