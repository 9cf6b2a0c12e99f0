/**
 * An open transaction of an outbox in memory.
 *
 * @module
 */

import type { OutboxTableRow } from "./outbox_table.ts";

/** The handle that `store.transaction(…)` gives; it is the transaction. */
export interface MemoryOutboxTransaction {
  /** False once it was committed or rolled back. */
  readonly isOpen: boolean;
}

/** What is behind the handle. */
export class OutboxTransaction implements MemoryOutboxTransaction {
  readonly store: unknown;
  readonly #rows: OutboxTableRow[] = [];
  #isOpen = true;

  constructor(store: unknown) {
    this.store = store;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Keeps rows for the commit. */
  add(rows: readonly OutboxTableRow[]): void {
    for (const row of rows) this.#rows.push(row);
  }

  /** Nothing can be added any more; what was added. */
  end(): readonly OutboxTableRow[] {
    this.#isOpen = false;
    return this.#rows;
  }
}
