/**
 * The connection: one object in front of everything the library does over one broker.
 *
 * @module
 */

import { codecOf, type Format } from "./codec/format.ts";
import type { ConnectOptions } from "./connect_options.ts";
import { type ConnectionParts, openParts } from "./connection_parts.ts";
import { Consumer } from "./consume/consumer.ts";
import type { ConsumerContext } from "./consume/context.ts";
import { type Delivery, openDeliveries } from "./consume/deliveries.ts";
import { type DrainOptions, type DrainReport, type OpenLoop, withBudget } from "./consume/drain.ts";
import type { Feed } from "./consume/feed.ts";
import { untilIdle } from "./consume/idle.ts";
import type { Handler } from "./consume/interceptor.ts";
import { assertConsumeOptions, assertDeliveries } from "./consume/option_kinds.ts";
import type { ConsumeOptions, DeliveriesOptions } from "./consume/options.ts";
import { type DeclareOptions, declareTopology } from "./declare/declare.ts";
import { type PlanOptions, planTopology } from "./declare/plan.ts";
import { validateTopology } from "./declare/validate.ts";
import { ConnectionError } from "./errors.ts";
import { checkConnection } from "./health/connection_check.ts";
import type { HealthReport } from "./health/report.ts";
import { whenAborted } from "./internal/abort.ts";
import { signalOf } from "./internal/option_kinds.ts";
import type { Broker, BrokerEvent } from "./ports/broker.ts";
import type { Codec } from "./ports/codec.ts";
import type { InputOf, OutputOf, StandardSchema } from "./ports/standard_schema.ts";
import type { RelayStore } from "./ports/outbox_store.ts";
import type { Relay } from "./patterns/outbox/relay.ts";
import type { RelayOptions } from "./patterns/outbox/relay_options.ts";
import { Relays } from "./patterns/outbox/relays.ts";
import { assertPeekOptions, openPeek, type PeekOptions } from "./patterns/replay/peek.ts";
import type { PeekedMessage } from "./patterns/replay/peeked_message.ts";
import { type ReplayContext, replayQueue } from "./patterns/replay/replay.ts";
import { assertReplayOptions, type ReplayOptions, type ReplayResult } from "./patterns/replay/replay_options.ts";
import { PublishMeter } from "./publish/meter.ts";
import { Publisher } from "./publish/publisher.ts";
import { assertPublisher, type PublisherOptions } from "./publish/send_options.ts";
import type { TopologyPlan } from "./topology/plan.ts";
import { specOf, type Topology } from "./topology/topology.ts";

/**
 * Opens a connection to a broker.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect } from "@acemq/amqp/core";
 * import { memoryBroker } from "@acemq/amqp/memory";
 *
 * const mq = await connect(memoryBroker(), { name: "order-service" });
 * assert.equal((await mq.health()).status, "up");
 * await mq.close();
 * ```
 *
 * @throws {ConnectionError} the broker cannot be reached, or does not let us in
 * @throws {CodecMissingError} a codec that was named but not handed in
 */
export async function openConnection(broker: Broker, options: ConnectOptions = {}): Promise<Connection> {
  return new Connection(await openParts(broker, options), options);
}

