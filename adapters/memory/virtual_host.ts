/**
 * Everything one memory broker has: exchanges, queues, and the ways between them.
 *
 * Methods throw a {@linkcode Refusal} where the broker would answer with an error.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import type { WireTable } from "../../src/message/wire_value.ts";
import type { BindingSpec, ExchangeSpec, ExchangeType, QueueSpec } from "../../src/topology/specs.ts";
import { type AnyQueue, newQueue } from "./any_queue.ts";
import { Consequences } from "./consequences.ts";
import { deadLettered } from "./dead_letter.ts";
import { type DeathReason, isDeathCycle } from "./death_history.ts";
import { type Declared, exchangeDifference, queueDifference } from "./equivalence.ts";
import { MemoryExchange } from "./exchange.ts";
import { xMatchRefusal } from "./headers_match.ts";
import { Postbox } from "./postbox.ts";
import type { MemoryQueue, QueueHost } from "./queue.ts";
import {
  accessRefused,
  lockedQueue,
  noExchange,
  noQueue,
  noQueueDeclared,
  preconditionFailed,
  type Refusal,
} from "./refusals.ts";
import type { SettlementTerms } from "./settlement_watch.ts";
import type { StoredMessage } from "./stored_message.ts";
import type { Burial } from "./unburied.ts";
import { MemoryStream } from "./stream.ts";
import { tableAfterHop } from "./wire_hop.ts";
import { assertWritable, nameAfterHop } from "./wire_names.ts";

/** What brings messages to a queue, beside the default exchange. */
export interface QueueBinding {
  /** Where they come from. */
  readonly exchange: string;
  /** Which of them: a pattern for a topic exchange. */
  readonly routingKey: string;
  /** What a headers exchange matches. */
  readonly arguments: WireTable;
}

/** What became of a message. */
export type Routed = "routed" | "unroutable" | "rejected";

/** The exchanges every broker has. */
const SYSTEM_EXCHANGES: readonly (readonly [string, ExchangeType])[] = [
  ["amq.direct", "direct"],
  ["amq.fanout", "fanout"],
  ["amq.topic", "topic"],
  ["amq.headers", "headers"],
  ["amq.match", "headers"],
];

const EXCHANGE_TYPES: readonly string[] = ["direct", "topic", "fanout", "headers"];

/** The one virtual host of a memory broker. */
export class VirtualHost implements QueueHost, SettlementTerms {
  readonly clock: Clock;
  readonly acknowledgementTimeoutMs: number;
  readonly postbox: Postbox = new Postbox();
  readonly #exchanges = new Map<string, MemoryExchange>();
  readonly #queues = new Map<string, AnyQueue>();
  /** Who waits for a queue of a name to be declared. */
  readonly #awaited = new Map<string, Set<() => void>>();
  readonly #consequences = new Consequences();
  #connections = 0;

  constructor({ clock, acknowledgementTimeoutMs }: SettlementTerms) {
    this.clock = clock;
    this.acknowledgementTimeoutMs = acknowledgementTimeoutMs;
    for (const [name, type] of SYSTEM_EXCHANGES) {
      this.#exchanges.set(name, new MemoryExchange({ name, type, durable: true, autoDelete: false, arguments: {} }));
    }
  }

  get isInUse(): boolean {
    return this.#connections > 0;
  }

