/**
 * Port: messages that wait in a database to be published (contract patterns 5).
 *
 * A row is written in the caller's own transaction, so that it is there when the work is and not otherwise. A relay claims rows under
 * a lease, publishes them and marks them; every mark names the claim's token, so that a relay whose lease has ended changes nothing.
 *
 * @module
 */

import type { Outbound } from "../message/outbound.ts";
import type { StoreCallOptions } from "./idempotency_store.ts";

/** In what order rows leave. */
export type OutboxMode =
  /** Oldest first; a row that fails holds nobody back. */
  | "continue"
  /** The rows of one ordering key leave in the order they were written; a row that fails holds back those of its key alone. */
  | "in_order";

/** What becomes of the later rows of a key when one was retired. */
export type OnRetired =
  /** They leave. */
  | "release"
  /** They wait until somebody has released or removed the retired one. */
  | "hold";

/** How a message is added. */
export interface OutboxAddOptions {
  /** Rows of one key leave in the order they were written, where the relay's mode is `in_order`. Rows without a key share one. */
  readonly orderingKey?: string | undefined;
  /**
   * Adds outside a transaction, on purpose: the message is announced whatever becomes of the work.
   *
   * @default {false: such a call is refused}
   */
  readonly outsideTransaction?: boolean;
}

/** What a relay asks for. */
export interface OutboxClaimOptions extends StoreCallOptions {
  /** Rows at most. */
  readonly limit: number;
  /** How long the rows are the caller's. Milliseconds. */
  readonly leaseMs: number;
  /** In what order rows leave. */
  readonly mode: OutboxMode;
  /** Of the mode `in_order`. */
  readonly onRetired: OnRetired;
}

/** A row in a relay's hands. */
export type ClaimedRow = ReadableRow | UnreadableRow;

/** What is known of every row. */
export interface ClaimedFacts {
  /** The row's id, which is the message's. */
  readonly id: string;
  /** Undefined for a row without one. */
  readonly orderingKey: string | undefined;
  /** Failures so far. */
  readonly attempts: number;
  /** How long it has waited, by the clock that leases run by. Milliseconds. */
  readonly ageMs: number;
}

/** A row and the message it holds. */
export interface ReadableRow extends ClaimedFacts {
  /** As it was added: nothing encodes it again. */
  readonly outbound: Outbound;
}

/** A row that cannot be made a message. A relay retires it: no attempt would ever send it. */
export interface UnreadableRow extends ClaimedFacts {
  /** Where it was to go. */
  readonly exchange: string;
  /** Where it was to go. */
  readonly routingKey: string;
  /** Why not. */
  readonly unreadable: Error;
}

/** A batch under one lease. */
export interface OutboxClaim {
  /** Marks name it. */
  readonly token: string;
  /** In the order they leave. */
  readonly rows: readonly ClaimedRow[];
}

/** What became of a row the broker did not take. */
export interface OutboxFailure {
  /** The row. */
  readonly id: string;
  /** Kept with the row: a thousand characters of it. */
  readonly reason: string;
  /** The row is not handed out for so long. Milliseconds. */
  readonly retryDelayMs: number;
  /** The failures there are with this one; as many as the store allows at most retire the row. */
  readonly attempts: number;
}

/** How rows are given back. */
export interface OutboxGiveBackOptions extends StoreCallOptions {
  /** The rows are not handed out for so long. Milliseconds. @default {0} */
  readonly delayMs?: number;
}

/** A row that failed too often. */
export interface RetiredRecord {
  /** Of the row and of the message. */
  readonly id: string;
  /** Where it was to go. */
  readonly exchange: string;
  /** Where it was to go. */
  readonly routingKey: string;
  /** Undefined for a row without one. */
  readonly orderingKey: string | undefined;
  /** How often it was tried. */
  readonly attempts: number;
  /** Why it failed last; undefined where the table keeps no reason. */
  readonly lastError: string | undefined;
  /** When it was added. */
  readonly createdAt: Date;
}

/** How an outbox stands. */
export interface OutboxStats {
  /** Rows that are not published, those in a relay's hands and the retired ones included. */
  readonly pending: number;
  /** How long the oldest row that is neither published nor retired has waited; undefined when there is none. Milliseconds. */
  readonly oldestAgeMs: number | undefined;
  /** Rows that failed too often. */
  readonly retired: number;
}

