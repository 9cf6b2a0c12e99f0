/**
 * Outbox tables without a place for a lease, from which a row goes when it is published: Python's and Go's (contract patterns 5.1).
 *
 * Leases stand in a table beside them, so that any number of our relays share them; a relay of theirs does not look there.
 *
 * @module
 */

import { LayoutError } from "../../src/errors.ts";
import type { OutboxFailure } from "../../src/ports/outbox_store.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import type { Instants, Moment } from "./instants.ts";
import { claimAlone } from "./outbox_alone.ts";
import type { OutboxFormat } from "./outbox_format.ts";
import { type InsertFacts, insertRows } from "./outbox_insert.ts";
import type { OutboxLayoutName } from "./outbox_layout.ts";
import { leasesOf, outboxLeasesSql } from "./outbox_schema.ts";
import { failureList, statsOf } from "./outbox_statements.ts";
import type { ClaimedRows, ClaimRequest, GivenBack, OutboxTable, OutboxTarget, OutboxWork } from "./outbox_table.ts";

/** A table, and what stands beside it. */
export interface DeleteTarget extends OutboxTarget {
  /** Of the leases. */
  readonly leaseInstants: Instants;
}

/** See the module. */
export class DeleteTable implements OutboxTable {
  readonly layout: OutboxLayoutName;
  readonly format: OutboxFormat;
  readonly exchange: string;
  readonly longestId: number;
  readonly unordered: string | undefined;
  readonly #target: DeleteTarget;
  readonly #leases: Fragment;
  readonly #isFree: Fragment<Moment>;
  #hasLeases = false;

  constructor(target: DeleteTarget) {
    const { layout, format, columns, unordered, name, leaseInstants } = target;
    this.layout = layout;
    this.format = format;
    this.exchange = columns.exchange;
    this.longestId = columns.longestId;
    this.unordered = unordered;
    this.#target = target;
    this.#leases = raw(leasesOf(name));
    this.#isFree = sql`(locked_until IS NULL OR ${leaseInstants.isBefore("locked_until")})`;
  }

