/**
 * Waiting for the broker, but not for ever.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";

/**
 * How long a recovery waits for one answer before it goes on without, milliseconds.
 *
 * A healthy broker answers in a few; RabbitMQ lets a consumer of a quorum queue without a leader wait for more than a minute.
 */
export const PATIENCE_MS = 5_000;

/** What a promise becomes, or `"late"` when it takes longer than `ms`; it goes on, and what becomes of it then is not heard. */
export async function inTime<T>(
  answer: Promise<T>,
  { clock, ms = PATIENCE_MS }: { readonly clock: Clock; readonly ms?: number },
): Promise<T | "late"> {
  const stop = new AbortController();
  const late = clock.delay(ms, { signal: stop.signal }).then(() => "late" as const, () => "late" as const);
  try {
    return await Promise.race([answer, late]);
  } finally {
    stop.abort();
  }
}
