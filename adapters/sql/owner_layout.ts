/**
 * The layout of Java, Ruby and Python: who holds a claim, and when it ends, stands in the row.
 *
 * @module
 */

import type { SqlDialect } from "./dialect.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import type { IdempotencyLayout, IdempotencyLayoutName, IdempotencyTimes } from "./idempotency_layout.ts";
import type { Instants } from "./instants.ts";

/** What the layout is made for. */
export interface OwnerLayoutTarget {
  readonly name: Extract<IdempotencyLayoutName, "java" | "ruby" | "python">;
  readonly table: Fragment;
  readonly dialect: SqlDialect;
  readonly instants: Instants;
}

/** Makes the statements. The token stands in `claimed_by`, a claim of its own each: an owner is a claim, not a process. */
export function ownerLayout(target: OwnerLayoutTarget, times: IdempotencyTimes): IdempotencyLayout {
  const { name, table, dialect, instants } = target;
  const { claimTimeoutMs, retentionMs } = times;
  const now = (nowMs: number): Fragment => instants.at(0, nowMs);
  const leaseEnd = (nowMs: number): Fragment => instants.at(claimTimeoutMs, nowMs);
  const retentionEnd = (nowMs: number): Fragment => instants.at(retentionMs, nowMs);
  const columns = raw("message_id, state, claimed_by, recorded_at, expires_at");
  const mine = (id: string, token: string): Fragment =>
    sql`message_id = ${id} AND state = 'CLAIMED' AND claimed_by = ${token}`;
  const expired = (nowMs: number): Fragment => instants.hasCome("expires_at", nowMs);
  return {
    name,
    insertClaim: ({ id, token, nowMs }) =>
      sql`INSERT INTO ${table} (${columns}) VALUES (${id}, 'CLAIMED', ${token}, ${now(nowMs)}, ${leaseEnd(nowMs)})
        ON CONFLICT DO NOTHING RETURNING claimed_by AS token`,
    takeOver: ({ id, token, nowMs }) =>
      sql`UPDATE ${table} SET state = 'CLAIMED', claimed_by = ${token}, recorded_at = ${now(nowMs)},
        expires_at = ${leaseEnd(nowMs)} WHERE message_id = ${id} AND ${expired(nowMs)} RETURNING claimed_by AS token`,
    insertConfirmed: ({ id, nowMs }) =>
      sql`INSERT INTO ${table} (${columns}) VALUES (${id}, 'CONFIRMED', NULL, ${now(nowMs)}, ${retentionEnd(nowMs)})
        ON CONFLICT DO NOTHING`,
    takeOverConfirmed: ({ id, nowMs }) =>
      sql`UPDATE ${table} SET state = 'CONFIRMED', claimed_by = NULL, recorded_at = ${now(nowMs)},
        expires_at = ${retentionEnd(nowMs)} WHERE message_id = ${id} AND ${expired(nowMs)}`,
    look: (id, nowMs) =>
      sql`SELECT CASE state WHEN 'CONFIRMED' THEN 1 ELSE 0 END AS confirmed,
        CASE WHEN ${expired(nowMs)} THEN 1 ELSE 0 END AS expired FROM ${table} WHERE message_id = ${id}`,
    confirm: ({ id, token, nowMs }) =>
      sql`UPDATE ${table} SET state = 'CONFIRMED', claimed_by = NULL, recorded_at = ${now(nowMs)},
        expires_at = ${retentionEnd(nowMs)} WHERE ${mine(id, token)}`,
    release: ({ id, token }) => sql`DELETE FROM ${table} WHERE ${mine(id, token)}`,
    renew: ({ id, token, nowMs }) =>
      sql`UPDATE ${table} SET expires_at = ${leaseEnd(nowMs)} WHERE ${mine(id, token)} RETURNING claimed_by AS token`,
    purge: (limit, nowMs) =>
      sql`DELETE FROM ${table} WHERE message_id IN (SELECT message_id FROM ${table} WHERE ${expired(nowMs)}
        LIMIT ${limit}${raw(dialect.skipLocked)})`,
  };
}
