/**
 * The queues of a bench, through a connection of their own that takes no part in what is measured.
 *
 * @module
 */
import process from "node:process";
import { AMQPClient, type AMQPMessage } from "@cloudamqp/amqp-client";
import { AMQP_URL } from "./_clients/client.ts";

/** Kinds of queue that are measured; all durable. */
export type QueueKind = "classic" | "quorum";

/** A queue that nobody uses is removed by the broker: the way out for a bench that was killed. */
const EXPIRES_MS = 600_000;

/** Queues of one bench; every name begins with `bench.` and ends with the process id. */
export class Queues {
  readonly #client: AMQPClient;
  readonly #channel: Awaited<ReturnType<AMQPClient["channel"]>>;
  readonly #names = new Set<string>();

  private constructor(client: AMQPClient, channel: Awaited<ReturnType<AMQPClient["channel"]>>) {
    this.#client = client;
    this.#channel = channel;
  }

  static async open(): Promise<Queues> {
    const client = new AMQPClient(`${AMQP_URL}?frameMax=131072&name=bench-queues`);
    await client.connect();
    client.socket?.setNoDelay(true);
    return new Queues(client, await client.channel());
  }

  /** Makes a queue. */
  async declare(purpose: string, kind: QueueKind): Promise<string> {
    const name = `bench.${purpose}.${kind}.${process.pid}`;
    await this.#channel.queueDeclare(name, { durable: true }, { "x-queue-type": kind, "x-expires": EXPIRES_MS });
    this.#names.add(name);
    return name;
  }

  /** Removes every waiting message, and says how many there were. */
  async purge(name: string): Promise<number> {
    const { messageCount } = await this.#channel.queuePurge(name);
    return messageCount;
  }

  /** Takes one message off a queue. */
  async take(name: string): Promise<AMQPMessage | null> {
    return await this.#channel.basicGet(name, { noAck: true });
  }

  /** Removes the queues and closes the connection. */
  async close(): Promise<void> {
    for (const name of this.#names) await this.#channel.queueDelete(name);
    await this.#client.close();
  }
}