/** An open connection. `close()` drains, then closes; twice is once. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #interceptors: NonNullable<ConnectOptions["interceptors"]>;
  readonly #gate: ConnectionParts["gate"];
  readonly #meter: PublishMeter;
  readonly #consumers = new Set<Consumer>();
  readonly #loops = new Set<OpenLoop>();
  readonly #feeds = new Set<Feed>();
  readonly #relays: Relays;
  readonly #budgetEnd = new AbortController();
  readonly #closingNow = new AbortController();
  #closing: Promise<DrainReport> | undefined;

  /** Use `connect(…)`. */
  constructor(parts: ConnectionParts, options: ConnectOptions) {
    this.#parts = parts;
    this.#interceptors = options.interceptors ?? {};
    this.#gate = parts.gate;
    this.#meter = new PublishMeter(parts.environment.recorder);
    const { publishTimeoutMs, drainTimeoutMs } = parts.settings;
    const assertOpen = (): void => this.#assertOpen();
    this.#relays = new Relays({ ...parts, publishTimeoutMs, drainTimeoutMs, loops: this.#loops, assertOpen });
  }

  /**
   * A publisher for one exchange and routing key. Inert: nothing is declared and nothing sent. The empty exchange is the default
   * one, whose routing key is a queue's name.
   *
   * @throws {TypeError} a name that is no text, an option that there is not or of another type
   * @throws {RangeError} a name over 255 bytes, an option out of range
   * @throws {CodecMissingError} a codec that was named but not handed in
   */
  publisher<T = unknown, S extends StandardSchema | undefined = undefined>(
    exchange: string,
    routingKey: string,
    options: PublisherOptions<T, S> = {},
  ): Publisher<InputOf<S, T>> {
    assertPublisher(exchange, routingKey, options as PublisherOptions);
    const { broker, environment, settings } = this.#parts;
    return new Publisher({ exchange, routingKey }, {
      gate: this.#gate,
      environment,
      meter: this.#meter,
      codec: codecOf(options as Format, this.#parts),
      origin: `${settings.name}@${broker.hostName}`,
      interceptors: this.#interceptors.publish ?? [],
    }, options as PublisherOptions);
  }

  /**
   * Consumes from a queue: declares its failure side, subscribes, and calls the handler for every message, at least once.
   *
   * @throws {TopologyError} the queue is not there, or what is declared beside it exists otherwise
   * @throws {RangeError} an option out of range
   * @throws {TypeError} further attempts for a queue that is read as a stream
   */
  async consume<T = unknown, S extends StandardSchema | undefined = undefined>(
    queue: string,
    handler: Handler<OutputOf<S, T>>,
    options: ConsumeOptions<T, S> = {},
  ): Promise<Consumer<OutputOf<S, T>>> {
    this.#assertOpen();
    assertConsumeOptions(options);
    const context = this.#consumerContext<OutputOf<S, T>>(options);
    const opened: Consumer<OutputOf<S, T>> = await Consumer.open({ queue, handler }, {
      ...context,
      onClosed: () => void this.#consumers.delete(opened as Consumer),
    }, options);
    // Kept for health and closing only, which never hand a payload to its handler.
    this.#consumers.add(opened as Consumer);
    if (this.#closing !== undefined) await opened.close();
    return opened;
  }

  /**
   * Messages of a queue as an async iterable, each to be settled by the caller; leaving the loop hands back the rest. Consume
   * interceptors are not run.
   */
  deliveries<T = unknown, S extends StandardSchema | undefined = undefined>(
    queue: string,
    options: DeliveriesOptions<T, S> = {},
  ): AsyncIterableIterator<Delivery<OutputOf<S, T>>> {
    this.#assertOpen();
    assertDeliveries(queue, options);
    const signal = this.#untilClosing(options.signal);
    return openDeliveries(queue, this.#consumerContext<OutputOf<S, T>>(options), { ...options, signal });
  }

  /**
   * Messages that were set aside, head first, as they lie there: nothing is taken away. The loop ends after those that lay there when
   * it began, or after `limit`; everything goes back where it was when it is left, also by a `break` or a throw.
   *
   * The price: until then nobody else sees these messages. A `.dlq` and a `.parked` are classic queues, which only mark them as
   * redelivered. A quorum queue counts every look in `x-delivery-count` and puts what was looked at to another place, and a RabbitMQ 4
   * lets go of a message after twenty: such a queue is for `from: "queue"` in an emergency.
   *
   * @throws {TypeError} a name, a side or an option that there is not
   * @throws {RangeError} an option out of range
   * @throws {TopologyError} while looping: there is no such queue (`ACEMQ_TOPOLOGY_MISSING`), or it is a stream, from which nothing
   * can be taken (`ACEMQ_TOPOLOGY_REFUSED`)
   * @throws {ConnectionError} while looping: the connection was lost
   */
  peek<T = unknown>(queue: string, options: PeekOptions<T> = {}): AsyncIterableIterator<PeekedMessage<T>> {
    this.#assertOpen();
    assertPeekOptions(options as PeekOptions);
    return openPeek(queue, this.#consumerContext<T>(options), options);
  }

  /**
   * Puts set-aside messages back, as first attempts, in one pass over what lies in the queue now. Every copy is confirmed and routed
   * before its original is acknowledged, one after the other: whatever dies in between, no message is lost and at most one is in both
   * queues. A pass that was ended is gone on with by another call.
   *
   * Resolves also when the pass failed half-way: look at `reason`.
   *
   * @throws {TypeError} a name, a side or an option that there is not
   * @throws {RangeError} an option out of range; into the queue the messages are read from
   * @throws {TopologyError} there is no queue to read from (`ACEMQ_TOPOLOGY_MISSING`), or it is a stream, from which nothing can be
   * taken (`ACEMQ_TOPOLOGY_REFUSED`)
   * @throws {ConnectionError} there is no connection to begin with
   */
  async replay<T = unknown>(queue: string, options: ReplayOptions<T> = {}): Promise<ReplayResult> {
    this.#assertOpen();
    assertReplayOptions(options as ReplayOptions);
    return await replayQueue(queue, this.#consumerContext<T>(options), options);
  }

  /**
   * A relay from an outbox to this connection's broker. Inert: nothing is claimed before `start()` or `runOnce()`.
   *
   * Bytes, content type and headers go out as they were added, past the publish interceptors, mandatory, persistent and confirmed
   * whatever the connection's settings. A row is marked published when its message is in a queue, and not before. It goes out again
   * when a process dies in between, under the same message id.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { connect, topology } from "@acemq/amqp/core";
   * import { memoryBroker, memoryOutboxStore } from "@acemq/amqp/memory";
   *
   * const mq = await connect(memoryBroker());
   * await mq.declare(topology().queue("orders.new"));
   * const outbox = memoryOutboxStore();
   * const running = await mq.relay(outbox, { mode: "in_order" }).start();
   *
   * const arrived = new Promise((resolve) => mq.consume("orders.new", ({ payload }) => resolve(payload)));
   * await outbox.transaction((tx) => outbox.add(tx, mq.publisher("", "orders.new").prepare({ id: "A-1" })));
   * assert.deepEqual(await arrived, { id: "A-1" });
   * await running.close();
   * await mq.close();
   * ```
   *
   * @throws {TypeError} what is no store, an option that there is not or of another type
   * @throws {RangeError} an option out of range, a `maxAttempts` that is not the store's
   */
  relay(store: RelayStore, options: RelayOptions = {}): Relay {
    return this.#relays.relay(store, options);
  }

  /**
   * Creates what the topology says and the broker does not have. Nothing is changed or removed, ever.
   *
   * @throws {TopologyError} `ACEMQ_TOPOLOGY_DRIFT` when something exists otherwise: nothing was created then
   * @throws the signal's reason, when it aborts first: what was created until then stays
   */
  async declare(topology: Topology, options: DeclareOptions = {}): Promise<void> {
    this.#assertOpen();
    await declareTopology(this.#parts.broker, specOf(topology), { signal: signalOf("declare", options) });
  }

  /**
   * Asks the broker for every exchange and queue of the topology, and says what is there, what a declaration would create, what
   * differs in the broker's own words, and what cannot be known: bindings always, since AMQP has no question for them.
   *
   * Nothing is created: each object is asked for passively, and only one that is there is declared, so that the broker itself
   * compares it. The price is up to three round trips for each object; a comparison counts as use for a queue with `x-expires`, and
   * an object that somebody removes between those two questions, a round trip apart, is created by the second. Needs the `configure`
   * permission; without it, what is there is `unknown`. A plan waits while the broker has blocked the connection.
   *
   * @throws {ConnectionError} the connection is closed, or was lost on the way
   * @throws the signal's reason, when it aborts first
   */
  async plan(topology: Topology, options: PlanOptions = {}): Promise<TopologyPlan> {
    this.#assertOpen();
    return await planTopology(this.#parts.broker, specOf(topology), { signal: signalOf("plan", options) });
  }

  /**
   * Makes sure that the broker has every exchange and queue of the topology as it says, and creates nothing. Bindings are not
   * verified, since AMQP has no question for them. Asks, and costs, what {@linkcode Connection.plan} does.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { connect, topology } from "@acemq/amqp/core";
   * import { memoryBroker } from "@acemq/amqp/memory";
   *
   * const mq = await connect(memoryBroker());
   * const shop = topology().queue("orders.new");
   * await assert.rejects(mq.validate(shop), { name: "TopologyError", code: "ACEMQ_TOPOLOGY_MISSING" });
   * await mq.declare(shop);
   * await mq.validate(shop);
   * await mq.close();
   * ```
   *
   * @throws {TopologyError} with every finding: `ACEMQ_TOPOLOGY_DRIFT` when something differs, else `ACEMQ_TOPOLOGY_REFUSED` when
   * the broker refused to compare something, else `ACEMQ_TOPOLOGY_MISSING`
   * @throws {ConnectionError} the connection is closed, or was lost on the way
   * @throws the signal's reason, when it aborts first
   */
  async validate(topology: Topology, options: PlanOptions = {}): Promise<void> {
    this.#assertOpen();
    await validateTopology(this.#parts.broker, specOf(topology), { signal: signalOf("validate", options) });
  }

  /** What happens to the connection, from now on: lost, retrying, recovered, blocked, unblocked, and the fate of consumers. */
  events(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<BrokerEvent> {
    return this.#parts.hub.read(signalOf("events", options));
  }

  /** How the connection is. Asks the broker once, with a bound of three seconds; a blocked connection is up and is not asked. */
  async health(options: { readonly signal?: AbortSignal } = {}): Promise<HealthReport> {
    const { broker, environment } = this.#parts;
    const [consumers, relays] = [[...this.#consumers], this.#relays.running];
    return await checkConnection({ broker, environment, consumers, relays }, signalOf("health", options));
  }

  /**
   * Waits until the connection has nothing to do: every queue it consumes from is empty, every handler has returned, every
   * publish has been answered, and every replay and every look is over. For tests.
   *
   * What waits for time is not waited for, so a virtual clock need not move: a message on a rung, one between two attempts in the
   * consumer, what stays on a queue because those use the prefetch up, and a replay between two turns of its `ratePerSecond`. Nor is
   * a paused consumer, once its handlers have returned. A loop over `deliveries` that has stopped asking while messages are fetched,
   * one over `peek` that is not left, and a broker that blocks, are waited for: do not wait inside of such a loop.
   *
   * What another connection publishes or holds is not seen: ask the connections one after another, in the order messages take. A
   * broker elsewhere is asked for the depth of each queue and each subscription, every 20 ms while others have messages of the queue.
   *
   * @throws {ConnectionError} `ACEMQ_CONNECTION_CLOSED`: the connection is closed, or closes meanwhile
   * @throws {TypeError} called from inside a handler of this connection, where that can be seen
   * @throws the signal's reason, when it aborts first
   */
  async idle(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#assertOpen();
    const { broker, environment } = this.#parts;
    const signal = signalOf("idle", options);
    try {
      await untilIdle({ broker, environment, feeds: this.#feeds }, this.#untilClosing(signal));
    } catch (error) {
      signal?.throwIfAborted();
      this.#assertOpen();
      throw error;
    }
  }

  /**
   * Drains every consumer within one budget, waits for the answers to publishes that are out, and closes.
   *
   * @returns whether every handler finished in time
   * @throws the signal's reason, when it aborts first
   */
  close(options: DrainOptions = {}): Promise<DrainReport> {
    const { environment: { clock }, settings: { drainTimeoutMs: budgetMs } } = this.#parts;
    return withBudget(options, { clock, budgetMs }, (budget) => {
      // Whoever calls close may end it: the first budget to run out is everybody's.
      void whenAborted(budget).then(() => this.#budgetEnd.abort());
      this.#closing ??= this.#drain(this.#budgetEnd.signal);
      // Said again to every consumer: a handler that asks for the close must not be waited for, whoever asked first.
      this.#closeConsumers(this.#budgetEnd.signal).catch(() => {});
      return this.#closing;
    });
  }

  /** The same as {@linkcode Connection.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #drain(budget: AbortSignal): Promise<DrainReport> {
    this.#closingNow.abort();
    try {
      const loops = [...this.#loops].map((loop) => loop.drain(budget));
      const reports = [...await this.#closeConsumers(budget), ...await Promise.all(loops)];
      await this.#gate.drain(budget);
      const stranded = reports.reduce((sum, report) => sum + report.stranded, 0);
      return { drained: stranded === 0, stranded };
    } finally {
      await this.#release();
    }
  }

  #closeConsumers(budget: AbortSignal): Promise<DrainReport[]> {
    return Promise.all([...this.#consumers].map((consumer) => consumer.close({ budget })));
  }

  async #release(): Promise<void> {
    try {
      await this.#parts.broker.close();
    } finally {
      this.#gate.close();
      this.#parts.hub.close();
    }
  }

  /** Aborts when the caller's signal does, or when the connection begins to close. */
  #untilClosing(signal: AbortSignal | undefined): AbortSignal {
    const closing = this.#closingNow.signal;
    return signal === undefined ? closing : AbortSignal.any([signal, closing]);
  }

  #consumerContext<T>(format: Format): ConsumerContext<T> & ReplayContext<T> {
    const { broker, environment, settings } = this.#parts;
    return {
      broker,
      environment,
      gate: this.#gate,
      // Bytes carry no type: the caller says what its queue holds, and a schema sees to it.
      codec: codecOf(format, this.#parts) as Codec<never, T>,
      interceptors: this.#interceptors.consume ?? [],
      drainTimeoutMs: settings.drainTimeoutMs,
      loops: this.#loops,
      feeds: this.#feeds,
      closing: this.#closingNow.signal,
    };
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new ConnectionError("ACEMQ_CONNECTION_CLOSED", "Cannot use the connection: it is closed");
  }
}
