/**
 * What places orders into the flow, whatever wrote them.
 *
 * @module
 */
import type { Payments } from "./payments.ts";

/** What a source works with. */
export interface Placing {
  /** Counts messages that have entered. */
  readonly count: (messages: number) => void;
  /** Counts second copies of messages that have entered. */
  readonly feed: (copies: number) => void;
  readonly payments: Payments;
  readonly signal: AbortSignal;
}

/** Something that places orders. */
export interface Source {
  /** Places them all, and says in words what it placed. */
  place(placing: Placing): Promise<string>;
}
