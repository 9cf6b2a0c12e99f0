/**
 * The rows of an outbox in memory, and which of them may be handed out.
 *
 * @module
 */

import type { Outbound } from "../../src/message/outbound.ts";
import type { OutboxClaimOptions, OutboxStats } from "../../src/ports/outbox_store.ts";

/** One row that is not published. */
export interface OutboxTableRow {
  readonly id: string;
  readonly outbound: Outbound;
  readonly orderingKey: string | undefined;
  /** In which order rows were written, not in which they were committed. */
  readonly sequence: number;
  /** For people. */
  readonly createdAtMs: number;
  /** For ages. */
  readonly addedAtMs: number;
  attempts: number;
  lastError: string | undefined;
  /** Of whoever has claimed it last, until it was given back. */
  token: string | undefined;
  /** When it can be handed out: the end of a lease, or of a wait for the next attempt. */
  freeAtMs: number;
}

/** What a row is besides its message. */
type RowFacts = Pick<OutboxTableRow, "orderingKey" | "createdAtMs" | "addedAtMs">;

/** Rows by id, those that are not published in the order they were written. */
export class OutboxTable {
  readonly #maxAttempts: number;
  readonly #published = new Map<string, number>();
  #pending = new Map<string, OutboxTableRow>();
  #lastSequence = 0;
  /** Of what was committed. */
  #highestSequence = 0;

  constructor(maxAttempts: number) {
    this.#maxAttempts = maxAttempts;
  }

  /** A row that is not there yet: it takes its place in the order now. */
  newRow(id: string, outbound: Outbound, facts: RowFacts): OutboxTableRow {
    const sequence = ++this.#lastSequence;
    return {
      ...facts,
      id,
      outbound,
      sequence,
      attempts: 0,
      lastError: undefined,
      token: undefined,
      freeAtMs: -Infinity,
    };
  }

  /** A commit: rows whose id is there already are there already. */
  insert(rows: readonly OutboxTableRow[]): void {
    let isInOrder = true;
    for (const row of rows) {
      if (this.#pending.has(row.id) || this.#published.has(row.id)) continue;
      this.#pending.set(row.id, row);
      isInOrder &&= row.sequence > this.#highestSequence;
      this.#highestSequence = Math.max(this.#highestSequence, row.sequence);
    }
    if (isInOrder) return;
    this.#pending = new Map([...this.#pending].sort(([, one], [, other]) => one.sequence - other.sequence));
  }

  /** The rows that may be handed out now, in the order they leave. */
  claimable(
    nowMs: number,
    { limit, mode, onRetired }: Pick<OutboxClaimOptions, "limit" | "mode" | "onRetired">,
  ): OutboxTableRow[] {
    const stopped = new Set<string | undefined>();
    const found: OutboxTableRow[] = [];
    for (const row of this.#pending.values()) {
      if (found.length >= limit) break;
      if (mode === "in_order" && stopped.has(row.orderingKey)) continue;
      const isRetired = this.#isRetired(row);
      if (!isRetired && row.freeAtMs <= nowMs) found.push(row);
      else if (!isRetired || onRetired === "hold") stopped.add(row.orderingKey);
    }
    return found;
  }

  /** Those of the rows that are the token's. */
  held(token: string, ids: readonly string[]): OutboxTableRow[] {
    return ids.flatMap((id) => {
      const row = this.#pending.get(id);
      return row?.token === token ? [row] : [];
    });
  }

  publish(row: OutboxTableRow, nowMs: number): void {
    this.#pending.delete(row.id);
    this.#published.set(row.id, nowMs);
  }

  /** The rows that failed too often, in the order they were written. */
  retired(): OutboxTableRow[] {
    return [...this.#pending.values()].filter((row) => this.#isRetired(row));
  }

  stats(nowMs: number): OutboxStats {
    let retired = 0;
    let oldestMs = Infinity;
    for (const row of this.#pending.values()) {
      if (this.#isRetired(row)) retired++;
      else oldestMs = Math.min(oldestMs, row.addedAtMs);
    }
    return {
      pending: this.#pending.size,
      oldestAgeMs: oldestMs === Infinity ? undefined : nowMs - oldestMs,
      retired,
    };
  }

  /** Forgets what was published then or before. */
  purge(untilMs: number): number {
    const before = this.#published.size;
    for (const [id, publishedAtMs] of this.#published) if (publishedAtMs <= untilMs) this.#published.delete(id);
    return before - this.#published.size;
  }

  #isRetired({ attempts }: OutboxTableRow): boolean {
    return attempts >= this.#maxAttempts;
  }
}
