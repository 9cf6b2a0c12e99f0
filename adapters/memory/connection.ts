/**
 * A connection to a memory broker.
 *
 * @module
 */

import { assertName, assertShortText, assertWholeNumber } from "../../src/internal/assert_option.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type * as port from "../../src/ports/broker.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import { Declarations } from "./declarations.ts";
import { Inlet } from "./inlet.ts";
import { type PublishHost, PublishSide } from "./publish_side.ts";
import { MemoryPuller } from "./puller.ts";
import { Questions } from "./questions.ts";
import type { AnyQueue } from "./any_queue.ts";
import type { QueueEntry } from "./ready_list.ts";
import { foundStream } from "./refusals.ts";
import { MemoryStream } from "./stream.ts";
import { MemorySubscription } from "./subscription.ts";
import type { VirtualHost } from "./virtual_host.ts";

/** What the broker tells its connections, and hears of them. */
export interface ConnectionHost extends PublishHost {
  closed(connection: MemoryConnection): void;
}

/** An AMQP prefetch is 16 bits wide. */
const LARGEST_PREFETCH = 65_535;

/** An open connection of the memory broker. */
export class MemoryConnection implements port.BrokerConnection {
  readonly transport = "memory";
  readonly hostName = "memory";
  readonly limits: port.BrokerLimits;
  readonly #host: ConnectionHost;
  readonly #broker: VirtualHost;
  readonly #onEvent: (event: port.BrokerEvent) => void;
  readonly #inlet = new Inlet();
  readonly #questions: Questions = new Questions(this.#inlet);
  readonly #publishing: PublishSide;
  readonly #subscriptions = new Set<MemorySubscription>();
  readonly #pullers = new Set<MemoryPuller>();
  readonly #declarations: Declarations;
  #isOpen = true;

  constructor(host: ConnectionHost, { onEvent }: port.BrokerOpenOptions) {
    this.#host = host;
    this.#broker = host.virtualHost;
    this.#onEvent = onEvent;
    this.limits = host.limits;
    this.#publishing = new PublishSide(host, this.#inlet, onEvent);
    this.#declarations = new Declarations(host.virtualHost, this);
    this.#broker.enter();
  }