  async checkClaims(work: OutboxWork): Promise<void> {
    if (this.#hasLeases) return;
    const { dialect, name, layout } = this.#target;
    const { rows } = await work.run("look at the table", dialect.columnsOf(leasesOf(name)));
    if (rows.length === 0) {
      throw new LayoutError(
        `Cannot claim rows of the table "${name}": the layout '${layout}' has no place for a lease, and the table beside it that has ` +
          `is not there; create it: ${outboxLeasesSql(dialect.name, name)}`,
      );
    }
    this.#hasLeases = true;
  }

  insert(count: number, from: number): Fragment<InsertFacts> {
    return insertRows({ ...this.#target, created: this.#target.instants, hasKeys: false }, count, from);
  }

  async claim(work: OutboxWork, request: ClaimRequest): Promise<ClaimedRows> {
    await this.checkClaims(work);
    const { token } = request;
    return await claimAlone(this.#target, work, async (inner) => {
      const { rows: leases } = await inner.run("claim rows", this.#lease(request));
      if (leases.length === 0) return { token, rows: [] };
      const { rows } = await inner.run("claim rows", this.#leased(token));
      if (rows.length < leases.length) await inner.run("claim rows", this.#withoutRows(sql`locked_by = ${token}`));
      return { token, rows };
    });
  }

  async markPublished(work: OutboxWork, token: string, ids: readonly string[]): Promise<number> {
    const what = "mark rows published";
    return await work.together(async (inner) => {
      const mine = await this.#ended(inner, what, this.#mine(token, ids));
      const gone = sql`DELETE FROM ${this.#target.table} WHERE ${this.#listed(mine)}`;
      return mine.length === 0 ? 0 : (await inner.run(what, gone)).changes;
    });
  }

  async markFailed(work: OutboxWork, token: string, failures: readonly OutboxFailure[]): Promise<number> {
    const { table, dialect, leaseInstants } = this.#target;
    const list = failureList(failures);
    const counted = dialect.rowsOf(list, { failed_id: "text", failures: "number", reason: "text" });
    const delayed = dialect.rowsOf(list, { failed_id: "text", delay_ms: "number" });
    const waits = sql`CASE WHEN delay_ms > 0 THEN ${leaseInstants.after("delay_ms")} END`;
    return await work.together(async (inner) => {
      const freed = sql`UPDATE ${this.#leases} SET locked_by = NULL, locked_until = ${waits} FROM ${delayed}
        WHERE id = failed_id AND locked_by = ${token} RETURNING id`;
      const mine = (await inner.run("mark rows failed", freed)).rows.map((row) => String(row["id"]));
      if (mine.length === 0) return 0;
      const count = sql`UPDATE ${table} SET attempts = failures, last_error = reason FROM ${counted}
        WHERE id = failed_id AND ${this.#listed(mine)}`;
      return (await inner.run("mark rows failed", count)).changes;
    });
  }

  async giveBack(work: OutboxWork, token: string, { ids, delayMs }: GivenBack): Promise<number> {
    const what = "give rows back";
    if (delayMs <= 0) return (await this.#ended(work, what, this.#mine(token, ids))).length;
    const until = this.#target.leaseInstants.at(delayMs);
    const back = sql`UPDATE ${this.#leases} SET locked_by = NULL, locked_until = ${until} WHERE ${
      this.#mine(token, ids)
    }`;
    return (await work.run(what, back)).changes;
  }

  retiredIds(maxAttempts: number): Fragment<Moment> {
    return sql`SELECT id FROM ${this.#target.table} WHERE attempts >= ${maxAttempts} ORDER BY created_at, id`;
  }

  retiredRows(ids: readonly string[], maxAttempts: number): Fragment<Moment> {
    const { table, columns, instants } = this.#target;
    return sql`SELECT id, ${raw(columns.exchange)}, routing_key, attempts, last_error, NULL AS ordering_key,
      ${instants.epochMs("created_at")} AS created_ms FROM ${table}
      WHERE attempts >= ${maxAttempts} AND ${this.#listed(ids)}`;
  }

  async release(work: OutboxWork, id: string, maxAttempts: number): Promise<number> {
    const { table } = this.#target;
    return await work.together(async (inner) => {
      const release = sql`UPDATE ${table} SET attempts = 0 WHERE id = ${id} AND attempts >= ${maxAttempts}`;
      const { changes } = await inner.run("release a row", release);
      if (changes > 0) await this.#ended(inner, "release a row", sql`id = ${id}`);
      return changes;
    });
  }

  stats(maxAttempts: number): Fragment<Moment> {
    return statsOf(this.#target, maxAttempts);
  }

  /** Rows go when they are published; leases of rows that somebody else has removed are left. */
  purge(): undefined {}

  #lease({ token, leaseMs, limit, maxAttempts }: ClaimRequest): Fragment<Moment> {
    const { table, leaseInstants } = this.#target;
    const leases = this.#leases;
    const held = sql`SELECT id FROM ${leases} WHERE NOT ${this.#isFree}`;
    return sql`INSERT INTO ${leases} (id, locked_by, locked_until)
      SELECT id, ${token}, ${leaseInstants.at(leaseMs)} FROM ${table}
        WHERE attempts < ${maxAttempts} AND id NOT IN (${held}) ORDER BY created_at, id LIMIT ${limit}
      ON CONFLICT (id) DO UPDATE SET locked_by = excluded.locked_by, locked_until = excluded.locked_until RETURNING id`;
  }

  #leased(token: string): Fragment<Moment> {
    const { table, columns, format, instants, dialect } = this.#target;
    const mine = sql`SELECT id FROM ${this.#leases} WHERE locked_by = ${token}`;
    return sql`SELECT id, ${raw(columns.exchange)}, routing_key, ${
      raw(format.selected)
    }, attempts, NULL AS ordering_key,
      ${instants.ageMs("created_at")} AS age_ms, ${instants.epochMs("created_at")} AS created_ms
      FROM ${table} WHERE ${dialect.isAmong(raw("id"), mine)} ORDER BY created_at, id`;
  }

  async #ended(work: OutboxWork, what: string, which: Fragment<Moment>): Promise<readonly string[]> {
    const { rows } = await work.run(what, sql`DELETE FROM ${this.#leases} WHERE ${which} RETURNING id`);
    return rows.map((row) => String(row["id"]));
  }

  /** Removes leases of rows that were removed meanwhile. */
  #withoutRows(which: Fragment<Moment>): Fragment<Moment> {
    return sql`DELETE FROM ${this.#leases} WHERE ${which} AND id NOT IN (SELECT id FROM ${this.#target.table})`;
  }

  #mine(token: string, ids: readonly string[]): Fragment<Moment> {
    return sql`locked_by = ${token} AND ${this.#listed(ids)}`;
  }

  #listed(ids: readonly string[]): Fragment {
    return this.#target.dialect.isListed(raw("id"), JSON.stringify(ids));
  }
}
