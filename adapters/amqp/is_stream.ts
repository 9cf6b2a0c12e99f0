/**
 * Whether a queue is a stream, which AMQP has no question for.
 *
 * @module
 */

import { TopologyError } from "../../src/errors.ts";
import { CallRefused, type Link } from "./link.ts";
import { consume, limitPrefetch } from "./wire/calls.ts";

/** Asks by consuming, for a moment and on a channel of its own, as only a stream can be consumed. */
export async function isStream(link: Link, queue: string): Promise<boolean> {
  const channel = await link.openChannel();
  try {
    await link.call(channel, limitPrefetch(1));
    await link.call(channel, consume({ queue, consumerTag: "", arguments: { "x-stream-offset": "next" } }));
    return true;
  } catch (error) {
    if (error instanceof CallRefused) return false;
    throw error;
  } finally {
    void channel.leave();
  }
}

/**
 * Refuses what RabbitMQ would close the whole connection over, with every other consumer on it.
 *
 * Only RabbitMQ is asked. It refuses an argument that a queue of another type does not know; from a broker that passes over what it
 * does not know, every queue would look like a stream.
 */
export async function assertNoStream(link: Link, queue: string, action: "pull from" | "purge"): Promise<void> {
  if (!link.isRabbit || !await isStream(link, queue)) return;
  throw new TopologyError(
    "ACEMQ_TOPOLOGY_REFUSED",
    `Cannot ${action} queue "${queue}": found a stream, wanted a classic or a quorum queue`,
  );
}
