/**
 * An outbox table as a store uses it, whatever its layout.
 *
 * @module
 */

import type { OnRetired, OutboxFailure, OutboxMode } from "../../src/ports/outbox_store.ts";
import type { SqlResult, SqlRow } from "../../src/ports/sql_session.ts";
import type { SqlDialect } from "./dialect.ts";
import type { Fragment, Statement } from "./fragment.ts";
import type { Instants, Moment } from "./instants.ts";
import type { OutboxFormat } from "./outbox_format.ts";
import type { OutboxColumns, OutboxLayoutName } from "./outbox_layout.ts";
import type { InsertFacts } from "./outbox_insert.ts";

/** What statements run on. */
export interface OutboxWork {
  /** Runs one; `what` says in words what was to be done. */
  run(what: string, fragment: Fragment<Moment>): Promise<SqlResult>;
  /** Runs one that is written already. */
  write(what: string, statement: Statement<InsertFacts>, facts: Omit<InsertFacts, "nowMs">): Promise<SqlResult>;
  /** Runs several in one transaction. */
  together<T>(work: (inner: OutboxWork) => Promise<T>): Promise<T>;
}

/** What is to be claimed. */
export interface ClaimRequest {
  readonly limit: number;
  readonly leaseMs: number;
  /** Less than a millisecond, of every claim another one: for a layout whose token is the end of the lease. */
  readonly extraMs: number;
  readonly maxAttempts: number;
  readonly mode: OutboxMode;
  readonly onRetired: OnRetired;
  /** A new one; a layout without a column for it takes the time instead. */
  readonly token: string;
}

/** Rows under a lease, in the order they leave. */
export interface ClaimedRows {
  readonly token: string;
  readonly rows: readonly SqlRow[];
}

/** What the statements of a table are made for. */
export interface OutboxTarget {
  readonly layout: OutboxLayoutName;
  /** As it was given. */
  readonly name: string;
  readonly table: Fragment;
  readonly columns: OutboxColumns;
  readonly format: OutboxFormat;
  readonly dialect: SqlDialect;
  /** Of the table. */
  readonly instants: Instants;
  /** Why there is no order by key; undefined where there is one. */
  readonly unordered: string | undefined;
}

/** A table. Marks change the rows that are the token's, and say how many those were. */
export interface OutboxTable {
  readonly layout: OutboxLayoutName;
  readonly format: OutboxFormat;
  /** The name of the exchange's column. */
  readonly exchange: string;
  /** Characters of an id. */
  readonly longestId: number;
  /** Why the mode `in_order`, and an ordering key, cannot be had; undefined where they can. */
  readonly unordered: string | undefined;
  /** Rejects when something beside the table is missing that claims need. */
  checkClaims(work: OutboxWork): Promise<void>;
  /** Writes so many rows, those that are there already left out; `from` rows of the same call were written before. */
  insert(count: number, from: number): Fragment<InsertFacts>;
  claim(work: OutboxWork, request: ClaimRequest): Promise<ClaimedRows>;
  markPublished(work: OutboxWork, token: string, ids: readonly string[]): Promise<number>;
  markFailed(work: OutboxWork, token: string, failures: readonly OutboxFailure[]): Promise<number>;
  giveBack(work: OutboxWork, token: string, rows: GivenBack): Promise<number>;
  /** Gives the `id` of the retired rows, oldest first. */
  retiredIds(maxAttempts: number): Fragment<Moment>;
  /** Gives rows by their ids, those that are retired. */
  retiredRows(ids: readonly string[], maxAttempts: number): Fragment<Moment>;
  release(work: OutboxWork, id: string, maxAttempts: number): Promise<number>;
  /** Gives `pending`, `retired` and `oldest_ms`. */
  stats(maxAttempts: number): Fragment<Moment>;
  /** Removes published rows; undefined where they are removed when they are published. */
  purge(olderThanMs: number, limit: number): Fragment<Moment> | undefined;
}

/** Rows that are given back, and how long they wait. */
export interface GivenBack {
  readonly ids: readonly string[];
  readonly delayMs: number;
}