  get queueNames(): readonly string[] {
    return [...this.#queues.keys()];
  }

  /** Somebody has connected: what expired while nobody was is dealt with now. */
  enter(): void {
    this.#connections++;
    if (this.#connections === 1) this.#queues.forEach((queue) => queue.expire());
  }

  /** Somebody has gone, and takes the queues along that were theirs alone. */
  leave(owner: object): void {
    for (const queue of this.#queues.values()) if (queue.owner === owner) this.#remove(queue);
    this.#connections--;
    if (this.#connections === 0) this.#queues.forEach((queue) => queue.rest());
  }

  findQueue(name: string): AnyQueue | undefined {
    return this.#queues.get(name);
  }

  /** What binds a queue, by exchange. Nobody outside holds a part of it. */
  bindingsOf(queue: AnyQueue): readonly QueueBinding[] {
    return [...this.#exchanges].flatMap(([exchange, one]) =>
      one.bindingsOf(queue).map((binding) => ({
        exchange,
        routingKey: binding.routingKey,
        arguments: tableAfterHop(binding.arguments),
      }))
    );
  }

  hasExchange(name: string): boolean {
    return name === "" || this.#exchanges.has(nameAfterHop(name));
  }

  /** A queue that is asked for, whoever may use it. */
  askedForQueue(name: string): AnyQueue | undefined {
    return this.#queues.get(nameAfterHop(name));
  }

  /** A queue, for a connection that may use it. */
  queue(name: string, user: object): AnyQueue {
    assertWritable(name);
    const queue = this.#queues.get(name);
    if (queue === undefined) throw noQueue(name);
    if (!queue.isOpenTo(user)) throw lockedQueue(name);
    return queue;
  }

  declareExchange(spec: ExchangeSpec): void {
    const asked = askedExchange(spec);
    const { name } = asked;
    const there = this.#exchanges.get(name);
    const difference = there && exchangeDifference(there.spec, asked);
    if (difference !== undefined) throw difference;
    if (there !== undefined) return;
    if (name.startsWith("amq.")) throw accessRefused(`exchange name '${name}' contains reserved prefix 'amq.*'`);
    this.#exchanges.set(name, new MemoryExchange(asked));
  }

  declareQueue(spec: QueueSpec, user: object): void {
    const asked = askedQueue(spec);
    const { name } = asked;
    if (this.#queues.has(name)) {
      const difference = this.queueDifference(spec, user);
      if (difference !== undefined) throw difference;
      return;
    }
    if (name.startsWith("amq.")) throw accessRefused(`queue name '${name}' contains reserved prefix 'amq.*'`);
    this.#queues.set(name, newQueue(asked, this, spec.exclusive ? user : undefined));
    for (const told of [...this.#awaited.get(name) ?? []]) this.postbox.post({ arrive: told });
  }

  /** Why an exchange that is there cannot be declared so; undefined when it can. */
  exchangeDifference(spec: ExchangeSpec): Refusal | undefined {
    const asked = askedExchange(spec);
    const there = this.#exchanges.get(asked.name);
    if (there === undefined) throw noExchange(asked.name);
    return exchangeDifference(there.spec, asked);
  }

  /** Why a queue that is there cannot be declared so; undefined when it can. */
  queueDifference(spec: QueueSpec, user: object): Refusal | undefined {
    const asked = askedQueue(spec);
    const queue = this.queue(asked.name, user);
    const difference = queueDifference(queue.spec, asked);
    if (difference === undefined) queue.asked();
    return difference;
  }

  bind(spec: BindingSpec, user: object): void {
    const args = tableAfterHop(spec.arguments);
    const [queueName, exchangeName] = [nameAfterHop(spec.queue), nameAfterHop(spec.exchange)];
    assertWritable(spec.routingKey);
    if (queueName === "") throw noQueueDeclared();
    if (exchangeName === "") throw accessRefused("operation not permitted on the default exchange");
    const queue = this.queue(queueName, user);
    const exchange = this.#exchanges.get(exchangeName);
    if (exchange === undefined) throw noExchange(exchangeName);
    const refusal = exchange.spec.type === "headers" ? xMatchRefusal(args) : undefined;
    if (refusal !== undefined) throw refusal;
    exchange.bind({ queue, routingKey: spec.routingKey, arguments: args });
  }

  deleteQueue(named: string, user: object): void {
    const name = nameAfterHop(named);
    if (this.#queues.has(name)) this.#remove(this.queue(name, user));
  }

  deleteExchange(named: string): void {
    const name = nameAfterHop(named);
    if (name.startsWith("amq.")) {
      throw accessRefused(`deletion of system exchange '${name}' in vhost '/' not allowed`);
    }
    this.#exchanges.delete(name);
  }

  /** Calls `told` when a queue of the name is declared, until the returned function is called. */
  awaitQueue(name: string, told: () => void): () => void {
    const waiting = this.#awaited.get(name) ?? new Set();
    this.#awaited.set(name, waiting.add(told));
    return () => {
      waiting.delete(told);
      if (waiting.size === 0 && this.#awaited.get(name) === waiting) this.#awaited.delete(name);
    };
  }

  /** `publisher` is whom a full queue may tell to stop: an AMQP channel. */
  publish(message: StoredMessage, publisher: object): Routed {
    const queues = this.#route(message);
    if (queues === undefined) throw noExchange(message.exchange);
    if (queues.length === 0) return "unroutable";
    return this.together(() => {
      let outcome: Routed = "routed";
      for (const queue of queues) if (!queue.publish(message, publisher)) outcome = "rejected";
      return outcome;
    });
  }

  together<Result>(act: () => Result): Result {
    return this.#consequences.of(act);
  }

  bury(message: StoredMessage, queue: MemoryQueue, reason: DeathReason): void {
    const { spec, settings } = queue;
    const { deadLetterExchange: exchange, deadLetterRoutingKey: routingKey } = settings;
    if (exchange === undefined) return;
    const dead = deadLettered(message, { queue: spec.name, reason, exchange, routingKey, atMs: this.clock.now() });
    if (dead === "lost") return;
    const keeper = settings.isPatient ? queue : undefined;
    const burial: Burial = { dead, reason, keeper, done: new Set() };
    this.#consequences.add(() => {
      if (!this.hasArrived(burial) && keeper !== undefined) queue.keep(burial);
    });
  }

  /** RabbitMQ 3.10 loses what nobody keeps on its way into a stream, and asks no full quorum queue whether it takes it. */
  hasArrived({ dead, reason, keeper, done }: Burial): boolean {
    const isLost = (queue: AnyQueue): boolean =>
      (keeper === undefined && queue instanceof MemoryStream) ||
      (reason !== "rejected" && isDeathCycle(dead.headers, queue.spec.name));
    const queues = (this.#route(dead) ?? []).filter((queue) => !isLost(queue));
    for (const queue of queues) if (!done.has(queue) && queue.publish(dead, keeper)) done.add(queue);
    return queues.length > 0 && queues.every((queue) => done.has(queue));
  }

  abandoned(queue: MemoryQueue): void {
    this.#remove(queue);
  }

  /** Undefined where there is no such exchange. */
  #route(message: StoredMessage): readonly AnyQueue[] | undefined {
    if (message.exchange === "") return this.#named(message.keys);
    const tried = new Set<MemoryExchange>();
    let exchange = this.#exchanges.get(message.exchange);
    if (exchange === undefined) return undefined;
    for (; exchange !== undefined && !tried.has(exchange); exchange = this.#exchanges.get(exchange.alternate ?? "")) {
      const queues = exchange.queuesFor(message);
      if (queues.length > 0) return queues;
      tried.add(exchange);
    }
    return [];
  }

  #named(keys: StoredMessage["keys"]): readonly AnyQueue[] {
    if (keys.length > 1) return [...new Set(keys.flatMap((key) => this.#named([key])))];
    const queue = this.#queues.get(keys[0]);
    return queue === undefined ? [] : [queue];
  }

  #remove(queue: AnyQueue): void {
    if (this.#queues.get(queue.spec.name) !== queue) return;
    this.#queues.delete(queue.spec.name);
    for (const [name, exchange] of this.#exchanges) {
      if (exchange.unbind(queue) && exchange.spec.autoDelete) this.#exchanges.delete(name);
    }
    queue.end();
  }
}

/** An exchange as it is asked for over the wire; throws the refusal of one that nobody can ask for. */
function askedExchange(spec: ExchangeSpec): Declared<ExchangeSpec> {
  const { type } = spec;
  if (!EXCHANGE_TYPES.includes(type)) throw preconditionFailed(`the exchange type '${type}' is unknown`);
  const asked = { ...spec, name: nameAfterHop(spec.name), arguments: tableAfterHop(spec.arguments) };
  if (asked.name === "") throw accessRefused("operation not permitted on the default exchange");
  return asked;
}

/** As {@linkcode askedExchange}. What goes with its connection anyway is never durable, whatever is said. */
function askedQueue(spec: QueueSpec): Declared<QueueSpec> {
  if (spec.name === "") throw preconditionFailed("a queue needs a name");
  const durable = spec.durable && !spec.exclusive;
  return { ...spec, name: nameAfterHop(spec.name), durable, arguments: tableAfterHop(spec.arguments) };
}
