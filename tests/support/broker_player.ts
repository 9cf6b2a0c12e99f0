/**
 * Plays steps on a broker through the port, and tells what is seen of them from outside: the same words on every broker that does
 * the same.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ReceivedMessage } from "../../src/message/received.ts";
import type { WireTable } from "../../src/message/wire_value.ts";
import type {
  BrokerConnection,
  BrokerDelivery,
  DeclareResult,
  Puller,
  SettleAs,
  Subscription,
} from "../../src/ports/broker.ts";
import type { DeclareArguments, ExchangeType, QueueSpec } from "../../src/topology/specs.ts";
import type { World } from "../contract/broker/world.ts";

/** What two queues and an exchange are declared with. */
export interface Scene {
  readonly exchange: ExchangeType;
  readonly autoDelete: boolean;
  readonly arguments: DeclareArguments;
  readonly deadLetters: boolean;
}

/** One thing to do; the numbers choose among whatever there is just then. */
export interface Step {
  readonly does: StepName;
  readonly which: number;
  readonly how: number;
  readonly as: SettleAs;
}

/** Everything a player can do. */
export const STEPS = [
  "publish",
  "route",
  "bind",
  "pull",
  "settle pulled",
  "subscribe",
  "settle delivered",
  "cancel",
  "close",
  "retune",
  "purge",
  "delete",
  "declare",
] as const;

/** The name of a {@linkcode Step}. */
export type StepName = typeof STEPS[number];

interface Consuming {
  readonly subscription: Subscription;
  readonly inHand: BrokerDelivery[];
  readonly seen: string[];
  isOver: boolean;
}

const KEYS = ["k", "k.l", "z"] as const;
const PATTERNS = ["k", "k.#", "*", "#"] as const;
const MOST_CONSUMERS = 4;

/** One broker's side of a comparison. */
export class BrokerPlayer {
  readonly #world: World;
  readonly #scene: Scene;
  readonly #consuming: Consuming[] = [];
  readonly #pulled: BrokerDelivery[] = [];
  readonly #pullers = new Map<string, Puller>();
  #other: BrokerConnection | undefined;
  #published = 0;

  constructor(world: World, scene: Scene) {
    this.#world = world;
    this.#scene = scene;
  }

