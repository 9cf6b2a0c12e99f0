/**
 * Which rows of a batch go side by side, and which one after the other.
 *
 * @module
 */

import type { ClaimedRow, OutboxMode } from "../../ports/outbox_store.ts";

/**
 * Rows of which each waits until the one before it is published. When one is not, those behind it go back, also when it is retired by
 * that: they may leave once the store knows, and a relay that dies before that leaves the row to be tried again.
 */
export type Chain = readonly ClaimedRow[];

/** `continue`: every row for itself. `in_order`: a chain for each ordering key, rows without one together. */
export function chainsOf(rows: readonly ClaimedRow[], mode: OutboxMode): readonly Chain[] {
  if (mode === "continue") return rows.map((row) => [row]);
  const chains = new Map<string | undefined, ClaimedRow[]>();
  for (const row of rows) {
    const chain = chains.get(row.orderingKey);
    if (chain === undefined) chains.set(row.orderingKey, [row]);
    else chain.push(row);
  }
  return [...chains.values()];
}
