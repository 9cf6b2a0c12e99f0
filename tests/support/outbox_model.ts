/**
 * What the contract says of an outbox, as a state machine without a database (contract patterns 5.5 to 5.7).
 *
 * @module
 */
import type { OnRetired, OutboxMode } from "../../src/ports/outbox_store.ts";

/** A row. */
interface Row {
  readonly id: string;
  /** Rows without a key share one. */
  readonly key: string;
  readonly createdMs: number;
  attempts: number;
  publishedMs: number | undefined;
  /** Which claim has it; undefined when it is nobody's. */
  holder: number | undefined;
  /** When a lease or a wait ends. */
  freeMs: number;
}

/** How rows are handed out. */
export interface ModelClaim {
  readonly limit: number;
  readonly leaseMs: number;
  readonly mode: OutboxMode;
  readonly onRetired: OnRetired;
}

/** What becomes of published rows; .NET's table does not say when they were. */
export type PublishedRows = "age" | "age from creation" | "go";

/** See the module. Claims have numbers where a store has tokens. */
export class OutboxModel {
  readonly #maxAttempts: number;
  readonly #published: PublishedRows;
  #rows: Row[] = [];
  #nowMs = 0;

  constructor({ maxAttempts, published }: { readonly maxAttempts: number; readonly published: PublishedRows }) {
    this.#maxAttempts = maxAttempts;
    this.#published = published;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** An id that is there is left alone. */
  add(id: string, key = ""): void {
    if (this.#rows.some((row) => row.id === id)) return;
    const row = { id, key, createdMs: this.#nowMs, attempts: 0, publishedMs: undefined, holder: undefined, freeMs: 0 };
    this.#rows.push(row);
  }

  claim(number: number, { limit, leaseMs, mode, onRetired }: ModelClaim): readonly (readonly [string, number])[] {
    const held = new Set<string>();
    const taken: Row[] = [];
    for (const row of this.#pending()) {
      const isRetired = this.#isRetired(row);
      const isFree = row.freeMs <= this.#nowMs;
      if (!isRetired && isFree && !held.has(row.key) && taken.length < limit) taken.push(row);
      if (mode === "in_order" && (isRetired ? onRetired === "hold" : !isFree)) held.add(row.key);
    }
    for (const row of taken) {
      row.holder = number;
      row.freeMs = this.#nowMs + leaseMs;
    }
    return taken.map(({ id, attempts }) => [id, attempts]);
  }

  markPublished(number: number, ids: readonly string[]): number {
    const mine = this.#held(number, ids);
    for (const row of mine) {
      row.publishedMs = this.#nowMs;
      row.holder = undefined;
    }
    if (this.#published === "go") this.#rows = this.#pending();
    return mine.length;
  }

  markFailed(
    number: number,
    ids: readonly string[],
    { attempts, delayMs }: { attempts: number; delayMs: number },
  ): number {
    const mine = this.#held(number, ids);
    for (const row of mine) row.attempts = attempts;
    return this.giveBack(number, ids, delayMs);
  }

  giveBack(number: number, ids: readonly string[], delayMs: number): number {
    const mine = this.#held(number, ids);
    for (const row of mine) {
      row.holder = undefined;
      row.freeMs = this.#nowMs + delayMs;
    }
    return mine.length;
  }

  release(id: string): boolean {
    const row = this.#pending().find((one) => one.id === id);
    if (row === undefined || !this.#isRetired(row)) return false;
    row.attempts = 0;
    row.holder = undefined;
    row.freeMs = 0;
    return true;
  }

  purge(olderThanMs: number): number {
    const since = ({ publishedMs, createdMs }: Row): number =>
      publishedMs === undefined ? Infinity : this.#published === "age from creation" ? createdMs : publishedMs;
    const kept = this.#rows.filter((row) => since(row) >= this.#nowMs - olderThanMs);
    const gone = this.#rows.length - kept.length;
    this.#rows = kept;
    return gone;
  }

  get retired(): readonly string[] {
    return this.#pending().filter((row) => this.#isRetired(row)).map(({ id }) => id);
  }

  get stats(): { readonly pending: number; readonly retired: number; readonly oldestAgeMs: number | undefined } {
    const pending = this.#pending();
    const oldest = pending.find((row) => !this.#isRetired(row));
    return {
      pending: pending.length,
      retired: this.retired.length,
      oldestAgeMs: oldest === undefined ? undefined : this.#nowMs - oldest.createdMs,
    };
  }

  #pending(): Row[] {
    return this.#rows.filter(({ publishedMs }) => publishedMs === undefined);
  }

  #held(number: number, ids: readonly string[]): readonly Row[] {
    return this.#pending().filter(({ id, holder }) => holder === number && ids.includes(id));
  }

  #isRetired({ attempts }: Row): boolean {
    return attempts >= this.#maxAttempts;
  }
}
