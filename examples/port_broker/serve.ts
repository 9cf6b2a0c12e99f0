/**
 * The broker's end of a port.
 *
 * @module
 */
import {
  type Broker,
  type BrokerConnection,
  type BrokerDelivery,
  type Clock,
  type DeliveryHandle,
  type Puller,
  type SubscribeOptions,
  type Subscription,
  systemClock,
} from "@acemq/amqp/core";
import { type Asked, type Handed, listen, type PassedOn, post, type Question } from "./messages.ts";
import { packError } from "./packed.ts";

/**
 * Lets whoever has the other end of the port open one connection to a broker.
 *
 * @returns ends that connection, for whoever went without closing it
 */
export function serveBroker(broker: Broker, port: MessagePort): () => Promise<void> {
  const served = new ServedConnection(broker, port);
  listen<Asked>(port, (message) => void served.hear(message));
  return () => served.close();
}

type Answer = (...args: readonly never[]) => unknown;

class ServedConnection {
  readonly #broker: Broker;
  readonly #port: MessagePort;
  readonly #clock: Clock;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #pullers = new Map<number, Puller>();
  /** What is out, by the number it was handed over with, and by which subscription or puller. */
  readonly #hands = new Map<number, { readonly handle: DeliveryHandle; readonly by: number }>();
  #connection: BrokerConnection | undefined;
  #lastDelivery = 0;

  constructor(broker: Broker, port: MessagePort) {
    this.#broker = broker;
    this.#port = port;
    this.#clock = broker.clock ?? systemClock();
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  /** Begins what is asked before it returns, so that questions and settlements keep their order. */
  async hear(message: Asked): Promise<void> {
    if (message.type === "settle") {
      const { delivery, as } = message;
      this.#hands.get(delivery)?.handle.settle(as);
      this.#hands.delete(delivery);
      return;
    }
    const { id, question, args } = message;
    try {
      const value = await this.#answer(question, args as readonly never[]);
      post(this.#port, { type: "answer", id, value });
    } catch (error) {
      post(this.#port, { type: "failure", id, error: packError(error) });
    }
  }

  #answer(question: Question, args: readonly never[]): unknown {
    if (question === "open") return this.#open(...args as readonly [name: never]);
    const connection = this.#connection;
    if (connection === undefined) throw new TypeError(`Cannot answer '${question}': there is no connection yet`);
    const own: Readonly<Record<string, Answer>> = {
      open_puller: async (id: number, queue: string) => void this.#pullers.set(id, await connection.openPuller(queue)),
      pull: (id: number) => this.#pull(id),
      close_puller: (id: number) => this.#closePuller(id),
      subscribe: (id: number, queue: string, options: SubscribeOptions) =>
        this.#subscribe(connection, { id, queue, options }),
      set_prefetch: (id: number, prefetch: number) => this.#subscriptions.get(id)?.setPrefetch(prefetch),
      catch_up: (id: number) => this.#subscriptions.get(id)?.caughtUp(),
      cancel: (id: number) => this.#subscriptions.get(id)?.cancel(),
      close_subscription: (id: number) => this.#closeSubscription(id),
      close: () => connection.close(),
    } satisfies Record<Exclude<Question, "open" | PassedOn>, Answer>;
    return (own[question] ?? (connection[question as PassedOn] as Answer).bind(connection))(...args);
  }

  async #open(name: string): Promise<unknown> {
    const connection = await this.#broker.open({
      name,
      clock: this.#clock,
      onEvent: (event) =>
        post(this.#port, { type: "event", event, state: this.#connection?.state ?? { status: "open" } }),
    });
    this.#connection = connection;
    const { hostName, limits, state } = connection;
    return { hostName, limits, state };
  }

  async #pull(id: number): Promise<unknown> {
    const delivery = await this.#pullers.get(id)?.pull() ?? null;
    return delivery === null ? null : { ...this.#hand(delivery, id), waiting: delivery.waiting };
  }

  async #closePuller(id: number): Promise<void> {
    const puller = this.#pullers.get(id);
    this.#pullers.delete(id);
    this.#forget(id);
    await puller?.close();
  }

  async #subscribe(
    connection: BrokerConnection,
    { id, queue, options }: { readonly id: number; readonly queue: string; readonly options: SubscribeOptions },
  ): Promise<void> {
    const subscription = await connection.subscribe(queue, {
      ...options,
      onDelivery: (delivery) => post(this.#port, { type: "delivery", subscription: id, ...this.#hand(delivery, id) }),
      onLost: (reason) => {
        this.#forget(id);
        post(this.#port, { type: "lost", subscription: id, reason });
      },
      onRecovered: () => post(this.#port, { type: "recovered", subscription: id }),
    });
    this.#subscriptions.set(id, subscription);
  }

  async #closeSubscription(id: number): Promise<void> {
    const subscription = this.#subscriptions.get(id);
    this.#subscriptions.delete(id);
    this.#forget(id);
    await subscription?.close();
  }

  #hand(delivery: BrokerDelivery, by: number): Handed {
    const { message } = delivery;
    this.#hands.set(++this.#lastDelivery, { handle: delivery.detach(), by });
    return { delivery: this.#lastDelivery, message };
  }

  /** Nobody settles these any more. */
  #forget(id: number): void {
    for (const [delivery, { by }] of this.#hands) if (by === id) this.#hands.delete(delivery);
  }
}
