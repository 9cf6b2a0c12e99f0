/**
 * A broker on the other side of a `MessagePort`: another thread has it, or the page that a worker belongs to.
 *
 * @module
 */
import {
  type BindingSpec,
  type Broker,
  type BrokerConnection,
  type BrokerEvent,
  type BrokerLimits,
  type BrokerOpenOptions,
  type BrokerState,
  type CompareResult,
  ConnectionError,
  type DeclareResult,
  type ExchangeSpec,
  type Outbound,
  type PublishOptions,
  type PublishReceipt,
  type Puller,
  type QueueSpec,
  type QueueState,
  type SubscribeOptions,
  type Subscription,
} from "@acemq/amqp/core";
import { Hand } from "./hand.ts";
import { listen, post, type Question, type Told } from "./messages.ts";
import { unpackError } from "./packed.ts";
import { PortPuller } from "./port_puller.ts";
import { PortSubscription } from "./port_subscription.ts";

/**
 * A broker whose connections are opened over ports.
 *
 * A port does not say that whoever had its other end is gone: a connection over it is never lost, only closed. Between processes
 * that can fail apart, a heartbeat would have to find out.
 *
 * @param dial gives one end of a new channel; `serveBroker` has to have the other
 */
export function portBroker(dial: () => MessagePort): Broker {
  return {
    open: async ({ name, onEvent, signal }: BrokerOpenOptions) => {
      signal?.throwIfAborted();
      const connection = new PortConnection(dial(), onEvent);
      await connection.open(name);
      return connection;
    },
  };
}

/** Somebody who waits for an answer. */
interface Asker {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

class PortConnection implements BrokerConnection {
  readonly transport = "port";
  readonly #port: MessagePort;
  readonly #onEvent: (event: BrokerEvent) => void;
  readonly #askers = new Map<number, Asker>();
  readonly #subscriptions = new Map<number, PortSubscription>();
  readonly #pullers = new Set<PortPuller>();
  #hostName = "";
  #limits: BrokerLimits = {};
  #state: BrokerState = { status: "open" };
  #lastId = 0;
  #closing: Promise<void> | undefined;

  constructor(port: MessagePort, onEvent: (event: BrokerEvent) => void) {
    this.#port = port;
    this.#onEvent = onEvent;
    listen<Told>(port, (message) => this.#hear(message));
  }

  get hostName(): string {
    return this.#hostName;
  }

  get limits(): BrokerLimits {
    return this.#limits;
  }

  get state(): BrokerState {
    return this.#state;
  }

  async open(name: string): Promise<void> {
    try {
      const opened = await this.#ask<Pick<BrokerConnection, "hostName" | "limits" | "state">>("open", name);
      ({ hostName: this.#hostName, limits: this.#limits, state: this.#state } = opened);
    } catch (error) {
      this.#port.close();
      throw error;
    }
  }

  /** The one method that never rejects: what became of a message is a value. */
  async publish(outbound: Outbound, options: PublishOptions): Promise<PublishReceipt> {
    if (this.#closing !== undefined) return { outcome: "paused", reason: "the connection is closed" };
    try {
      return await this.#ask<PublishReceipt>("publish", outbound, options);
    } catch {
      return { outcome: "unknown", reason: "the connection was closed before the broker confirmed" };
    }
  }

  async subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    const id = ++this.#lastId;
    const subscription = new PortSubscription(options, {
      hand: () => new Hand(this.#port),
      ask: (question, ...args) => this.#ask<void>(question, id, ...args),
      onEnd: () => this.#subscriptions.delete(id),
    });
    // Before the question: deliveries may come ahead of its answer.
    this.#subscriptions.set(id, subscription);
    const { prefetch, consumerTag, arguments: args = {} } = options;
    try {
      await this.#ask("subscribe", id, queue, { prefetch, consumerTag, arguments: args });
      return subscription;
    } catch (error) {
      this.#subscriptions.delete(id);
      throw error;
    }
  }

  declareExchange(spec: ExchangeSpec): Promise<DeclareResult> {
    return this.#ask("declareExchange", spec);
  }

  declareQueue(spec: QueueSpec): Promise<DeclareResult> {
    return this.#ask("declareQueue", spec);
  }

  bindQueue(spec: BindingSpec): Promise<DeclareResult> {
    return this.#ask("bindQueue", spec);
  }

  checkQueue(name: string): Promise<QueueState> {
    return this.#ask("checkQueue", name);
  }

  checkExchange(name: string): Promise<"present" | "absent"> {
    return this.#ask("checkExchange", name);
  }

  compareExchange(spec: ExchangeSpec): Promise<CompareResult> {
    return this.#ask("compareExchange", spec);
  }

  compareQueue(spec: QueueSpec): Promise<CompareResult> {
    return this.#ask("compareQueue", spec);
  }

  async openPuller(queue: string): Promise<Puller> {
    const id = ++this.#lastId;
    await this.#ask<void>("open_puller", id, queue);
    const puller = new PortPuller({
      hand: new Hand(this.#port),
      ask: (question, ...args) => this.#ask(question, id, ...args),
      onEnd: () => this.#pullers.delete(puller),
    });
    this.#pullers.add(puller);
    return puller;
  }

  deleteQueue(name: string): Promise<void> {
    return this.#ask("deleteQueue", name);
  }

  deleteExchange(name: string): Promise<void> {
    return this.#ask("deleteExchange", name);
  }

  purgeQueue(name: string): Promise<void> {
    return this.#ask("purgeQueue", name);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close(this.#ask<void>("close"));
  }

  async #close(answered: Promise<void>): Promise<void> {
    this.#state = { status: "closed" };
    for (const puller of this.#pullers) puller.end();
    for (const subscription of this.#subscriptions.values()) subscription.end();
    try {
      await answered;
    } finally {
      this.#port.close();
      for (const { reject } of this.#askers.values()) reject(closedError());
      this.#askers.clear();
    }
  }

  #ask<Value>(question: Question, ...args: readonly unknown[]): Promise<Value> {
    if (this.#closing !== undefined) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#askers.set(id, { resolve, reject });
      post(this.#port, { type: "ask", id, question, args });
    });
  }

  #hear(message: Told): void {
    switch (message.type) {
      case "answer":
        this.#askers.get(message.id)?.resolve(message.value as never);
        return void this.#askers.delete(message.id);
      case "failure":
        this.#askers.get(message.id)?.reject(unpackError(message.error));
        return void this.#askers.delete(message.id);
      case "event":
        if (this.#closing !== undefined) return;
        this.#state = message.state;
        return this.#onEvent(message.event);
      case "delivery":
        return this.#subscriptions.get(message.subscription)?.deliver(message);
      case "lost":
        return this.#subscriptions.get(message.subscription)?.lose(message.reason);
      case "recovered":
        return this.#subscriptions.get(message.subscription)?.recover();
    }
  }
}

function closedError(): ConnectionError {
  return new ConnectionError("ACEMQ_CONNECTION_CLOSED", "Cannot ask the broker: the connection is closed");
}
