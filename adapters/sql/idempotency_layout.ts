/**
 * A table of claims: the statements of one layout (contract patterns 4.5).
 *
 * @module
 */

import type { ClockLead } from "./clock_watch.ts";
import { compile, type Fragment, type Statement } from "./fragment.ts";
import type { Moment } from "./instants.ts";

/** Which layout a table has, by the language whose library made it. Java's and Ruby's are one on PostgreSQL. */
export type IdempotencyLayoutName = "java" | "ruby" | "python" | "go" | "dotnet";

/** All of them. */
export const IDEMPOTENCY_LAYOUTS: readonly IdempotencyLayoutName[] = ["java", "ruby", "python", "go", "dotnet"];

/** What a statement about one message is run with. */
export interface ClaimFacts extends Moment, ClockLead {
  readonly id: string;
  /** Of the claim that is made, or that is looked for. A layout without a column for it takes the time instead. */
  readonly token: string;
  /** The token a renewal gives, where that is known before it is asked for. */
  readonly next?: string;
}

/** What a purge is run with. */
export interface PurgeFacts extends Moment, ClockLead {
  /** Rows removed at most. */
  readonly limit: number;
}

/**
 * The statements of a layout. Those about a message name its row by the id, and change it only on the condition they are called by, so
 * that of many at once one succeeds. Where the time is the token, a statement that makes or renews a claim returns a row with `token`.
 */
export interface IdempotencyLayout {
  readonly name: IdempotencyLayoutName;
  /** Makes a claim where there is no row. */
  readonly insertClaim: Fragment<ClaimFacts>;
  /** Makes a row that has expired a claim. */
  readonly takeOver: Fragment<ClaimFacts>;
  /** Makes a confirmation where there is no row. */
  readonly insertConfirmed: Fragment<ClaimFacts>;
  /** Makes a row that has expired a confirmation. */
  readonly takeOverConfirmed: Fragment<ClaimFacts>;
  /** Gives `confirmed` and `expired` of a row. */
  readonly look: Fragment<ClaimFacts>;
  /** Confirms the claim that has the token. */
  readonly confirm: Fragment<ClaimFacts>;
  /** Removes the claim that has the token. */
  readonly release: Fragment<ClaimFacts>;
  /**
   * Gives the `token` of the renewal that is about to be asked for: where the database's time is the token, an answer that is lost would
   * otherwise leave the holder without it.
   */
  readonly clock?: Fragment;
  /** Begins the lease of the claim that has the token anew. */
  readonly renew: Fragment<ClaimFacts>;
  /** Removes so many rows that have expired. */
  readonly purge: Fragment<PurgeFacts>;
}

/** The statements of a layout as a database takes them, each written once. */
export type IdempotencyStatements =
  & {
    readonly [Name in Exclude<keyof IdempotencyLayout, "name" | "clock">]: IdempotencyLayout[Name] extends
      Fragment<infer Facts> ? Statement<Facts> : never;
  }
  & { readonly clock?: Statement };

/** Writes the statements of a layout for a database. */
export function writeStatements(
  layout: IdempotencyLayout,
  placeholder: (number: number) => string,
): IdempotencyStatements {
  const write = <Facts>(fragment: Fragment<Facts>): Statement<Facts> => compile(fragment, placeholder);
  return {
    insertClaim: write(layout.insertClaim),
    takeOver: write(layout.takeOver),
    insertConfirmed: write(layout.insertConfirmed),
    takeOverConfirmed: write(layout.takeOverConfirmed),
    look: write(layout.look),
    confirm: write(layout.confirm),
    release: write(layout.release),
    ...(layout.clock === undefined ? {} : { clock: write(layout.clock) }),
    renew: write(layout.renew),
    purge: write(layout.purge),
  };
}

/** How long claims and confirmations last. */
export interface IdempotencyTimes {
  readonly claimTimeoutMs: number;
  readonly retentionMs: number;
}
