/**
 * Takes away what a test has left on a broker.
 *
 * @module
 */
import { type ChannelModel, connect } from "amqplib";

/** A queue and what stands beside it. Rungs come first: what waits there would come home otherwise. */
const PARTS: readonly string[] = [".retry.1s", "", ".dlq", ".parked"];

/** Takes everything out of queues, and the queues and the exchanges of these names away: the ids of the messages found. */
export async function clearAway(url: string, names: readonly string[]): Promise<Set<string>> {
  const model = await connect(url);
  const ids = new Set<string>();
  try {
    for (const name of PARTS.flatMap((part) => names.map((queue) => `${queue}${part}`))) {
      // Without such a queue the broker closes the channel.
      await empty(model, name, ids).catch(() => {});
    }
    const channel = await model.createChannel();
    for (const name of names) await channel.deleteExchange(name);
  } finally {
    await model.close();
  }
  return ids;
}

async function empty(model: ChannelModel, queue: string, ids: Set<string>): Promise<void> {
  const channel = await model.createChannel();
  channel.on("error", () => {/* no such queue */});
  for (let found = await channel.get(queue); found !== false; found = await channel.get(queue)) {
    if (found.properties.messageId !== undefined) ids.add(String(found.properties.messageId));
  }
  await channel.deleteQueue(queue);
  await channel.close();
}
