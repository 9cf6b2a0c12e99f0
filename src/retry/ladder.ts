/**
 * The ladder: which waits of a policy the broker holds, and what follows a failure (contract core 4.2, 4.4, 4.5).
 *
 * @module
 */

import type { Random } from "../clock.ts";
import { assertWholeNumber } from "../internal/assert_option.ts";
import { assertRetryPolicy, delayAfter, type RetryPolicy, waitsInBroker } from "./policy.ts";

/** A policy and the lengths of its rungs. */
export interface Ladder {
  readonly policy: RetryPolicy;
  /** Distinct waits held by the broker, shortest first, milliseconds. */
  readonly rungsMs: readonly number[];
}

/** What follows a failed attempt. */
export type RetryDecision =
  | { readonly next: "give_up"; readonly because: "attempts" | "age" }
  | { readonly next: "wait_in_consumer"; readonly delayMs: number; readonly wantedRungMs?: number }
  | { readonly next: "wait_on_rung"; readonly delayMs: number; readonly wantedRungMs?: number };

/** The failure to decide about. */
export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number;
  /** Milliseconds since the first publish. */
  readonly ageMs: number;
  /** The wait a handler asked for instead of the policy's, milliseconds. */
  readonly requestedDelayMs?: number | undefined;
}

/** The longest time to live the broker accepts for a queue, milliseconds. */
const LONGEST_TTL_MS = 4_294_967_295;

/**
 * The ladder of a policy, with the further rungs a consumer asks for.
 *
 * A rung is one name for one time to live in every language only when it is whole seconds, so a policy that needs another is
 * refused here, before anything is declared (contract core 4.3).
 *
 * @throws {RangeError} a wait held by the broker that is not whole seconds, or longer than a queue can hold
 */
export function ladderOf(policy: RetryPolicy, extraRungsMs: readonly number[] = []): Ladder {
  assertRetryPolicy(policy);
  const rungs = new Set<number>();
  const longestMs = delayAfter(policy, policy.maxAttempts - 1);
  for (let attempt = 1; attempt < policy.maxAttempts; attempt++) {
    const delayMs = delayAfter(policy, attempt);
    if (waitsInBroker(policy, delayMs)) {
      assertRung("Cannot use the retry policy", delayMs);
      rungs.add(delayMs);
    }
    // Waits never shrink: from the longest one on they are all alike.
    if (delayMs === longestMs) break;
  }
  for (const delayMs of extraRungsMs) {
    assertWholeNumber("rungsMs", delayMs, 1);
    assertRung("Cannot use option 'rungsMs'", delayMs);
    rungs.add(delayMs);
  }
  return Object.freeze({ policy, rungsMs: Object.freeze([...rungs].sort((a, b) => a - b)) });
}

/** What follows a failure: pure, but for the jitter it draws. */
export function decideRetry(ladder: Ladder, failure: FailedAttempt, random: Random): RetryDecision {
  const { policy } = ladder;
  if (failure.attempt >= policy.maxAttempts) return { next: "give_up", because: "attempts" };
  if (policy.maxMessageAgeMs > 0 && failure.ageMs >= policy.maxMessageAgeMs) return { next: "give_up", because: "age" };
  if (failure.requestedDelayMs !== undefined) return decideRequested(ladder, failure.requestedDelayMs);
  const delayMs = delayAfter(policy, failure.attempt);
  if (waitsInBroker(policy, delayMs)) return { next: "wait_on_rung", delayMs };
  return { next: "wait_in_consumer", delayMs: jittered(delayMs, policy.jitterFactor, random) };
}

/** A wait the handler asked for: no jitter; a rung that was not declared gives way to the nearest one that was. */
function decideRequested({ policy, rungsMs }: Ladder, delayMs: number): RetryDecision {
  if (!waitsInBroker(policy, delayMs)) return { next: "wait_in_consumer", delayMs };
  if (rungsMs.includes(delayMs)) return { next: "wait_on_rung", delayMs };
  const substitute = rungsMs.find((rung) => rung >= delayMs) ?? rungsMs.at(-1);
  return substitute === undefined
    ? { next: "wait_in_consumer", delayMs, wantedRungMs: delayMs }
    : { next: "wait_on_rung", delayMs: substitute, wantedRungMs: delayMs };
}

/** A wait varied both ways by `factor`; at least a millisecond when there is a wait at all. */
function jittered(delayMs: number, factor: number, random: Random): number {
  if (delayMs === 0) return 0;
  return Math.max(1, delayMs * (1 - factor + 2 * factor * random()));
}

function assertRung(problem: string, delayMs: number): void {
  if (delayMs % 1_000 !== 0) {
    throw new RangeError(`${problem}: a wait held by the broker must be whole seconds, found ${delayMs} ms`);
  }
  if (delayMs > LONGEST_TTL_MS) {
    throw new RangeError(
      `${problem}: a queue can hold a message for at most ${LONGEST_TTL_MS} ms, found ${delayMs} ms`,
    );
  }
}
