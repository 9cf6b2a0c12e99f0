/**
 * The topology builder: what a service needs on its broker, said once and checked before the broker hears of it.
 *
 * @module
 */

import { assertName, assertShortText, assertWholeNumber } from "../internal/assert_option.ts";
import { assertOptions, describeKind, type OptionKinds } from "../internal/option_kinds.ts";
import { rungName } from "../naming/queue_names.ts";
import { ladderOf } from "../retry/ladder.ts";
import { noRetry, type RetryPolicy } from "../retry/policy.ts";
import type { BindingSpec, DeclareArguments, ExchangeSpec, ExchangeType, QueueSpec, TopologySpec } from "./specs.ts";
import { deadLetterArguments, failureSide, merge, rungs } from "./standard.ts";

/** Options of {@linkcode Topology.exchange}. */
export interface ExchangeOptions {
  /** Survives a restart of the broker. @default {true} */
  readonly durable?: boolean;
  /** Goes when its last binding goes. @default {false} */
  readonly autoDelete?: boolean;
  /** Further arguments, such as `alternate-exchange`. */
  readonly arguments?: DeclareArguments;
}

/** Options of {@linkcode Topology.queue}. */
export interface QueueOptions {
  /**
   * What kind of queue it is. A quorum queue counts how often a message comes back unsettled (a crash, a lost connection, a close),
   * and RabbitMQ 4 by default drops or dead-letters it after 20 times; retries are copies and do not count.
   *
   * @default {"quorum", or "classic" for an exclusive, auto-delete or transient queue}
   */
  readonly type?: "quorum" | "classic" | "stream";
  /** Brings `.dlq` and `.parked`, and sends what the broker itself drops (expired, overflowed) to `.dlq`. @default {false} */
  readonly deadLetter?: boolean;
  /** Brings the rungs that hold the policy's long waits. */
  readonly retry?: RetryPolicy;
  /** Rungs beyond the policy's, for waits that handlers ask for, milliseconds. */
  readonly rungsMs?: readonly number[];
  /** Survives a restart of the broker. @default {true} */
  readonly durable?: boolean;
  /** Belongs to this connection and goes with it. @default {false} */
  readonly exclusive?: boolean;
  /** Goes when its last consumer goes. @default {false} */
  readonly autoDelete?: boolean;
  /** Streams only: entries older than this may be dropped, milliseconds, whole seconds. */
  readonly maxAgeMs?: number;
  /** Streams only: the oldest entries are dropped beyond this size, bytes. */
  readonly maxLengthBytes?: number;
  /** Further arguments, such as `x-max-length` or `x-single-active-consumer`. */
  readonly arguments?: DeclareArguments;
}

/** Options of {@linkcode Topology.bind}. */
export interface BindOptions {
  /** The exchange messages come from. */
  readonly exchange: string;
  /** Which of its messages: a pattern for a topic exchange. @default {""} */
  readonly routingKey?: string;
  /** Arguments of the binding, which a headers exchange matches. */
  readonly arguments?: DeclareArguments;
}

const EXCHANGE_KINDS: Readonly<OptionKinds<ExchangeOptions>> = {
  durable: "boolean",
  autoDelete: "boolean",
  arguments: "record",
};

const QUEUE_KINDS: Readonly<OptionKinds<QueueOptions>> = {
  type: "checked",
  deadLetter: "boolean",
  retry: "object",
  rungsMs: "list",
  durable: "boolean",
  exclusive: "boolean",
  autoDelete: "boolean",
  maxAgeMs: "checked",
  maxLengthBytes: "checked",
  arguments: "record",
};

const BIND_KINDS: Readonly<OptionKinds<BindOptions>> = { exchange: "text", routingKey: "text", arguments: "record" };

/**
 * Exchanges, queues and bindings as an immutable value: every method returns a new topology.
 *
 * Inert: `mq.declare(topology)` is what asks the broker.
 */
export class Topology {
  readonly #exchanges: readonly ExchangeSpec[];
  readonly #queues: readonly DeclaredQueue[];
  readonly #bindings: readonly BindingSpec[];

