/**
 * Which rows of a batch go side by side, and which one after the other.
 *
 * @module
 */

import type { ClaimedRow, OutboxMode } from "../../ports/outbox_store.ts";
import type { Fate } from "./fate.ts";
import type { RelaySettings } from "./relay_options.ts";

/** Rows of which each waits until the one before it is published; when one is not, those behind it go back. */
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

/** Whether the rows behind one of the same chain have to wait for it. */
export function holdsBack(
  fate: Fate,
  { maxAttempts, onRetired }: Pick<RelaySettings, "maxAttempts" | "onRetired">,
): boolean {
  if (fate.is === "published") return false;
  const isRetired = fate.is === "failed" && fate.attempts >= maxAttempts;
  return !isRetired || onRetired === "hold";
}
