/**
 * A broker whose faults come on command: it stands in front of another one and hands everything on but what a test spoils.
 *
 * @module
 */
import { ConnectionError } from "../../src/errors.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type {
  Broker,
  BrokerConnection,
  BrokerDelivery,
  BrokerEvent,
  BrokerLimits,
  BrokerOpenOptions,
  BrokerState,
  CompareResult,
  DeclareResult,
  DeliveryHandle,
  PublishOptions,
  PublishReceipt,
  PulledDelivery,
  Puller,
  QueueState,
  SettleAs,
  SubscribeOptions,
  Subscription,
} from "../../src/ports/broker.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";

/** What goes wrong, and what was seen. Every member may be set at any time. */
export class Faults {
  /** Answers a publish instead of the broker behind; `undefined` lets it through. */
  onPublish:
    | ((outbound: Outbound, options: PublishOptions) => PublishReceipt | Promise<PublishReceipt> | undefined)
    | undefined;
  /** Publishes are handed to the broker behind only when this has resolved. */
  holdPublishes: Promise<void> | undefined;
  /** Answers a settlement instead of the broker behind; `undefined` lets it through. */
  onSettle: ((as: SettleAs, delivery: BrokerDelivery) => "sent" | "stale" | undefined) | undefined;
  /** Answers a declaration instead of the broker behind; `undefined` lets it through. */
  onDeclare:
    | ((spec: QueueSpec | ExchangeSpec | BindingSpec) => DeclareResult | Promise<DeclareResult> | undefined)
    | undefined;
  /** Answers a comparison instead of the broker behind; `undefined` lets it through. */
  onCompare: ((spec: QueueSpec | ExchangeSpec) => Promise<CompareResult> | undefined) | undefined;
  /** Answers a question for a queue instead of the broker behind; `undefined` lets it through. */
  onCheckQueue: ((name: string) => Promise<QueueState> | undefined) | undefined;
  /** Runs before the broker behind is asked for a puller; what it throws or waits for counts. */
  onPuller: ((queue: string) => void | Promise<void>) | undefined;
  /** Runs before the broker behind is asked for a message; what it throws or waits for counts. */
  onPull: ((queue: string) => void | Promise<void>) | undefined;
  /** Runs before the broker behind is asked to cancel or close a subscription; what it throws or waits for counts. */
  onEnd: ((what: "cancel" | "close") => void | Promise<void>) | undefined;
  /** Why publishing is blocked. */
  blockedReason: string | undefined;
  /** Every publish that was handed over. */
  readonly published: Outbound[] = [];
  /** Every settlement that was handed over. */
  readonly settled: {
    readonly as: SettleAs;
    readonly messageId: string | undefined;
    readonly answer: "sent" | "stale";
  }[] = [];
  /** How every subscription was opened. */
  readonly subscribed: SubscribeOptions[] = [];
  /** Every object that was declared. */
  readonly declared: (QueueSpec | ExchangeSpec | BindingSpec)[] = [];
  readonly #links = new Set<FaultyConnection>();

  /** @internal */
  attach(link: FaultyConnection): void {
    this.#links.add(link);
  }

