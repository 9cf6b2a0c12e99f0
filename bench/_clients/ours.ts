/**
 * This library, as its README uses it.
 *
 * @module
 */
import { connect } from "../../mod.ts";
import { OURS } from "../_line.ts";
import { AMQP_URL, type BenchClient, BODY, CLIENT_NAME, PREFETCH } from "./client.ts";

/** Connects. */
export async function openOurs(): Promise<BenchClient> {
  const mq = await connect(AMQP_URL, { name: CLIENT_NAME, codec: "bytes" });
  return {
    name: OURS,
    openSender: (queue, { persistent }) => {
      const publisher = mq.publisher<Uint8Array>("", queue, { persistent });
      return Promise.resolve({ send: () => publisher.send(BODY), close: () => Promise.resolve() });
    },
    openReceiver: async (queue, onMessage) => {
      const handler = ({ payload }: { readonly payload: Uint8Array }): void => onMessage(payload.byteLength);
      const consumer = await mq.consume<Uint8Array>(queue, handler, { prefetch: PREFETCH, declare: false });
      return { close: async () => void await consumer.close() };
    },
    close: async () => void await mq.close(),
  };
}
