/**
 * `rabbitmq-client`, through its publisher and consumer. It has no way to ask for a width: the two small integers go out as 8 bits.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Connection } from "rabbitmq-client";
import { AMQP_URL, type BenchClient, BODY, CONTENT_TYPE, messageHeaders, PREFETCH } from "./client.ts";

/** Connects. */
export async function openRabbitmqClient(): Promise<BenchClient> {
  const connection = new Connection({ url: AMQP_URL, noDelay: true, frameMax: 131_072 });
  await connection.onConnect();
  const body = Buffer.from(BODY);
  return {
    name: "rabbitmq-client",
    openSender: (queue, { persistent }) => {
      const publisher = connection.createPublisher({ confirm: true });
      const send = (): Promise<void> => {
        const messageId = crypto.randomUUID();
        const headers = messageHeaders(messageId, queue, 1);
        return publisher.send(
          { routingKey: queue, contentType: CONTENT_TYPE, durable: persistent, mandatory: true, messageId, headers },
          body,
        );
      };
      return Promise.resolve({ send, close: () => publisher.close() });
    },
    openReceiver: (queue, onMessage) => {
      const qos = { prefetchCount: PREFETCH };
      const consumer = connection.createConsumer({ queue, queueOptions: { passive: true }, qos }, (message) => {
        onMessage((message.body as Buffer).byteLength);
      });
      return Promise.resolve({ close: () => consumer.close() });
    },
    close: () => connection.close(),
  };
}
