/**
 * What outbox tables have in common, wherever their leases stand.
 *
 * @module
 */

import { failureText } from "../../src/internal/failure_text.ts";
import type { OutboxFailure } from "../../src/ports/outbox_store.ts";
import { type Fragment, sql } from "./fragment.ts";
import type { Moment } from "./instants.ts";
import type { OutboxTarget } from "./outbox_table.ts";

/** Failures as JSON, for `dialect.rowsOf`: `failed_id`, `failures`, `reason` and `delay_ms`. */
export function failureList(failures: readonly OutboxFailure[]): string {
  return JSON.stringify(failures.map(({ id, attempts, reason, retryDelayMs }) => ({
    failed_id: id,
    failures: attempts,
    reason: failureText(reason),
    delay_ms: retryDelayMs,
  })));
}

/** Gives `pending`, `retired` and `oldest_ms` of all rows, as far as no condition is put behind it. */
export function statsOf(
  { table, instants }: Pick<OutboxTarget, "table" | "instants">,
  maxAttempts: number,
): Fragment<Moment> {
  const oldest = `min(CASE WHEN attempts < ${maxAttempts} THEN created_at END)`;
  return sql`SELECT count(*) AS pending, sum(CASE WHEN attempts >= ${maxAttempts} THEN 1 ELSE 0 END) AS retired,
      ${instants.ageMs(oldest)} AS oldest_ms FROM ${table}`;
}