  /** Use {@linkcode topology}. */
  constructor(
    exchanges: readonly ExchangeSpec[] = [],
    queues: readonly DeclaredQueue[] = [],
    bindings: readonly BindingSpec[] = [],
  ) {
    this.#exchanges = exchanges;
    this.#queues = queues;
    this.#bindings = bindings;
  }

  /**
   * Adds an exchange.
   *
   * @throws {TypeError} an empty or doubled name, an unknown type
   */
  exchange(name: string, type: ExchangeType = "topic", options: ExchangeOptions = {}): Topology {
    assertName("an exchange name", name);
    assertOptions("an exchange", options, EXCHANGE_KINDS);
    if (!EXCHANGE_TYPES.includes(type)) {
      throw new TypeError(
        `Cannot add exchange "${name}": its type must be one of ${EXCHANGE_TYPES.join(", ")}, found ${String(type)}`,
      );
    }
    if (this.#exchanges.some((one) => one.name === name)) {
      throw new TypeError(`Cannot add exchange "${name}": it is there already`);
    }
    const { durable = true, autoDelete = false, arguments: args = {} } = options;
    return new Topology(
      [...this.#exchanges, { name, type, durable, autoDelete, arguments: { ...args } }],
      this.#queues,
      this.#bindings,
    );
  }

  /**
   * Adds a queue: quorum and durable unless asked otherwise.
   *
   * @throws {TypeError} an empty or doubled name, options that contradict each other
   * @throws {RangeError} a retry policy whose broker-side waits are not whole seconds
   */
  queue(name: string, options: QueueOptions = {}): Topology {
    assertName("a queue name", name);
    assertOptions("a queue", options, QUEUE_KINDS);
    const added = declaredQueue(name, options);
    const taken = new Set(this.spec.queues.map((one) => one.name));
    for (const one of [added.spec, ...added.beside.queues]) {
      if (taken.has(one.name)) throw new TypeError(`Cannot add queue "${one.name}": it is there already`);
    }
    return new Topology(this.#exchanges, [...this.#queues, added], this.#bindings);
  }

  /**
   * Binds a queue of this topology to an exchange of this topology, or to one of the broker's own (`amq.…`). What comes with a
   * queue, such as its `.dlq`, counts as named.
   *
   * @throws {TypeError} a queue or exchange this topology does not name, the default exchange
   */
  bind(queue: string, options: BindOptions): Topology {
    assertName("a queue name", queue);
    assertOptions("a binding", options, BIND_KINDS);
    const { exchange, routingKey = "", arguments: args = {} } = options;
    assertShortText("an exchange name", exchange);
    const problem = `Cannot bind queue "${queue}" to exchange "${exchange}"`;
    if (exchange === "") throw new TypeError(`${problem}: the default exchange takes no bindings`);
    const { queues, exchanges } = this.spec;
    if (!queues.some((one) => one.name === queue)) {
      throw new TypeError(`${problem}: the topology has no queue of that name`);
    }
    if (!exchange.startsWith("amq.") && !exchanges.some((one) => one.name === exchange)) {
      throw new TypeError(`${problem}: the topology has no exchange of that name`);
    }
    assertShortText("a routing key", routingKey);
    return new Topology(this.#exchanges, this.#queues, [...this.#bindings, {
      queue,
      exchange,
      routingKey,
      arguments: { ...args },
    }]);
  }

