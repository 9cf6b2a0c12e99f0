/**
 * What becomes of a delivery: a pure decision from what happened and what the policy allows (contract core 3.3 to 3.6, 3.11, 4.2).
 *
 * @module
 */

import type { Random } from "../clock.ts";
import { describeError, isFatal } from "../errors.ts";
import { describeKind } from "../internal/option_kinds.ts";
import { decideRetry, type Ladder } from "../retry/ladder.ts";
import type { ConsumeOutcome } from "../telemetry/outcomes.ts";
import { isAck } from "./ack.ts";

/** What happened to a delivery. */
export type Handled =
  | { readonly status: "returned"; readonly value: unknown }
  | { readonly status: "threw"; readonly error: unknown; readonly by: "handler" | "interceptor" | "codec" | "store" }
  | { readonly status: "undecodable"; readonly error: unknown }
  /** It was handled before. */
  | { readonly status: "duplicate" }
  /** Somebody else has claimed it. */
  | { readonly status: "in_progress"; readonly delayMs: number };

/** What is done with a delivery, and the word for it. */
export type Settlement =
  | { readonly next: "acknowledge"; readonly outcome: "acked" }
  | PutBack
  | TryAgain
  | SetAside;

/** A delivery that goes back to its own queue as it is, after a wait: no attempt is spent (contract core 3.7). */
export interface PutBack {
  readonly next: "put_back";
  readonly outcome: "in_progress";
  readonly delayMs: number;
}

/** A delivery that is tried again after a wait. */
export interface TryAgain {
  readonly next: "wait_in_consumer" | "wait_on_rung";
  readonly outcome: "retried";
  readonly delayMs: number;
  /** The wait the handler asked for, where no rung holds exactly that. */
  readonly wantedRungMs?: number;
  /** What failed, in its own words. */
  readonly reason: string;
}

/** A delivery that leaves its queue for good. */
export interface SetAside {
  readonly next: "set_aside";
  readonly target: "dlq" | "parked";
  readonly reason: string;
  readonly outcome: Extract<ConsumeOutcome, "rejected" | "dead_lettered" | "parked">;
}

/** The facts a decision needs. */
export interface DeliveryFacts {
  readonly attempt: number;
  readonly ageMs: number;
  /** Whether it was read from a stream, where a copy would be another entry for every reader (contract core 3.11). */
  readonly isFromStream: boolean;
}

/** What a decision is made by. */
export interface SettlementRules {
  readonly ladder: Ladder;
  readonly random: Random;
}

/**
 * Decides what becomes of a delivery. Pure, but for the jitter it draws.
 *
 * What somebody else's error does when it is looked at (a getter that throws, a proxy that is gone) must not cost the message: it
 * then counts as an error without words.
 */
export function decideSettlement(handled: Handled, facts: DeliveryFacts, rules: SettlementRules): Settlement {
  try {
    return decide(handled, facts, rules);
  } catch {
    return decide(withoutWords(handled), facts, rules);
  }
}

function withoutWords(handled: Handled): Handled {
  const error = "an error that cannot be read";
  if (handled.status === "undecodable") return { status: "undecodable", error };
  return { status: "threw", error, by: handled.status === "threw" ? handled.by : "handler" };
}

function decide(handled: Handled, facts: DeliveryFacts, rules: SettlementRules): Settlement {
  switch (handled.status) {
    case "undecodable":
      return setAside("parked", "parked", "could not be decoded", describeError(handled.error));
    case "threw":
      if (handled.by !== "codec" && isFatal(handled.error)) return fatal(handled.by, handled.error, "rejected");
      return tryAgain({ error: handled.error }, facts, rules);
    case "duplicate":
      return ACKNOWLEDGE;
    case "in_progress":
      if (facts.isFromStream) {
        return setAside("dlq", "dead_lettered", "a stream's entry is not put back", "somebody else has claimed it");
      }
      return { next: "put_back", outcome: "in_progress", delayMs: handled.delayMs };
    case "returned":
      return decideReturned(handled.value, facts, rules);
  }
}

function decideReturned(value: unknown, facts: DeliveryFacts, rules: SettlementRules): Settlement {
  if (value === undefined) return ACKNOWLEDGE;
  if (!isAck(value)) {
    return setAside("dlq", "dead_lettered", "the handler returned no acknowledgement", describeKind(value));
  }
  switch (value.kind) {
    case "accept":
      return ACKNOWLEDGE;
    case "reject":
      return setAside("dlq", "rejected", "the handler rejected it", value.reason);
    case "park":
      return setAside("parked", "parked", "the handler parked it", value.reason);
    case "retry":
      if (isFatal(value.error)) return fatal("handler", value.error, "dead_lettered");
      return tryAgain(value, facts, rules);
  }
}

const ACKNOWLEDGE: Settlement = Object.freeze({ next: "acknowledge", outcome: "acked" });

function tryAgain(
  asked: { readonly error: unknown; readonly delayMs?: number | undefined },
  facts: DeliveryFacts,
  { ladder, random }: SettlementRules,
): Settlement {
  const reason = wordsFor(asked.error);
  if (facts.isFromStream) return setAside("dlq", "dead_lettered", "a stream's entry is not tried again", reason);
  const decision = decideRetry(ladder, { ...facts, requestedDelayMs: asked.delayMs }, random);
  if (decision.next !== "give_up") return { ...decision, outcome: "retried", reason };
  const { attempt } = facts;
  const why = decision.because === "attempts"
    ? `exhausted ${attempt} ${attempt === 1 ? "attempt" : "attempts"}`
    : `exceeded the maximum message age of ${ladder.policy.maxMessageAgeMs} ms`;
  return setAside("dlq", "dead_lettered", why, reason);
}

const FATAL_WORDS = {
  handler: "the handler reported an unprocessable message",
  interceptor: "an interceptor refused it",
  store: "it cannot be claimed",
} as const;

function fatal(
  by: "handler" | "interceptor" | "store",
  error: unknown,
  outcome: "rejected" | "dead_lettered",
): SetAside {
  const why = FATAL_WORDS[by];
  return setAside("dlq", outcome, why, describeError(error));
}

function setAside(target: SetAside["target"], outcome: SetAside["outcome"], why: string, detail: unknown): SetAside {
  return { next: "set_aside", target, outcome, reason: `${why}: ${wordsFor(detail)}` };
}

function wordsFor(detail: unknown): string {
  return describeError(detail) || "no reason given";
}
