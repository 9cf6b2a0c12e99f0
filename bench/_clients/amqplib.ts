/**
 * `amqplib`, through its promise interface.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { connect } from "amqplib";
import { AMQP_URL, type BenchClient, BODY, CONTENT_TYPE, messageHeaders, PREFETCH } from "./client.ts";

/** Connects. */
export async function openAmqplib(): Promise<BenchClient> {
  const connection = await connect(`${AMQP_URL}?frameMax=131072`, { noDelay: true });
  const body = Buffer.from(BODY);
  return {
    name: "amqplib",
    openSender: async (queue, { persistent }) => {
      const channel = await connection.createConfirmChannel();
      const send = (): Promise<void> =>
        new Promise((resolve, reject) => {
          const messageId = crypto.randomUUID();
          const headers = messageHeaders(messageId, queue, { "!": "int", value: 1 });
          const options = { contentType: CONTENT_TYPE, persistent, mandatory: true, messageId, headers };
          channel.publish("", queue, body, options, (error) => error === null ? resolve() : reject(error));
        });
      return { send, close: () => channel.close() };
    },
    openReceiver: async (queue, onMessage) => {
      const channel = await connection.createChannel();
      await channel.prefetch(PREFETCH);
      await channel.consume(queue, (message) => {
        if (message === null) return;
        onMessage(message.content.byteLength);
        channel.ack(message);
      });
      return { close: () => channel.close() };
    },
    close: () => connection.close(),
  };
}