  get state(): port.BrokerState {
    return this.#isOpen
      ? { status: "open", blockedReason: this.#publishing.blockedReason }
      : { status: "closed", blockedReason: undefined };
  }

  publish(outbound: Outbound, options: port.PublishOptions): Promise<port.PublishReceipt> {
    if (this.#isOpen) return this.#publishing.publish(outbound, options);
    return Promise.resolve({ outcome: "paused", reason: "the connection is closed" });
  }

  subscribe(queue: string, options: port.SubscribeOptions): Promise<port.Subscription> {
    return this.#askAbout(queue, "consume from", () => {
      assertPrefetch(options.prefetch);
      assertName("the consumer tag", options.consumerTag);
      const subscription: MemorySubscription = new MemorySubscription(this.#broker, {
        queue,
        user: this,
        inlet: this.#inlet,
        options,
        onEvent: this.#onEvent,
        onEnd: () => this.#forget(subscription),
        redeclare: () => this.#declarations.redeclare(queue),
      });
      this.#subscriptions.add(subscription);
      return subscription;
    });
  }

  declareExchange(spec: ExchangeSpec): Promise<port.DeclareResult> {
    return this.#questions.declare(`declare exchange "${spec.name}"`, () => this.#declarations.declareExchange(spec));
  }

  declareQueue(spec: QueueSpec): Promise<port.DeclareResult> {
    return this.#questions.declare(`declare queue "${spec.name}"`, () => this.#declarations.declareQueue(spec));
  }

  bindQueue(spec: BindingSpec): Promise<port.DeclareResult> {
    return this.#questions.declare(`bind queue "${spec.queue}"`, () => this.#declarations.bind(spec));
  }

  checkQueue(name: string): Promise<port.QueueState> {
    return this.#askAbout(name, "ask for", () => {
      const queue = this.#broker.askedForQueue(name);
      if (queue === undefined) return { status: "absent" };
      queue.asked();
      // How much is in somebody else's own queue is not told.
      const { messages, consumers } = queue.isOpenTo(this) ? queue : { messages: 0, consumers: 0 };
      return { status: "present", messages, consumers };
    });
  }

  checkExchange(name: string): Promise<"present" | "absent"> {
    return this.#questions.ask(`ask for exchange "${name}"`, () => {
      assertShortText("the name of an exchange", name);
      return this.#broker.hasExchange(name) ? "present" : "absent";
    });
  }

  compareExchange(spec: ExchangeSpec): Promise<port.CompareResult> {
    return this.#questions.compare(`compare exchange "${spec.name}"`, () => this.#broker.exchangeDifference(spec));
  }

  compareQueue(spec: QueueSpec): Promise<port.CompareResult> {
    return this.#questions.compare(`compare queue "${spec.name}"`, () => this.#broker.queueDifference(spec, this));
  }

  openPuller(name: string): Promise<port.Puller> {
    const ask = <Answer>(answer: (queue: AnyQueue) => Answer): Promise<Answer> =>
      this.#askAbout(name, "pull from", () => answer(this.#broker.queue(name, this)));
    return ask((queue) => {
      if (queue instanceof MemoryStream) throw foundStream();
      queue.asked();
      const puller: MemoryPuller = new MemoryPuller({
        inlet: this.#inlet,
        terms: this.#broker,
        ask,
        onEnd: () => this.#pullers.delete(puller),
      });
      this.#pullers.add(puller);
      return puller;
    });
  }

  deleteQueue(name: string): Promise<void> {
    return this.#askAbout(name, "delete", () => this.#declarations.deleteQueue(name));
  }

  deleteExchange(name: string): Promise<void> {
    return this.#questions.ask(`delete exchange "${name}"`, () => {
      assertName("the name of an exchange", name);
      this.#declarations.deleteExchange(name);
    });
  }

  purgeQueue(name: string): Promise<void> {
    return this.#askAbout(name, "purge", () => this.#broker.queue(name, this).purge());
  }

  close(): Promise<void> {
    if (this.#isOpen) this.#end();
    return Promise.resolve();
  }

  /** What is in this connection's hands of a queue, oldest first for each of its consumers. */
  heldOf(queue: AnyQueue): readonly QueueEntry[] {
    const consumed = [...this.#subscriptions].flatMap((subscription) => subscription.heldOf(queue));
    return [...consumed, ...[...this.#pullers].flatMap((puller) => puller.heldOf(queue))];
  }

  /** The broker takes publishes again. */
  unblock(): void {
    this.#publishing.unblock();
  }

  #forget(subscription: MemorySubscription): void {
    const { queue } = subscription;
    if (!this.#subscriptions.delete(subscription)) return;
    if (![...this.#subscriptions].some((other) => other.queue === queue)) this.#declarations.endConsumers(queue);
  }

  #end(): void {
    this.#isOpen = false;
    this.#questions.close();
    this.#inlet.close();
    for (const subscription of this.#subscriptions) subscription.end();
    for (const puller of this.#pullers) puller.end();
    this.#broker.leave(this);
    this.#host.closed(this);
  }

  #askAbout<Answer>(queue: string, action: string, answer: () => Answer): Promise<Answer> {
    return this.#questions.ask(`${action} queue "${queue}"`, () => {
      assertName("the name of a queue", queue);
      return answer();
    });
  }
}

function assertPrefetch(prefetch: number): void {
  assertWholeNumber("prefetch", prefetch, 0);
  if (prefetch <= LARGEST_PREFETCH) return;
  throw new RangeError(`Cannot use option 'prefetch': it must be at most ${LARGEST_PREFETCH}, found ${prefetch}`);
}
