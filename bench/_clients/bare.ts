/**
 * The client that our AMQP adapter builds on, used as its README does.
 *
 * @module
 */
import { AMQPClient } from "@cloudamqp/amqp-client";
import { BARE } from "../_line.ts";
import { AMQP_URL, type BenchClient, BODY, CONTENT_TYPE, messageHeaders, PREFETCH } from "./client.ts";

/** Connects, with the largest frames and without Nagle's wait, as the adapter does. */
export async function openBare(): Promise<BenchClient> {
  const client = new AMQPClient(`${AMQP_URL}?frameMax=131072`);
  await client.connect();
  client.socket?.setNoDelay(true);
  return {
    name: BARE,
    openSender: async (queue, { persistent }) => {
      const channel = await client.channel();
      await channel.confirmSelect();
      const deliveryMode = persistent ? 2 : 1;
      const send = (): Promise<number> => {
        const messageId = crypto.randomUUID();
        const headers = messageHeaders(messageId, queue, 1);
        return channel.basicPublish(
          "",
          queue,
          BODY,
          { contentType: CONTENT_TYPE, deliveryMode, messageId, headers },
          true,
        );
      };
      return { send, close: () => channel.close() };
    },
    openReceiver: async (queue, onMessage) => {
      const channel = await client.channel();
      await channel.prefetch(PREFETCH);
      await channel.basicConsume(queue, { noAck: false }, async (message) => {
        onMessage(message.body?.byteLength ?? 0);
        await message.ack();
      });
      return { close: () => channel.close() };
    },
    close: () => client.close(),
  };
}
