/**
 * Whether a queue is a stream, which AMQP has no question for.
 *
 * @module
 */

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
