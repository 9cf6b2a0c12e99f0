/**
 * Port: who handles a message, and what has been handled (contract patterns 4).
 *
 * A claim is a lease: it ends by itself, so that a process that was killed does not keep a message from being handled. Every claim
 * has a token of its own, and only who holds the token can confirm, renew or release it.
 *
 * @module
 */

/** What a claim was answered. */
export type ClaimAnswer =
  /** The caller handles the message. `takenOver`: somebody else's lease had run out. */
  | { readonly status: "claimed"; readonly token: string; readonly takenOver: boolean }
  /** It was handled, and the retention has not ended: a duplicate. */
  | { readonly status: "already_confirmed" }
  /** Somebody's lease runs: neither handled nor free. */
  | { readonly status: "in_progress" };

/** What became of a claim. `lost`: the lease ran out and somebody else took over, or released it. */
export type ClaimFate = "held" | "lost";

/** What became of a renewal. The token may be another one from then on. */
export type RenewAnswer = { readonly status: "held"; readonly token: string } | { readonly status: "lost" };

/** A claim in a handler's hands. */
export interface HeldClaim {
  /** What was claimed: the message's id, or the key the consumer made of it. */
  readonly id: string;
  /** The claim's token as of now. */
  readonly token: string;
  /** Where it was claimed. */
  readonly store?: unknown;
  /**
   * Whether a transaction of the handler's has confirmed it, and its lease has run since: nobody else can have confirmed it then.
   * Whether that transaction has committed, nobody knows but the store.
   */
  readonly isConfirmedWithin?: boolean;
  /** Called by a store that has just confirmed it in a transaction of the handler's, before that ends. */
  confirmedWithin?(): void;
}

/** The part of a message a store looks at: a `Message`, or anything with an id. */
export interface ClaimedMessage {
  /** Of it, the id is looked at. */
  readonly envelope: { readonly id: string };
  /** Undefined for a message that was consumed without a store. */
  readonly claim?: HeldClaim | undefined;
}

/** What confirming inside a transaction found. */
export type OnceWithin = "confirmed" | "already_confirmed";

/** Ends a wait for a store. */
export interface StoreCallOptions {
  /** Its reason is what the call rejects with. */
  readonly signal?: AbortSignal | undefined;
}

/** How much a purge may remove. */
export interface PurgeOptions extends StoreCallOptions {
  /** Rows removed by one statement. @default {1_000} */
  readonly batchSize?: number;
}

/**
 * Keeps the claims. Every method rejects with a `StoreError` while the database is away, and never answers instead: a claim that
 * cannot be made is neither a duplicate nor free.
 */
export interface IdempotencyStore {
  /** How long a claim lasts unless it is confirmed, released or renewed. Milliseconds. */
  readonly claimTimeoutMs: number;
  /** How long a confirmation is remembered. Milliseconds. */
  readonly retentionMs: number;
  /** How long a consumer waits before it puts back what somebody else has claimed. Milliseconds. */
  readonly inProgressDelayMs: number;
  /** How often a consumer with this store removes what has expired; undefined: it is done elsewhere. Milliseconds. */
  readonly purgeIntervalMs?: number | undefined;
  /**
   * Checks that the store can be used as it is: its table is there and of a layout it knows. Called once by each consumer, before
   * it subscribes.
   */
  check(options?: StoreCallOptions): Promise<void>;
  /**
   * Claims a message for the caller, or says why not. Of any number of callers at once, one is told `claimed`. Rejects with a
   * `FatalError` for an id that cannot be kept: empty, or longer than the store holds.
   */
  tryClaim(id: string, options?: StoreCallOptions): Promise<ClaimAnswer>;
  /** Makes a claim a confirmation. A message that is confirmed already is `held`, whoever confirmed it. */
  confirm(id: string, token: string, options?: StoreCallOptions): Promise<ClaimFate>;
  /** Gives a claim back: the message is free again. A confirmation stays. */
  release(id: string, token: string, options?: StoreCallOptions): Promise<ClaimFate>;
  /** Begins the lease anew. */
  renew(id: string, token: string, options?: StoreCallOptions): Promise<RenewAnswer>;
  /** Whether the message is confirmed and remembered. */
  isConfirmed(id: string, options?: StoreCallOptions): Promise<boolean>;
  /** Removes what has expired, batch by batch, and says how many rows that were. */
  purgeExpired(options?: PurgeOptions): Promise<number>;
  /** Rows there are, for the gauge. */
  count(options?: StoreCallOptions): Promise<number>;
  /**
   * Looks at the clock that leases run by, where that one can be set. Called every second while a consumer uses the store, so that no
   * setting goes unseen because nothing is asked meanwhile.
   */
  observeClock?(): void;
}

/**
 * A store with two answers, as applications wrote them for other AceMQ libraries. A consumer takes it as it is: what cannot be claimed
 * and is not confirmed is in progress.
 */
export interface TwoAnswerStore {
  /** True when the caller handles the message. */
  claim(id: string): boolean | Promise<boolean>;
  /** Whether it was handled. */
  isConfirmed(id: string): boolean | Promise<boolean>;
  /** Remembers that it was handled. */
  confirm(id: string): void | Promise<void>;
  /** Forgets a claim. */
  release(id: string): void | Promise<void>;
}