  /** Something happens to every connection. */
  emit(event: BrokerEvent): void {
    for (const link of this.#links) link.emit(event);
  }

  /** The network goes away: deliveries in hand are the broker's again, publishes that wait are never answered. */
  async lose(): Promise<void> {
    for (const link of this.#links) await link.lose();
  }

  /** The network is back. */
  async recover(): Promise<void> {
    for (const link of this.#links) await link.recover();
  }
}

/** Puts faults in front of a broker. */
export function faultyBroker(inner: Broker, faults: Faults): Broker {
  return {
    ...(inner.clock === undefined ? {} : { clock: inner.clock }),
    open: async (options: BrokerOpenOptions) => {
      const link = new FaultyConnection(await inner.open(options), faults, options.onEvent);
      faults.attach(link);
      return link;
    },
  };
}

class FaultyConnection implements BrokerConnection {
  readonly transport: string;
  readonly hostName: string;
  readonly limits: BrokerLimits;
  readonly #inner: BrokerConnection;
  readonly #faults: Faults;
  readonly #onEvent: (event: BrokerEvent) => void;
  readonly #subscriptions = new Set<FaultySubscription>();
  readonly #pullers = new Set<FaultyPuller>();
  readonly #unanswered = new Set<(receipt: PublishReceipt) => void>();
  #isLost = false;

  constructor(inner: BrokerConnection, faults: Faults, onEvent: (event: BrokerEvent) => void) {
    this.#inner = inner;
    this.#faults = faults;
    this.#onEvent = onEvent;
    this.transport = inner.transport;
    this.hostName = inner.hostName;
    this.limits = inner.limits;
  }

  get state(): BrokerState {
    if (this.#isLost) return { status: "recovering" };
    const { blockedReason = this.#faults.blockedReason } = this.#inner.state;
    return { ...this.#inner.state, blockedReason };
  }

  emit(event: BrokerEvent): void {
    this.#onEvent(event);
  }

  async lose(): Promise<void> {
    this.#isLost = true;
    this.#onEvent({ type: "lost", reason: "the network went away" });
    for (const answer of this.#unanswered) answer({ outcome: "unknown", reason: "the connection was lost" });
    this.#unanswered.clear();
    for (const puller of this.#pullers) puller.lose();
    for (const subscription of this.#subscriptions) await subscription.lose();
  }

  async recover(): Promise<void> {
    this.#isLost = false;
    this.#onEvent({ type: "recovered", attempts: 1 });
    for (const puller of this.#pullers) puller.recover();
    for (const subscription of this.#subscriptions) await subscription.recover();
  }

  publish(outbound: Outbound, options: PublishOptions): Promise<PublishReceipt> {
    this.#faults.published.push(outbound);
    const pass = (): Promise<PublishReceipt> => this.#inner.publish(outbound, options);
    const answer = this.#faults.onPublish?.(outbound, options) ?? this.#faults.holdPublishes?.then(pass) ?? pass();
    return new Promise((resolve) => {
      this.#unanswered.add(resolve);
      void Promise.resolve(answer).then((receipt) => {
        if (this.#unanswered.delete(resolve)) resolve(receipt);
      });
    });
  }

  async subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    this.#faults.subscribed.push(options);
    const subscription = new FaultySubscription(
      (hooked) => this.#inner.subscribe(queue, hooked),
      this.#faults,
      options,
    );
    await subscription.start();
    this.#subscriptions.add(subscription);
    return subscription;
  }

  declareExchange(spec: ExchangeSpec): Promise<DeclareResult> {
    return this.#declare(spec, () => this.#inner.declareExchange(spec));
  }

  declareQueue(spec: QueueSpec): Promise<DeclareResult> {
    return this.#declare(spec, () => this.#inner.declareQueue(spec));
  }

  bindQueue(spec: BindingSpec): Promise<DeclareResult> {
    return this.#declare(spec, () => this.#inner.bindQueue(spec));
  }

  checkQueue(name: string): Promise<QueueState> {
    return this.#faults.onCheckQueue?.(name) ?? this.#inner.checkQueue(name);
  }

  checkExchange(name: string): Promise<"present" | "absent"> {
    return this.#inner.checkExchange(name);
  }

  compareExchange(spec: ExchangeSpec): Promise<CompareResult> {
    return this.#compare(spec, () => this.#inner.compareExchange(spec));
  }

  compareQueue(spec: QueueSpec): Promise<CompareResult> {
    return this.#compare(spec, () => this.#inner.compareQueue(spec));
  }

  async openPuller(queue: string): Promise<Puller> {
    if (this.#isLost) {
      throw new ConnectionError("ACEMQ_CONNECTION_LOST", `Cannot pull from queue "${queue}": it is lost`);
    }
    await this.#faults.onPuller?.(queue);
    const inner = await this.#inner.openPuller(queue);
    const puller = new FaultyPuller(inner, this.#faults, { queue, onClosed: () => this.#pullers.delete(puller) });
    this.#pullers.add(puller);
    return puller;
  }

  deleteQueue(name: string): Promise<void> {
    return this.#inner.deleteQueue(name);
  }

  deleteExchange(name: string): Promise<void> {
    return this.#inner.deleteExchange(name);
  }

  purgeQueue(name: string): Promise<void> {
    return this.#inner.purgeQueue(name);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #compare(spec: QueueSpec | ExchangeSpec, pass: () => Promise<CompareResult>): Promise<CompareResult> {
    return this.#faults.onCompare?.(spec) ?? pass();
  }

  #declare(
    spec: QueueSpec | ExchangeSpec | BindingSpec,
    pass: () => Promise<DeclareResult>,
  ): Promise<DeclareResult> {
    this.#faults.declared.push(spec);
    const answer = this.#faults.onDeclare?.(spec);
    return answer === undefined ? pass() : Promise.resolve(answer);
  }
}

class FaultySubscription implements Subscription {
  readonly #open: (options: SubscribeOptions) => Promise<Subscription>;
  readonly #faults: Faults;
  readonly #options: SubscribeOptions;
  #inner: Subscription | undefined;
  #isEnded = false;

  constructor(
    open: (options: SubscribeOptions) => Promise<Subscription>,
    faults: Faults,
    options: SubscribeOptions,
  ) {
    this.#open = open;
    this.#faults = faults;
    this.#options = options;
  }

  get live(): boolean {
    return !this.#isEnded && (this.#inner?.live ?? false);
  }

  async start(): Promise<void> {
    this.#inner = await this.#open({
      ...this.#options,
      onDelivery: (delivery) => this.#options.onDelivery(new HookedDelivery(delivery, this.#faults)),
    });
  }

  async lose(): Promise<void> {
    if (this.#isEnded) return;
    const inner = this.#inner;
    this.#inner = undefined;
    this.#options.onLost("the network went away");
    await inner?.close();
  }

  async recover(): Promise<void> {
    if (this.#isEnded) return;
    await this.start();
    this.#options.onRecovered();
  }

  async setPrefetch(prefetch: number): Promise<void> {
    await this.#inner?.setPrefetch(prefetch);
  }

  async caughtUp(): Promise<void> {
    await this.#inner?.caughtUp();
  }

  async cancel(): Promise<void> {
    await this.#faults.onEnd?.("cancel");
    await this.#inner?.cancel();
  }

  async close(): Promise<void> {
    this.#isEnded = true;
    await this.#faults.onEnd?.("close");
    await this.#inner?.close();
  }
}

/** What it has handed out goes back when the connection is lost; it is usable again when that is back. */
class FaultyPuller implements Puller {
  readonly #inner: Puller;
  readonly #faults: Faults;
  readonly #terms: { readonly queue: string; readonly onClosed: () => void };
  readonly #pulled = new Set<HookedDelivery>();
  #isLost = false;

  constructor(inner: Puller, faults: Faults, terms: { readonly queue: string; readonly onClosed: () => void }) {
    this.#inner = inner;
    this.#faults = faults;
    this.#terms = terms;
  }

  lose(): void {
    this.#isLost = true;
    for (const delivery of this.#pulled) delivery.lose();
    this.#pulled.clear();
  }

  recover(): void {
    this.#isLost = false;
  }

  async pull(): Promise<PulledDelivery | null> {
    if (this.#isLost) throw new ConnectionError("ACEMQ_CONNECTION_LOST", "Cannot pull: the connection is lost");
    await this.#faults.onPull?.(this.#terms.queue);
    const delivery = await this.#inner.pull();
    if (delivery === null) return null;
    const hooked = new HookedDelivery(delivery, this.#faults);
    this.#pulled.add(hooked);
    return Object.assign(hooked, { waiting: delivery.waiting });
  }

  async close(): Promise<void> {
    this.#terms.onClosed();
    await this.#inner.close();
  }
}

/** A delivery whose settlements are seen, and answered by a test. */
class HookedDelivery implements BrokerDelivery {
  readonly message: BrokerDelivery["message"];
  readonly #inner: BrokerDelivery;
  readonly #faults: Faults;
  #isLost = false;

  constructor(inner: BrokerDelivery, faults: Faults) {
    this.#inner = inner;
    this.#faults = faults;
    this.message = inner.message;
  }

  get isLive(): boolean {
    return !this.#isLost && this.#inner.isLive;
  }

  /** The broker has the message back. */
  lose(): void {
    this.#isLost = true;
    this.#inner.settle("requeue");
  }

  detach(): DeliveryHandle {
    return this;
  }

  settle(as: SettleAs): "sent" | "stale" {
    const answer = this.#isLost ? "stale" : this.#faults.onSettle?.(as, this.#inner) ?? this.#inner.settle(as);
    this.#faults.settled.push({ as, messageId: this.message.properties.messageId, answer });
    return answer;
  }
}
