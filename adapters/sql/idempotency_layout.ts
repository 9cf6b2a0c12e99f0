/**
 * A table of claims: the statements of one layout (contract patterns 4.5).
 *
 * @module
 */

import type { Fragment } from "./fragment.ts";

/** Which layout a table has, by the language whose library made it. Java's and Ruby's are one on PostgreSQL. */
export type IdempotencyLayoutName = "java" | "ruby" | "python" | "go" | "dotnet";

/** What statements of a claim need to know. */
export interface ClaimFacts {
  readonly id: string;
  /** A new token; a layout without a column for it takes the time instead. */
  readonly token: string;
  readonly nowMs: number;
}

/**
 * The statements of a layout. Those that make or renew a claim return a row with `token`. All name the row by its id, and change it
 * only on the condition they are called by, so that of many at once one succeeds.
 */
export interface IdempotencyLayout {
  readonly name: IdempotencyLayoutName;
  /** Makes a claim where there is no row. */
  insertClaim(facts: ClaimFacts): Fragment;
  /** Makes a row that has expired a claim. */
  takeOver(facts: ClaimFacts): Fragment;
  /** Makes a confirmation where there is no row. */
  insertConfirmed(facts: Omit<ClaimFacts, "token">): Fragment;
  /** Makes a row that has expired a confirmation. */
  takeOverConfirmed(facts: Omit<ClaimFacts, "token">): Fragment;
  /** Gives `confirmed` and `expired` of a row. */
  look(id: string, nowMs: number): Fragment;
  /** Confirms the claim that has the token. */
  confirm(facts: ClaimFacts): Fragment;
  /** Removes the claim that has the token. */
  release(facts: Pick<ClaimFacts, "id" | "token">): Fragment;
  /** Begins the lease of the claim that has the token anew. */
  renew(facts: ClaimFacts): Fragment;
  /** Removes so many rows that have expired. */
  purge(limit: number, nowMs: number): Fragment;
}

/** How long claims and confirmations last. */
export interface IdempotencyTimes {
  readonly claimTimeoutMs: number;
  readonly retentionMs: number;
}
