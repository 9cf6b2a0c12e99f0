/**
 * A broker without a broker behind it: it answers publishes and probes as the test says, and knows nothing else.
 *
 * For what no real broker does on command: withholding a confirm, breaking the adapter's own promises.
 *
 * @module
 */
import { type VirtualClock, virtualClock } from "../../adapters/memory/mod.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type {
  Broker,
  BrokerConnection,
  BrokerEvent,
  BrokerLimits,
  BrokerOpenOptions,
  BrokerState,
  PublishOptions,
  PublishReceipt,
  QueueState,
} from "../../src/ports/broker.ts";
import { deferred } from "./until.ts";

/** One publish that was handed over. */
export interface HandedPublish {
  readonly outbound: Outbound;
  readonly options: PublishOptions;
  /** Answers it, where nothing did yet. */
  answer(receipt: PublishReceipt): void;
  /** Breaks the port's promise: a rejection instead of a receipt. */
  fail(error: unknown): void;
}

/** What the broker says, changeable at any time. */
export class PuppetBroker implements Broker {
  readonly clock: VirtualClock = virtualClock();
  /** Every publish, in order. */
  readonly handed: HandedPublish[] = [];
  /** How often the connection was closed. */
  closes = 0;
  state: BrokerState = { status: "open" };
  limits: BrokerLimits = {};
  /** What a publish is answered as it comes; `undefined` keeps it waiting for {@linkcode HandedPublish.answer}. */
  respond: (outbound: Outbound, options: PublishOptions) => PublishReceipt | undefined = () => ({
    outcome: "confirmed",
  });
  /** What a question about a queue is answered. */
  onCheckQueue: (name: string) => Promise<QueueState> = () => Promise.resolve({ status: "absent" });
  /** What a close does beside being counted. */
  onClose: () => Promise<void> = () => Promise.resolve();
  #onEvent: (event: BrokerEvent) => void = () => {};

  /** From now on publishes wait for their answer. */
  hold(): void {
    this.respond = () => undefined;
  }

  /** Something happens to the connection. */
  emit(event: BrokerEvent): void {
    this.#onEvent(event);
  }

  open({ onEvent }: BrokerOpenOptions): Promise<PuppetConnection> {
    this.#onEvent = onEvent;
    return Promise.resolve(new PuppetConnection(this));
  }
}

/** The one kind of connection a {@linkcode PuppetBroker} opens. */
export class PuppetConnection implements BrokerConnection {
  readonly transport = "puppet";
  readonly hostName = "host.test";
  readonly #puppet: PuppetBroker;

  constructor(puppet: PuppetBroker) {
    this.#puppet = puppet;
  }

  get state(): BrokerState {
    return this.#puppet.state;
  }

  get limits(): BrokerLimits {
    return this.#puppet.limits;
  }

  publish(outbound: Outbound, options: PublishOptions): Promise<PublishReceipt> {
    const { promise, resolve, reject } = deferred<PublishReceipt>();
    this.#puppet.handed.push({ outbound, options, answer: resolve, fail: reject });
    const receipt = this.#puppet.respond(outbound, options);
    if (receipt !== undefined) resolve(receipt);
    return promise;
  }

  checkQueue(name: string): Promise<QueueState> {
    return this.#puppet.onCheckQueue(name);
  }

  async close(): Promise<void> {
    this.#puppet.closes++;
    this.#puppet.state = { status: "closed" };
    await this.#puppet.onClose();
  }

  subscribe(): Promise<never> {
    return unknownMethod("subscribe");
  }

  declareExchange(): Promise<never> {
    return unknownMethod("declareExchange");
  }

  declareQueue(): Promise<never> {
    return unknownMethod("declareQueue");
  }

  bindQueue(): Promise<never> {
    return unknownMethod("bindQueue");
  }

  checkExchange(): Promise<never> {
    return unknownMethod("checkExchange");
  }

  compareExchange(): Promise<never> {
    return unknownMethod("compareExchange");
  }

  compareQueue(): Promise<never> {
    return unknownMethod("compareQueue");
  }

  openPuller(): Promise<never> {
    return unknownMethod("openPuller");
  }

  deleteQueue(): Promise<never> {
    return unknownMethod("deleteQueue");
  }

  deleteExchange(): Promise<never> {
    return unknownMethod("deleteExchange");
  }

  purgeQueue(): Promise<never> {
    return unknownMethod("purgeQueue");
  }
}

function unknownMethod(method: string): Promise<never> {
  return Promise.reject(new Error(`A puppet does not know ${method}`));
}
