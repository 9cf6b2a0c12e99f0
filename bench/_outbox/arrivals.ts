/**
 * When messages arrive: a consumer on a connection of its own, which takes no part in what is measured.
 *
 * @module
 */
import { AMQPClient } from "@cloudamqp/amqp-client";
import { AMQP_URL } from "../_clients/client.ts";

/** A message that needs longer is lost. */
const PATIENCE_MS = 30_000;

/** Whoever is waited for, by message id. */
export class Arrivals {
  readonly #client: AMQPClient;
  readonly #awaited = new Map<string, (arrivedMs: number) => void>();

  private constructor(client: AMQPClient) {
    this.#client = client;
  }

  /** Consumes from a queue. */
  static async from(queue: string): Promise<Arrivals> {
    const client = new AMQPClient(`${AMQP_URL}?frameMax=131072&name=bench-arrivals`);
    await client.connect();
    client.socket?.setNoDelay(true);
    const arrivals = new Arrivals(client);
    const channel = await client.channel();
    await channel.basicConsume(queue, { noAck: true }, ({ properties }) => {
      arrivals.#awaited.get(properties.messageId ?? "")?.(performance.now());
    });
    return arrivals;
  }

  /** When the message with this id has arrived, by `performance.now()`. */
  of(messageId: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const lost = new Error(`Cannot count the round: message ${messageId} has not arrived in ${PATIENCE_MS} ms`);
      const timer = setTimeout(() => reject(lost), PATIENCE_MS);
      this.#awaited.set(messageId, (arrivedMs) => {
        clearTimeout(timer);
        this.#awaited.delete(messageId);
        resolve(arrivedMs);
      });
    });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
