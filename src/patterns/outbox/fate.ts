/**
 * What becomes of a row, given what the broker answered. No effect here.
 *
 * @module
 */

import type { ClaimedFacts } from "../../ports/outbox_store.ts";
import type { OnBehalfAnswer } from "../../publish/on_behalf.ts";

/** What is written to the store. */
export type Fate =
  /** A queue has it. */
  | { readonly is: "published" }
  /** The broker refused this message, or there is none: it has spent an attempt. */
  | { readonly is: "failed"; readonly reason: string; readonly attempts: number; readonly retryDelayMs: number }
  /** It goes back as if it had not been taken, to be handed out after the delay. */
  | { readonly is: "given_back"; readonly reason: string; readonly delayMs: number };

/** What a fate depends on beside the answer. */
export interface FateFacts {
  readonly pollIntervalMs: number;
  /** How long the answer was waited for, milliseconds. */
  readonly tookMs: number;
  /** Whether there is a link to the broker now that the answer is there. */
  readonly isLinked: boolean;
}

/** No row waits longer for its next attempt. */
const LONGEST_RETRY_DELAY_MS = 300_000;

/** Delays of rows that are given back are rounded up to it, so that they go back together. */
const DELAY_STEP_MS = 1_000;

/** How long a row waits after so many failures: the poll interval, doubled with each further one, five minutes at most. */
export function retryDelayAfter(failures: number, pollIntervalMs: number): number {
  return Math.min(pollIntervalMs * 2 ** (failures - 1), LONGEST_RETRY_DELAY_MS);
}

/**
 * Only the broker's own refusal of the message spends an attempt. A message without an answer from a broker that is there may be one
 * of many into a queue that answers nobody: it rests for as long as its answer was waited for, so that others have their turn.
 */
export function fateOf({ attempts }: Pick<ClaimedFacts, "attempts">, answer: OnBehalfAnswer, facts: FateFacts): Fate {
  const failures = attempts + 1;
  switch (answer.status) {
    case "routed":
      return { is: "published" };
    case "not_routed": {
      const retryDelayMs = retryDelayAfter(failures, facts.pollIntervalMs);
      return { is: "failed", reason: `${answer.because}: ${answer.reason}`, attempts: failures, retryDelayMs };
    }
    case "paused":
      return givenBack(answer.reason);
    case "unknown":
      return givenBack(answer.reason, facts.isLinked ? facts.tookMs : 0);
  }
}

/** A row that cannot be made a message is retired: no attempt would ever send it. */
export function fateOfUnreadable(unreadable: Error, maxAttempts: number): Fate {
  return { is: "failed", reason: `unreadable: ${unreadable.message}`, attempts: maxAttempts, retryDelayMs: 0 };
}

/** The row was not handed to the broker, or nobody knows. */
export function givenBack(reason: string, delayMs = 0): Fate {
  return { is: "given_back", reason, delayMs: Math.ceil(delayMs / DELAY_STEP_MS) * DELAY_STEP_MS };
}

/** Whether the answer names no message: each of those that were in flight learns its own when it is published alone. */
export function mustGoAlone(answer: OnBehalfAnswer): boolean {
  return answer.status === "unknown" && answer.oneRefused === true;
}
