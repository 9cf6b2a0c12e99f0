/**
 * What places orders into the flow, whatever wrote them.
 *
 * @module
 */
import type { Account } from "./account.ts";

/** What a source works with. */
export interface Placing {
  readonly account: Account;
  /** Whether a run that was killed has placed it. */
  readonly isPlaced: (name: string) => boolean;
  /** Counts messages that have entered; `name` is what a single one was placed as. */
  readonly count: (messages: number, name?: string) => void;
  /** Counts second copies of messages that have entered. */
  readonly feed: (copies: number) => void;
  readonly signal: AbortSignal;
}

/** Something that places orders. */
export interface Source {
  /** How many attempts the payment provider fails before it takes the charge, by id. */
  readonly outages: ReadonlyMap<string, number>;
  /** Places them all, and says in words what it placed. */
  place(placing: Placing): Promise<string>;
}