  /** Everything there is to declare, the library's own queues and exchanges included. */
  get spec(): TopologySpec {
    return merge(
      { exchanges: this.#exchanges, queues: this.#queues.map((one) => one.spec), bindings: this.#bindings },
      ...this.#queues.map((one) => one.beside),
    );
  }
}

/**
 * An empty topology to build on.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { topology } from "@acemq/amqp/core";
 *
 * const shop = topology()
 *   .exchange("orders", "topic")
 *   .queue("orders.new", { deadLetter: true })
 *   .bind("orders.new", { exchange: "orders", routingKey: "order.placed" });
 * assert.deepEqual(shop.spec.queues.map((queue) => queue.name), ["orders.new", "orders.new.dlq", "orders.new.parked"]);
 * ```
 */
export function topology(): Topology {
  return new Topology();
}

/** What a topology says; throws a `TypeError` for anything that is none. */
export function specOf(value: Topology): TopologySpec {
  if (value instanceof Topology) return value.spec;
  throw new TypeError(`Cannot use a topology: it must be what topology() makes, found ${describeKind(value)}`);
}

/** A queue and what comes with it. */
interface DeclaredQueue {
  readonly spec: QueueSpec;
  readonly beside: TopologySpec;
}

const EXCHANGE_TYPES: readonly string[] = ["direct", "topic", "fanout", "headers"];

function declaredQueue(name: string, options: QueueOptions): DeclaredQueue {
  const { durable = true, exclusive = false, autoDelete = false, deadLetter = false } = options;
  const { type = exclusive || autoDelete || !durable ? "classic" : "quorum" } = options;
  assertConsistent(name, type, options);
  const { rungsMs } = ladderOf(options.retry ?? noRetry(), options.rungsMs);
  for (const derived of [`${name}.parked`, ...rungsMs.map((ms) => rungName(name, ms))]) {
    assertShortText("a queue name", derived);
  }
  return {
    spec: { name, durable, exclusive, autoDelete, arguments: queueArguments(name, type, options) },
    beside: merge(...(deadLetter ? [failureSide(name)] : []), rungs(name, rungsMs)),
  };
}

function queueArguments(name: string, type: string, options: QueueOptions): DeclareArguments {
  return {
    ...(type === "classic" ? {} : { "x-queue-type": type }),
    ...(options.deadLetter ? deadLetterArguments(name) : {}),
    ...(options.maxAgeMs === undefined ? {} : { "x-max-age": `${options.maxAgeMs / 1_000}s` }),
    ...(options.maxLengthBytes === undefined ? {} : { "x-max-length-bytes": options.maxLengthBytes }),
    ...options.arguments,
  };
}

function assertConsistent(name: string, type: string, options: QueueOptions): void {
  const { durable = true, exclusive = false, autoDelete = false, arguments: args = {} } = options;
  const refuse = (reason: string): never => {
    throw new TypeError(`Cannot add queue "${name}": ${reason}`);
  };
  if (!["quorum", "classic", "stream"].includes(type)) {
    refuse(`its type must be quorum, classic or stream, found ${typeof type === "string" ? type : describeKind(type)}`);
  }
  if (type !== "classic" && (exclusive || autoDelete || !durable)) {
    refuse(`an exclusive, auto-delete or transient queue must be classic, found ${type}`);
  }
  if (!durable && !exclusive) {
    refuse("a transient queue must be exclusive, since RabbitMQ 4 closes the connection over any other");
  }
  if ("x-queue-type" in args) refuse("its type is the option 'type', found the argument x-queue-type as well");
  if (options.deadLetter && ("x-dead-letter-exchange" in args || "x-dead-letter-routing-key" in args)) {
    refuse("dead-lettering is either the option 'deadLetter' or arguments of your own, found both");
  }
  assertStreamOptions(type, options, refuse);
}

function assertStreamOptions(type: string, options: QueueOptions, refuse: (reason: string) => never): void {
  const { maxAgeMs, maxLengthBytes } = options;
  if (type === "stream") {
    if (options.deadLetter || options.retry || options.rungsMs) refuse("a stream has no dead-lettering and no retry");
  } else if (maxAgeMs !== undefined || maxLengthBytes !== undefined) {
    refuse("'maxAgeMs' and 'maxLengthBytes' are for streams");
  }
  if (maxLengthBytes !== undefined) assertWholeNumber("maxLengthBytes", maxLengthBytes, 1);
  if (maxAgeMs === undefined) return;
  assertWholeNumber("maxAgeMs", maxAgeMs, 1_000);
  if (maxAgeMs % 1_000 !== 0) {
    throw new RangeError(`Cannot use option 'maxAgeMs': it must be whole seconds, found ${maxAgeMs} ms`);
  }
}