/** Which published rows a purge removes. */
export interface OutboxPurgeOptions extends StoreCallOptions {
  /** Published so long ago, or longer. Milliseconds. */
  readonly olderThanMs: number;
  /** Rows removed by one statement. @default {1_000} */
  readonly batchSize?: number;
}

/** Hears of rows that were added through this store, which may not be committed yet. */
export type OutboxListener = (ids: readonly string[]) => void;

/**
 * Keeps the rows. `Tx` is what the driver calls a transaction. Every method rejects with a `StoreError` while the database is away.
 */
export interface OutboxStore<Tx = unknown> {
  /** A row that has failed as often is retired: it is listed, and not handed out. At least 1; the contract's is 10. */
  readonly maxAttempts: number;
  /** Checks that the table is there, of a layout the store knows, and able to do what the mode needs. */
  check(options?: StoreCallOptions & { readonly mode?: OutboxMode }): Promise<void>;
  /**
   * Writes a message in the caller's transaction. A message whose id is there already is the same message: nothing is written.
   *
   * Rejects with a `TypeError` outside a transaction, and with a `PublishError` (`ACEMQ_PUBLISH_REFUSED`) for a message without an id,
   * and for one that says what a row has no place for: a priority, an expiration, a reply address, that it is not persistent or not
   * mandatory. Nothing is written then.
   */
  add(tx: Tx, outbound: Outbound | PromiseLike<Outbound>, options?: OutboxAddOptions): Promise<void>;
  /** Writes many, in one statement where the database can. They leave in this order. */
  addAll(tx: Tx, outbounds: Iterable<Outbound | PromiseLike<Outbound>>, options?: OutboxAddOptions): Promise<void>;
  /**
   * Takes rows under a lease. Of fewer than `limit` it does not follow that there are no more; only of none at all does it.
   *
   * In order, only what comes before the first row of a key that is in somebody's hands, or waits to be tried again, is handed out; with
   * `onRetired: "hold"`, or that is retired. Once given back, rows of a key in somebody's hands hold back those behind them.
   */
  claim(options: OutboxClaimOptions): Promise<OutboxClaim>;
  /** Marks rows published that are still the token's; says how many that were. */
  markPublished(token: string, ids: readonly string[], options?: StoreCallOptions): Promise<number>;
  /** Counts a failure of each row that is still the token's, and gives it back; says how many that were. */
  markFailed(token: string, failures: readonly OutboxFailure[], options?: StoreCallOptions): Promise<number>;
  /** Gives rows back that are still the token's, as if they had not been taken; says how many that were. */
  giveBack(token: string, ids: readonly string[], options?: OutboxGiveBackOptions): Promise<number>;
  /** The retired rows, oldest first, read in pages. */
  retired(options?: StoreCallOptions): AsyncIterable<RetiredRecord>;
  /** Has a retired row tried again, from the beginning; says whether there was one. */
  release(id: string, options?: StoreCallOptions): Promise<boolean>;
  /** How the outbox stands. */
  stats(options?: StoreCallOptions): Promise<OutboxStats>;
  /** Removes rows that were published, batch by batch, and says how many. */
  purgePublished(options: OutboxPurgeOptions): Promise<number>;
  /** Hears of what is added through this store, until the function that is returned is called. */
  onAdded(listener: OutboxListener): () => void;
  /**
   * Hears of what other processes add, where the database can tell, until the function that is given is called; resolves once it is
   * known whether news arrive, which `hears` says. A connection that is lost is the store's to open again. Rejects when the signal
   * aborts first.
   */
  listen?(hooks: OutboxNewsHooks, options?: StoreCallOptions): Promise<() => Promise<void>>;
}

/**
 * What a relay needs of a store; every other method may be missing. What it then does without: a failure is not counted, and the row
 * comes back when its lease ends; what is not published waits for that too; nothing is said of pending rows; what was added is found by
 * polling.
 */
export type RelayStore =
  & Pick<OutboxStore, "claim" | "markPublished">
  & Partial<
    Pick<
      OutboxStore,
      "maxAttempts" | "check" | "markFailed" | "giveBack" | "stats" | "purgePublished" | "onAdded" | "listen"
    >
  >;

/** See {@linkcode OutboxStore.listen}. */
export interface OutboxNewsHooks {
  /** Somebody has added something, or may have while nobody heard it. */
  readonly added: () => void;
  /** Whether news arrive; they do not where something in front of the database keeps them to itself. Called with every change. */
  readonly hears: (state: { readonly hearing: boolean; readonly reason?: string }) => void;
}
