/**
 * Outbox tables with a lease in the row: ours, Ruby's, Java's and .NET's (contract patterns 5.5).
 *
 * @module
 */

import type { OutboxFailure } from "../../src/ports/outbox_store.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import type { Moment } from "./instants.ts";
import { claimRows } from "./outbox_claim.ts";
import type { OutboxFormat } from "./outbox_format.ts";
import { type InsertFacts, insertRows } from "./outbox_insert.ts";
import type { OutboxLayoutName } from "./outbox_layout.ts";
import { type LeasePieces, leasePieces, type LeaseTarget } from "./outbox_lease.ts";
import { failureList, statsOf } from "./outbox_statements.ts";
import type { ClaimedRows, ClaimRequest, GivenBack, OutboxTable, OutboxWork } from "./outbox_table.ts";

/** See the module. */
export class LeaseTable implements OutboxTable {
  readonly layout: OutboxLayoutName;
  readonly format: OutboxFormat;
  readonly exchange: string;
  readonly longestId: number;
  readonly unordered: string | undefined;
  readonly #target: LeaseTarget;
  readonly #pieces: LeasePieces;

  constructor(target: LeaseTarget) {
    const { layout, format, columns, unordered } = target;
    this.layout = layout;
    this.format = format;
    this.exchange = columns.exchange;
    this.longestId = columns.longestId;
    this.unordered = unordered;
    this.#target = target;
    this.#pieces = leasePieces(target);
  }

  async checkClaims(): Promise<void> {}

  insert(count: number, from: number): Fragment<InsertFacts> {
    return insertRows({ ...this.#target, created: this.#target.instants }, count, from);
  }

  async claim(work: OutboxWork, request: ClaimRequest): Promise<ClaimedRows> {
    return await claimRows({ target: this.#target, pieces: this.#pieces, request }, work);
  }

  async markPublished(work: OutboxWork, token: string, ids: readonly string[]): Promise<number> {
    const { table, columns, instants } = this.#target;
    const published = columns.published === "published" ? raw("published = 1") : sql`published_at = ${instants.at(0)}`;
    const mark = sql`UPDATE ${table} SET ${published}, ${this.#pieces.free()} WHERE ${this.#mine(token, ids)}`;
    return (await work.run("mark rows published", mark)).changes;
  }

  async markFailed(work: OutboxWork, token: string, failures: readonly OutboxFailure[]): Promise<number> {
    const { table, dialect, instants } = this.#target;
    const { free } = this.#pieces;
    const kinds = { failed_id: "text", failures: "number", reason: "text", delay_ms: "number" } as const;
    const waits = sql`CASE WHEN delay_ms > 0 THEN ${instants.after("delay_ms")} END`;
    const mark = sql`UPDATE ${table} SET attempts = failures, last_error = reason, ${free(waits)}
      FROM ${dialect.rowsOf(failureList(failures), kinds)} WHERE id = failed_id AND ${
      this.#mine(token, failures.map(({ id }) => id))
    }`;
    return (await work.run("mark rows failed", mark)).changes;
  }

  async giveBack(work: OutboxWork, token: string, { ids, delayMs }: GivenBack): Promise<number> {
    const { table, instants } = this.#target;
    const { free } = this.#pieces;
    const back = delayMs > 0 ? free(instants.at(delayMs)) : free();
    const mark = sql`UPDATE ${table} SET ${back} WHERE ${this.#mine(token, ids)}`;
    return (await work.run("give rows back", mark)).changes;
  }

  retiredIds(maxAttempts: number): Fragment<Moment> {
    const { order } = this.#pieces;
    return sql`SELECT id FROM ${this.#target.table} WHERE ${this.#retired(maxAttempts)} ORDER BY ${order}`;
  }

  retiredRows(ids: readonly string[], maxAttempts: number): Fragment<Moment> {
    const { table, columns, instants, hasKeys } = this.#target;
    return sql`SELECT id, ${raw(columns.exchange)}, routing_key, attempts, last_error,
      ${raw(hasKeys ? "ordering_key" : "NULL AS ordering_key")}, ${instants.epochMs("created_at")} AS created_ms
      FROM ${table} WHERE ${this.#listed(ids)} AND ${this.#pieces.isPending} AND attempts >= ${maxAttempts}`;
  }

  async release(work: OutboxWork, id: string, maxAttempts: number): Promise<number> {
    const { free, isPending } = this.#pieces;
    const which = sql`id = ${id} AND ${isPending} AND attempts >= ${maxAttempts}`;
    const release = sql`UPDATE ${this.#target.table} SET attempts = 0, ${free()} WHERE ${which}`;
    return (await work.run("release a row", release)).changes;
  }

  stats(maxAttempts: number): Fragment<Moment> {
    return sql`${statsOf(this.#target, maxAttempts)} WHERE ${this.#pieces.pending}`;
  }

  purge(olderThanMs: number, limit: number): Fragment<Moment> {
    const { table, columns, dialect, instants } = this.#target;
    // .NET does not say when a row was published.
    const isFlagged = columns.published === "published";
    const since = isFlagged ? "created_at" : "published_at";
    const isPublished = raw(isFlagged ? "published = 1 AND " : "");
    // In order, so that the index is used where hardly any row is old enough.
    const old = sql`SELECT id FROM ${table} WHERE ${isPublished}${instants.isBefore(since, -olderThanMs)}
      ORDER BY ${raw(since)} LIMIT ${limit}${raw(dialect.skipLocked)}`;
    return sql`DELETE FROM ${table} WHERE ${dialect.isAmong(raw("id"), old)}`;
  }

  #mine(token: string, ids: readonly string[]): Fragment<Moment> {
    const { isPending, isMine } = this.#pieces;
    return sql`${this.#listed(ids)} AND ${isPending} AND ${isMine(token)}`;
  }

  #retired(maxAttempts: number): Fragment<Moment> {
    return sql`${this.#pieces.pending} AND attempts >= ${maxAttempts}`;
  }

  #listed(ids: readonly string[]): Fragment<Moment> {
    return this.#target.dialect.isListed(raw("id"), JSON.stringify(ids));
  }
}
