/**
 * The layout of Java, Ruby and Python: who holds a claim, and when it ends, stands in the row.
 *
 * @module
 */

import type { ClockLead } from "./clock_watch.ts";
import type { SqlDialect } from "./dialect.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import type {
  ClaimFacts,
  IdempotencyLayout,
  IdempotencyLayoutName,
  IdempotencyTimes,
  PurgeFacts,
} from "./idempotency_layout.ts";
import type { Instants, Moment } from "./instants.ts";

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
  const now = instants.at(0);
  const leaseEnd = instants.at(times.claimTimeoutMs);
  const retentionEnd = instants.at(times.retentionMs);
  const expired = expiredBy(instants);
  const id = ({ id }: ClaimFacts): string => id;
  const token = ({ token }: ClaimFacts): string => token;
  const limit = ({ limit }: PurgeFacts): number => limit;
  const columns = raw("message_id, state, claimed_by, recorded_at, expires_at");
  const mine = sql`message_id = ${id} AND state = 'CLAIMED' AND claimed_by = ${token}`;
  return {
    name,
    insertClaim:
      sql`INSERT INTO ${table} (${columns}) VALUES (${id}, 'CLAIMED', ${token}, ${now}, ${leaseEnd}) ON CONFLICT DO NOTHING`,
    takeOver: sql`UPDATE ${table} SET state = 'CLAIMED', claimed_by = ${token}, recorded_at = ${now},
      expires_at = ${leaseEnd} WHERE message_id = ${id} AND ${expired}`,
    insertConfirmed:
      sql`INSERT INTO ${table} (${columns}) VALUES (${id}, 'CONFIRMED', NULL, ${now}, ${retentionEnd}) ON CONFLICT DO NOTHING`,
    takeOverConfirmed: sql`UPDATE ${table} SET state = 'CONFIRMED', claimed_by = NULL, recorded_at = ${now},
      expires_at = ${retentionEnd} WHERE message_id = ${id} AND ${expired}`,
    look: sql`SELECT CASE state WHEN 'CONFIRMED' THEN 1 ELSE 0 END AS confirmed,
      CASE WHEN ${expired} THEN 1 ELSE 0 END AS expired FROM ${table} WHERE message_id = ${id}`,
    confirm: sql`UPDATE ${table} SET state = 'CONFIRMED', claimed_by = NULL, recorded_at = ${now},
      expires_at = ${retentionEnd} WHERE ${mine}`,
    release: sql`DELETE FROM ${table} WHERE ${mine}`,
    renew: sql`UPDATE ${table} SET expires_at = ${leaseEnd} WHERE ${mine}`,
    purge: sql`DELETE FROM ${table} WHERE message_id IN (SELECT message_id FROM ${table}
      WHERE ${instants.mayHaveCome("expires_at", 0)} AND ${expired} LIMIT ${limit}${raw(dialect.skipLocked)})`,
  };
}

/** One column holds the end of both, but only a clock that may be ahead tells them apart: elsewhere an index is to serve. */
function expiredBy({ isByStore, hasCome }: Instants): Fragment<ClockLead & Moment> {
  const leaseIsOver = hasCome("expires_at", 0, ({ leaseLeadMs }: ClockLead & Moment) => leaseLeadMs);
  if (!isByStore) return leaseIsOver;
  const isForgotten = hasCome("expires_at", 0, ({ retentionLeadMs }: ClockLead & Moment) => retentionLeadMs);
  return sql`(CASE state WHEN 'CONFIRMED' THEN ${isForgotten} ELSE ${leaseIsOver} END)`;
}
