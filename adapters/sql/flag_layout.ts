/**
 * The layout of Go and .NET: a flag says that a message is confirmed, and one time stands for everything else.
 *
 * There is no column for an owner, so the time written at the claim is the token (contract patterns 4.8).
 *
 * @module
 */

import type { ClockLead } from "./clock_watch.ts";
import type { SqlDialect } from "./dialect.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import type { ClaimFacts, IdempotencyLayout, IdempotencyTimes, PurgeFacts } from "./idempotency_layout.ts";
import type { Instants, Moment } from "./instants.ts";

/** What the layout is made for. */
export interface FlagLayoutTarget {
  readonly name: "go" | "dotnet";
  readonly table: Fragment;
  readonly dialect: SqlDialect;
  readonly instants: Instants;
}

/** The names of one of the two. */
interface Names {
  readonly id: string;
  readonly time: string;
  readonly yes: string;
  readonly no: string;
}

const NAMES: Readonly<Record<FlagLayoutTarget["name"], Names>> = {
  go: { id: `"key"`, time: "handled_at", yes: "TRUE", no: "FALSE" },
  dotnet: { id: "message_id", time: "claimed_at", yes: "1", no: "0" },
};

/** Makes the statements. .NET counts the retention from the claim, and so leaves the time alone when a message is confirmed. */
export function flagLayout(target: FlagLayoutTarget, times: IdempotencyTimes): IdempotencyLayout {
  const { name, table, dialect, instants } = target;
  const { time } = NAMES[name];
  const [id, yes, no] = [raw(NAMES[name].id), raw(NAMES[name].yes), raw(NAMES[name].no)];
  const at = raw(time);
  const now = instants.at(0);
  const key = ({ id }: ClaimFacts): string => id;
  const limit = ({ limit }: PurgeFacts): number => limit;
  const token = sql`RETURNING ${instants.asText(time)} AS token`;
  const leaseIsOver = instants.hasCome(time, times.claimTimeoutMs, (lead: ClockLead & Moment) => lead.leaseLeadMs);
  const isForgotten = instants.hasCome(time, times.retentionMs, (lead: ClockLead & Moment) => lead.retentionLeadMs);
  const expired = sql`((confirmed = ${no} AND ${leaseIsOver}) OR (confirmed = ${yes} AND ${isForgotten}))`;
  const isDue = sql`((confirmed = ${no} AND ${instants.mayHaveCome(time, times.claimTimeoutMs)} AND ${leaseIsOver})
      OR (confirmed = ${yes} AND ${instants.mayHaveCome(time, times.retentionMs)} AND ${isForgotten}))`;
  const { given } = instants;
  const has = given === undefined ? instants.is : given.isOneOf;
  const mine = sql`${id} = ${key} AND confirmed = ${no} AND ${has(time, ({ token }: ClaimFacts) => token)}`;
  const insert = (confirmed: Fragment): Fragment<ClaimFacts> =>
    sql`INSERT INTO ${table} (${id}, ${at}, confirmed) VALUES (${key}, ${now}, ${confirmed}) ON CONFLICT DO NOTHING`;
  const overwrite = (confirmed: Fragment): Fragment<ClaimFacts> =>
    sql`UPDATE ${table} SET ${at} = ${now}, confirmed = ${confirmed} WHERE ${id} = ${key} AND ${expired}`;
  return {
    name,
    insertClaim: sql`${insert(no)} ${token}`,
    takeOver: sql`${overwrite(no)} ${token}`,
    insertConfirmed: insert(yes),
    takeOverConfirmed: overwrite(yes),
    look: sql`SELECT CASE confirmed WHEN ${yes} THEN 1 ELSE 0 END AS confirmed,
      CASE WHEN ${expired} THEN 1 ELSE 0 END AS expired FROM ${table} WHERE ${id} = ${key}`,
    confirm: sql`UPDATE ${table} SET confirmed = ${yes}${
      name === "go" ? sql`, ${at} = ${now}` : raw("")
    } WHERE ${mine}`,
    release: sql`DELETE FROM ${table} WHERE ${mine}`,
    ...(given === undefined ? {} : { clock: sql`SELECT ${given.now} AS token` }),
    renew: sql`UPDATE ${table} SET ${at} = ${
      given?.of(({ next }: ClaimFacts) => next ?? null) ?? now
    } WHERE ${mine} ${token}`,
    purge: sql`DELETE FROM ${table} WHERE ${id} IN (SELECT ${id} FROM ${table} WHERE ${isDue}
      LIMIT ${limit}${raw(dialect.skipLocked)})`,
  };
}
