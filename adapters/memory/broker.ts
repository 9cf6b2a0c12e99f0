/**
 * A broker in memory, for tests and for programs that need no other yet.
 *
 * @module
 */

import { type Clock, systemClock } from "../../src/clock.ts";
import { assertWholeNumber } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { ReceivedMessage } from "../../src/message/received.ts";
import type { Broker, BrokerConnection, BrokerOpenOptions } from "../../src/ports/broker.ts";
import { type ConnectionHost, MemoryConnection } from "./connection.ts";
import { portError } from "./questions.ts";
import type { QueueEntry } from "./ready_list.ts";
import type { SettlementTerms } from "./settlement_watch.ts";
import { receivedMessage, type RecordedMessage, storedMessage } from "./stored_message.ts";
import { type QueueBinding, type Routed, VirtualHost } from "./virtual_host.ts";
import type { MessageLimits } from "./unsendable.ts";
import { UnwritableError } from "./wire_hop.ts";

/** Options of {@linkcode memoryBroker}. */
export interface MemoryBrokerOptions {
  /** What messages expire by. @default {systemClock()} */
  readonly clock?: Clock;
  /**
   * How long a consumer may hold a message; then it is taken for dead, and everything it holds is handed out again.
   *
   * @default {1_800_000, as RabbitMQ}
   */
  readonly acknowledgementTimeoutMs?: number;
  /** The largest body it takes. @default {134_217_728, as RabbitMQ 3.10} */
  readonly maxBodyBytes?: number;
  /** The largest content header it takes: properties and headers. @default {131_064, what one frame of RabbitMQ holds} */
  readonly maxHeaderBytes?: number;
}

const KINDS: Readonly<OptionKinds<MemoryBrokerOptions>> = {
  clock: "object",
  acknowledgementTimeoutMs: "checked",
  maxBodyBytes: "checked",
  maxHeaderBytes: "checked",
};

/** What a queue of a {@linkcode MemoryBroker} holds. */
export interface QueueInspection {
  /** What waits, head first, or what a stream keeps, oldest first; looking takes nothing away. */
  readonly waiting: readonly ReceivedMessage[];
  /** What consumers and pullers hold and have not settled, oldest first for each of them. */
  readonly inHand: readonly ReceivedMessage[];
  /** How many messages that are. */
  readonly unsettled: number;
  /** Consumers subscribed to it, the readers of a stream and those who wait their turn included; `checkQueue` tells what RabbitMQ counts. */
  readonly consumers: number;
  /** What binds it, in the order the exchanges were declared; the default exchange, which needs no binding, is not among them. */
  readonly bindings: readonly QueueBinding[];
}

/** A broker in memory. Connections to the same one see the same queues. */
export interface MemoryBroker extends Broker {
  /** What messages expire by. */
  readonly clock: Clock;
  /** The names of all queues, in the order they were declared. */
  readonly queues: readonly string[];
  /** Looks into a queue; undefined when there is none of that name. */
  inspect(queue: string): QueueInspection | undefined;
  /**
   * Puts in a message that this library did not write, as another client would have published it.
   *
   * @throws {TopologyError} no such exchange, or a message the broker refuses
   * @throws {TypeError} a header value no AMQP kind holds
   */
  put(message: RecordedMessage): Routed;
  /**
   * Blocks publishing, as RabbitMQ does when it runs out of memory or disk.
   *
   * A connection hears of it when it publishes: nothing it sends is read any more, so that this publish, and whatever it
   * settles or asks, waits for the end of the block. What it publishes after that is declined at once. Consuming goes on.
   */
  block(reason: string): void;
  /** Ends the block. */
  unblock(): void;
}

/**
 * A broker in memory that routes, refuses, expires and dead-letters as RabbitMQ 3.10 does.
 *
 * Nothing outlives the process, and nothing but the shared contract says what it does. Timers run only while somebody is connected.
 * Where RabbitMQ closes a whole connection, as over what cannot be asked of a stream, only the question is refused here, or the
 * consumer lost.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect } from "@acemq/amqp/core";
 * import { memoryBroker } from "@acemq/amqp/memory";
 *
 * const broker = memoryBroker();
 * const mq = await connect(broker);
 * assert.deepEqual(broker.queues, []);
 * await mq.close();
 * ```
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} a limit that is no positive whole number
 */
export function memoryBroker(options: MemoryBrokerOptions = {}): MemoryBroker {
  assertOptions("a memory broker", options, KINDS);
  const { clock = systemClock(), acknowledgementTimeoutMs = 1_800_000 } = options;
  const { maxBodyBytes = 134_217_728, maxHeaderBytes = 131_064 } = options;
  assertWholeNumber("acknowledgementTimeoutMs", acknowledgementTimeoutMs, 1);
  assertWholeNumber("maxBodyBytes", maxBodyBytes, 1);
  assertWholeNumber("maxHeaderBytes", maxHeaderBytes, 1);
  return new OpenBroker({ clock, acknowledgementTimeoutMs }, { maxBodyBytes, maxHeaderBytes });
}

class OpenBroker implements MemoryBroker, ConnectionHost {
  readonly clock: Clock;
  readonly limits: MessageLimits;
  readonly virtualHost: VirtualHost;
  readonly #connections = new Set<MemoryConnection>();
  #blockedReason: string | undefined;

  constructor(terms: SettlementTerms, limits: MessageLimits) {
    this.clock = terms.clock;
    this.limits = limits;
    this.virtualHost = new VirtualHost(terms);
  }

  get blockedReason(): string | undefined {
    return this.#blockedReason;
  }

  get queues(): readonly string[] {
    return this.virtualHost.queueNames;
  }

  async open(options: BrokerOpenOptions): Promise<BrokerConnection> {
    options.signal?.throwIfAborted();
    const connection = new MemoryConnection(this, options);
    this.#connections.add(connection);
    return connection;
  }

  closed(connection: MemoryConnection): void {
    this.#connections.delete(connection);
  }

  inspect(name: string): QueueInspection | undefined {
    const queue = this.virtualHost.findQueue(name);
    if (queue === undefined) return undefined;
    queue.expire();
    const { unsettled } = queue;
    const shown = ({ message, returns }: QueueEntry): ReceivedMessage =>
      receivedMessage(message, { redelivered: returns > 0, returns: queue.isQuorum ? returns : undefined });
    return {
      waiting: queue.waiting().map(shown),
      inHand: [...this.#connections].flatMap((connection) => connection.heldOf(queue)).map(shown),
      unsettled,
      consumers: queue.subscribers,
      bindings: this.virtualHost.bindingsOf(queue),
    };
  }

  put(message: RecordedMessage): Routed {
    try {
      return this.virtualHost.publish(storedMessage(message), {});
    } catch (error) {
      if (error instanceof UnwritableError) throw new TypeError(`Cannot put in a message: ${error.message}`);
      throw portError(error, "put in a message");
    }
  }

  block(reason: string): void {
    this.#blockedReason = reason;
  }

  unblock(): void {
    this.#blockedReason = undefined;
    for (const connection of this.#connections) connection.unblock();
  }
}
