/**
 * What a store answers, looked at: one of an application's own may answer what no consumer knows, and that is neither a claim nor none.
 *
 * @module
 */

import { StoreError } from "../../errors.ts";
import { describeKind } from "../../internal/option_kinds.ts";
import type { ClaimAnswer, ClaimFate, RenewAnswer } from "../../ports/idempotency_store.ts";

/** The answer to a claim. Throws a `StoreError` for what is none. */
export function readClaimAnswer(answer: unknown): ClaimAnswer {
  const { status, token } = membersOf(answer);
  if (status === "already_confirmed" || status === "in_progress") return { status };
  // The store's own object: it has the members it must have.
  if (status === "claimed" && typeof token === "string") return answer as ClaimAnswer;
  throw unreadable("tryClaim", answer, "'status' claimed with a 'token' of text, already_confirmed or in_progress");
}

/** The answer to a renewal. Throws a `StoreError` for what is none. */
export function readRenewAnswer(answer: unknown): RenewAnswer {
  const { status, token } = membersOf(answer);
  if (status === "lost") return { status };
  if (status === "held" && typeof token === "string") return { status, token };
  throw unreadable("renew", answer, "'status' held with a 'token' of text, or lost");
}

/** What became of a claim; a `StoreError` says that nobody knows. It is no reason to ask again: the same would be answered. */
export function readClaimFate(of: "confirm" | "release", answer: unknown): ClaimFate | StoreError {
  return answer === "held" || answer === "lost" ? answer : unreadable(of, answer, "held or lost");
}

/** Of a store of two answers. Throws a `StoreError` for what is neither. */
export function readYesOrNo(of: "claim" | "isConfirmed", answer: unknown): boolean {
  if (typeof answer === "boolean") return answer;
  throw unreadable(of, answer, "true or false");
}

function membersOf(answer: unknown): { readonly status?: unknown; readonly token?: unknown } {
  return typeof answer === "object" && answer !== null ? answer : {};
}

function unreadable(of: string, answer: unknown, wanted: string): StoreError {
  const { status } = membersOf(answer);
  const found = typeof status === "string" ? `'status' "${status.slice(0, 40)}"` : foundOf(answer);
  return new StoreError(
    `Cannot go by what the idempotency store answered '${of}': it must be ${wanted}, found ${found}`,
  );
}

function foundOf(answer: unknown): string {
  return typeof answer === "string" ? `"${answer.slice(0, 40)}"` : describeKind(answer);
}
