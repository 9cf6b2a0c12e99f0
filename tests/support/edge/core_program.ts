/**
 * A program without TCP: it publishes and consumes through a broker that is handed in. `edge_test.ts` bundles it.
 *
 * @module
 */
import { memoryBroker } from "../../../adapters/memory/mod.ts";
import { connect, topology } from "../../../core.ts";

/** Sends one message through the whole library; answers in text, since an object of another realm equals none of ours. */
export async function roundTrip(json: string): Promise<string> {
  const mq = await connect(memoryBroker());
  await mq.declare(topology().queue("orders.new"));
  const received: unknown[] = [];
  await mq.consume("orders.new", (message) => void received.push(message.payload));
  const { outcome } = await mq.publisher("", "orders.new").send(JSON.parse(json));
  await mq.close();
  return `${outcome}: ${JSON.stringify(received[0])}`;
}
