/**
 * RabbitMQ by a bare client: what a program without this library puts in, and what it finds.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type Channel, type ChannelModel, connect, type GetMessage, type Options } from "amqplib";
import { type ContentHeader, readContentHeader } from "./content_header.ts";
import { deferred, until } from "./until.ts";
import { WireTap } from "./wire_tap.ts";

/** A message as the bare client finds it. */
export interface FoundMessage extends ContentHeader {
  readonly exchange: string;
  readonly routingKey: string;
  readonly redelivered: boolean;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The headers without their kinds. */
  readonly table: Readonly<Record<string, unknown>>;
  /** The headers as the bare client publishes them again. */
  readonly copied: Readonly<Record<string, unknown>>;
}

/** Where a message is put. */
export interface PutTarget {
  readonly exchange: string;
  readonly routingKey: string;
}

/** A connection of `amqplib`, and everything that was made for a test. */
export class BareClient {
  readonly #model: ChannelModel;
  readonly #tap: WireTap;
  readonly #prefix: string;
  readonly #queues = new Set<string>();
  readonly #exchanges = new Set<string>();

  private constructor(model: ChannelModel, tap: WireTap, prefix: string) {
    this.#model = model;
    this.#tap = tap;
    this.#prefix = `${prefix}-${crypto.randomUUID().slice(0, 8)}`;
    model.on("error", () => {});
  }

  /** Connects; every name begins with `prefix`. */
  static async open(prefix: string, url?: string): Promise<BareClient> {
    const tap = await WireTap.open(url);
    return new BareClient(await connect(tap.url, { noDelay: true }), tap, prefix);
  }

  /** A name nobody else uses; what it names is removed by {@linkcode BareClient.close}. */
  queueName(suffix: string): string {
    const name = `${this.#prefix}.${suffix}`;
    this.#queues.add(name);
    return name;
  }

  /** As {@linkcode BareClient.queueName}, for an exchange. */
  exchangeName(suffix: string): string {
    const name = `${this.#prefix}.${suffix}`;
    this.#exchanges.add(name);
    return name;
  }

  /** A durable queue of a new name. */
  async queue(suffix: string, args: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const name = this.queueName(suffix);
    await this.declare(name, args);
    return name;
  }

  /** Declares a durable queue as another program would; rejects with the broker's words. */
  declare(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<void> {
    return this.once(async (channel) => {
      await channel.assertQueue(name, { durable: true, arguments: args });
    });
  }

  /** Runs one action on a channel of its own: a refusal closes no other. */
  async once<T>(action: (channel: Channel) => Promise<T>): Promise<T> {
    const channel = await this.#model.createChannel();
    channel.on("error", () => {});
    try {
      return await action(channel);
    } finally {
      await channel.close().catch(() => {/* the broker has closed it */});
    }
  }

  /** Publishes, confirmed: to a queue by its name, or wherever `target` says. */
  async put(target: string | PutTarget, body: string | Uint8Array, options: Options.Publish = {}): Promise<void> {
    const { exchange, routingKey } = typeof target === "string" ? { exchange: "", routingKey: target } : target;
    const channel = await this.#model.createConfirmChannel();
    channel.on("error", () => {});
    channel.publish(exchange, routingKey, Buffer.from(body), { persistent: true, ...options });
    await channel.waitForConfirms();
    await channel.close();
  }

  /** Messages that wait in a queue; `undefined` when there is no such queue. */
  async depth(queue: string): Promise<number | undefined> {
    return await this.once((channel) => channel.checkQueue(queue)).then(
      ({ messageCount }) => messageCount,
      () => undefined,
    );
  }

  /** Takes the first message off a queue, waiting for one. */
  async take(queue: string): Promise<FoundMessage> {
    return await until(`a message in ${queue}`, () => this.takeNow(queue));
  }

  /** Takes the first message off a queue; `undefined` when it is empty. */
  takeNow(queue: string): Promise<FoundMessage | undefined> {
    return this.#get(queue, (channel, message) => channel.ack(message));
  }

  /** Takes everything off a queue, and gives the messages' ids in order. */
  async takeAll(queue: string): Promise<readonly string[]> {
    const last = crypto.randomUUID();
    const ids: string[] = [];
    await this.once(async (channel) => {
      const isEmpty = deferred();
      await channel.consume(queue, (message) => {
        const id = String(message?.properties.messageId);
        if (id === last) isEmpty.resolve();
        else ids.push(id);
      }, { noAck: true });
      await this.put(queue, "", { messageId: last });
      await isEmpty.promise;
    });
    return ids;
  }

  /** Looks at the first message of a queue, waiting for one, and leaves it there. */
  async peek(queue: string): Promise<FoundMessage> {
    return await until(
      `a message in ${queue}`,
      () => this.#get(queue, (channel, message) => channel.nack(message, false, true)),
    );
  }

  /** Removes a queue. */
  async remove(queue: string): Promise<void> {
    await this.once((channel) => channel.deleteQueue(queue));
  }

  /** Removes everything that was made, rungs before the queue they lead home to, and disconnects. */
  async close(): Promise<void> {
    const rungs = [...this.#queues].flatMap((name) => RUNGS.map((rung) => `${name}.retry.${rung}`));
    const names = [...rungs, ...[...this.#queues].flatMap((name) => [name, `${name}.dlq`, `${name}.parked`])];
    await this.once(async (channel) => {
      for (const name of names) await channel.deleteQueue(name);
      for (const name of this.#exchanges) await channel.deleteExchange(name);
    });
    await this.#model.close();
    await this.#tap.close();
  }

  #get(queue: string, settle: (channel: Channel, message: GetMessage) => void): Promise<FoundMessage | undefined> {
    return this.once(async (channel) => {
      const message = await channel.get(queue);
      if (message === false) return undefined;
      settle(channel, message);
      const header = readContentHeader(this.#tap.contentHeaders.at(-1) ?? new Uint8Array());
      const { exchange, routingKey, redelivered } = message.fields;
      return {
        ...header,
        table: Object.fromEntries(header.headers.map(([name, , value]) => [name, value])),
        copied: message.properties.headers ?? {},
        exchange,
        routingKey,
        redelivered,
        body: new Uint8Array(message.content),
      };
    });
  }
}

/** The rungs tests use. */
const RUNGS: readonly string[] = ["1s", "2s", "3s", "4s", "5s", "20s", "40s", "80s", "1m", "1h"];
