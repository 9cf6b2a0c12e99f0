/**
 * How long to wait before the next attempt.
 *
 * @module
 */

import type { Backoff } from "./options.ts";

/** Jitter, both directions: many processes that lost the same broker come back spread over this part of the wait. */
const JITTER = 0.2;

/** The wait before attempt `attempt`, from 1: growing to the limit, jittered, never above the limit. */
export function delayBefore(attempt: number, { initialDelayMs, maxDelayMs, multiplier, random }: Backoff): number {
  const grown = Math.min(initialDelayMs * multiplier ** (attempt - 1), maxDelayMs);
  const jittered = grown * (1 - JITTER + 2 * JITTER * random());
  return Math.max(1, Math.round(Math.min(jittered, maxDelayMs)));
}