  /** Declares what the scene has. */
  async begin(): Promise<void> {
    this.#other = (await this.#world.connect()).mq;
    await this.#world.queue("dead");
    await this.#world.exchange("x", this.#scene.exchange);
    for (const which of [0, 1]) assert.equal(await this.#declare(which), "declared");
  }

  /** What ends the play: what is left to do, one step after another, while there is something. */
  get ending(): Step | undefined {
    const step = { which: 0, how: 0, as: "ack" } as const;
    if (this.#pulled.length > 0) return { ...step, does: "settle pulled" };
    return this.#consuming.some(isNeeded) ? { ...step, does: "close" } : undefined;
  }

  /** Does something; returns what was answered, or `-` when there was nothing to do it with. */
  async play({ does, which, how, as }: Step): Promise<string> {
    switch (does) {
      case "publish":
        return this.#publish(this.#queue(which), {});
      case "route":
        return this.#publish(pick(KEYS, which), {
          exchange: this.#world.name("x"),
          headers: how % 3 === 0 ? { CC: [this.#queue(how)] } : {},
        });
      case "bind":
        return this.#bind(which, pick(PATTERNS, how));
      case "pull":
        return await this.#pull(which % 4 === 3 ? this.#world.name("dead") : this.#queue(which));
      case "settle pulled":
        return this.#pulled.splice(which % (this.#pulled.length || 1), 1)[0]?.settle(as) ?? "-";
      case "subscribe":
        return await this.#subscribe(which, how);
      case "settle delivered":
        return await this.#settleDelivered(which, { how, as });
      case "cancel":
      case "close":
      case "retune":
        return await this.#change(does, which, how);
      case "purge":
        return await attempt(() => this.#world.mq.purgeQueue(this.#queue(which)));
      case "delete":
        // A consumer would come back, at a time of its own.
        if (this.#consuming.some(({ isOver }) => !isOver)) return "-";
        return await attempt(() => this.#world.mq.deleteQueue(this.#queue(which)));
      case "declare":
        return await this.#declare(which, how % 4 === 0 ? { "x-expires": 1_000_000 } : {});
    }
  }

  /** What anybody can see: how much is where, and what every consumer was handed. */
  async look(): Promise<string> {
    const queues: string[] = [];
    for (const name of this.#names) {
      const state = await this.#world.mq.checkQueue(name);
      queues.push(state.status === "absent" ? "absent" : `${state.messages} messages, ${state.consumers} consumers`);
    }
    return JSON.stringify({ queues, consumers: this.#consuming.map(({ seen }) => seen) });
  }

  /** Everything that waits, in order. What died on different ways may arrive in any. */
  async contents(): Promise<string> {
    const found: (readonly string[])[] = [];
    for (const name of this.#names) {
      const state = await this.#world.mq.checkQueue(name);
      const waiting = state.status === "present" ? state.messages : 0;
      const messages = waiting === 0 ? [] : await this.#read(name, waiting);
      found.push(name === this.#world.name("dead") ? messages.toSorted() : messages);
    }
    return JSON.stringify(found);
  }

  async #read(name: string, count: number): Promise<readonly string[]> {
    const { deliveries } = await this.#world.read(name);
    await this.#world.until(`all of ${name}`, () => deliveries.length === count);
    return deliveries.map(({ message }) => this.#told(message));
  }

  get #names(): readonly string[] {
    return [this.#queue(0), this.#queue(1), this.#world.name("dead")];
  }

  #queue(which: number): string {
    return this.#world.name(which % 2 === 0 ? "a" : "b");
  }

  #by(how: number): BrokerConnection {
    assert.ok(this.#other !== undefined);
    return how % 2 === 0 ? this.#world.mq : this.#other;
  }

  async #declare(which: number, more: DeclareArguments = {}): Promise<string> {
    const { autoDelete, arguments: args, deadLetters } = this.#scene;
    const dead = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": this.#world.name("dead") };
    const spec: Partial<QueueSpec> = { autoDelete, arguments: { ...args, ...(deadLetters ? dead : {}), ...more } };
    return this.#answered(await this.#world.declareQueue(this.#queue(which), spec));
  }

  async #bind(which: number, routingKey: string): Promise<string> {
    const [queue, exchange] = [this.#queue(which), this.#world.name("x")];
    return this.#answered(await this.#world.mq.bindQueue({ queue, exchange, routingKey, arguments: {} }));
  }

  #answered(result: DeclareResult): string {
    return this.#named(result.status === "declared" ? result.status : `${result.status}: ${result.reason}`);
  }

  async #publish(key: string, parts: { readonly exchange?: string; readonly headers?: WireTable }): Promise<string> {
    const number = ++this.#published;
    return (await this.#world.publish(key, { ...parts, body: String(number), priority: number % 4 })).outcome;
  }

  async #pull(queue: string): Promise<string> {
    return await attempt(async () => {
      const puller = this.#pullers.get(queue) ?? await this.#world.mq.openPuller(queue);
      this.#pullers.set(queue, puller);
      const pulled = await puller.pull();
      if (pulled === null) return "nothing";
      this.#pulled.push(pulled);
      return `${this.#told(pulled.message)}, ${pulled.waiting} waiting`;
    });
  }

  async #subscribe(which: number, how: number): Promise<string> {
    if (this.#consuming.filter(({ isOver }) => !isOver).length >= MOST_CONSUMERS) return "-";
    return await attempt(async () => {
      const [inHand, seen]: [BrokerDelivery[], string[]] = [[], []];
      const subscription = await this.#by(how).subscribe(this.#queue(which), {
        prefetch: how % 4,
        consumerTag: `acemq-player-${this.#consuming.length}`,
        arguments: which % 5 === 0 ? { "x-priority": 1 } : {},
        onDelivery: (delivery) => {
          inHand.push(delivery);
          seen.push(this.#told(delivery.message));
        },
        onLost: (reason) => seen.push(`lost: ${reason}`),
        onRecovered: () => seen.push("back"),
      });
      this.#consuming.push({ subscription, inHand, seen, isOver: false });
    });
  }

  async #settleDelivered(which: number, { how, as }: { readonly how: number; readonly as: SettleAs }): Promise<string> {
    const holding = this.#consuming.filter(({ inHand }) => inHand.length > 0);
    const one = pick(holding, which);
    const [delivery] = one?.inHand.splice(how % one.inHand.length, 1) ?? [];
    if (one === undefined || delivery === undefined) return "-";
    const answer = delivery.settle(as);
    // What follows comes over other channels, and is not to overtake it.
    await one.subscription.caughtUp();
    return answer;
  }

  async #change(does: "cancel" | "close" | "retune", which: number, how: number): Promise<string> {
    const one = pick(this.#consuming.filter((each) => does === "close" ? isNeeded(each) : !each.isOver), which);
    if (one === undefined) return "-";
    if (does === "retune") return await attempt(() => one.subscription.setPrefetch(how % 4));
    one.isOver = true;
    await one.subscription[does]();
    if (does === "close") one.inHand.length = 0;
    return "done";
  }

  #told({ body, redelivered, exchange, routingKey, headers }: ReceivedMessage): string {
    const { "x-death": deaths = [], ...others } = headers;
    const histories = (deaths as readonly WireTable[]).map(({ time: _, ...death }) => death);
    const told = [
      new TextDecoder().decode(body),
      redelivered,
      exchange,
      routingKey,
      sorted(others),
      histories.map(sorted),
    ];
    return this.#named(JSON.stringify(told));
  }

  /** Without what is another each time. */
  #named(text: string): string {
    return text.replaceAll(this.#world.name(""), "");
  }
}

function isNeeded({ isOver, inHand }: Consuming): boolean {
  return !isOver || inHand.length > 0;
}

function pick<Item>(items: readonly [Item, ...(readonly Item[])], which: number): Item;
function pick<Item>(items: readonly Item[], which: number): Item | undefined;
function pick<Item>(items: readonly Item[], which: number): Item | undefined {
  return items[which % items.length];
}

function sorted(table: WireTable): readonly (readonly [string, string])[] {
  return Object.entries(table).map(([name, value]) => [name, String(value)] as const).toSorted();
}

/** What became of it: an answer, or the kind of a refusal. */
async function attempt(act: () => Promise<string | void>): Promise<string> {
  try {
    return await act() ?? "done";
  } catch (error) {
    if (error instanceof Error && "code" in error) return String(error.code);
    throw error;
  }
}
