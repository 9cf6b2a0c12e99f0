/**
 * The layout of Go and .NET: a flag says that a message is confirmed, and one time stands for everything else.
 *
 * There is no column for an owner, so the time written at the claim is the token (contract patterns 4.8).
 *
 * @module
 */

import type { SqlDialect } from "./dialect.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import type { IdempotencyLayout, IdempotencyTimes } from "./idempotency_layout.ts";
import type { Instants } from "./instants.ts";

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
  const token = instants.asText(time);
  const leaseIsOver = (nowMs: number): Fragment => instants.hasCome(time, nowMs, times.claimTimeoutMs);
  const isForgotten = (nowMs: number): Fragment => instants.hasCome(time, nowMs, times.retentionMs);
  const expired = (nowMs: number): Fragment =>
    sql`((confirmed = ${no} AND ${leaseIsOver(nowMs)}) OR (confirmed = ${yes} AND ${isForgotten(nowMs)}))`;
  const mine = (key: string, held: string): Fragment =>
    sql`${id} = ${key} AND confirmed = ${no} AND ${instants.is(time, held)}`;
  const insert = (key: string, confirmed: Fragment, nowMs: number): Fragment =>
    sql`INSERT INTO ${table} (${id}, ${at}, confirmed) VALUES (${key}, ${
      instants.at(0, nowMs)
    }, ${confirmed}) ON CONFLICT DO NOTHING`;
  const overwrite = (key: string, confirmed: Fragment, nowMs: number): Fragment =>
    sql`UPDATE ${table} SET ${at} = ${instants.at(0, nowMs)}, confirmed = ${confirmed} WHERE ${id} = ${key} AND ${
      expired(nowMs)
    }`;
  return {
    name,
    insertClaim: ({ id: key, nowMs }) => sql`${insert(key, no, nowMs)} RETURNING ${token} AS token`,
    takeOver: ({ id: key, nowMs }) => sql`${overwrite(key, no, nowMs)} RETURNING ${token} AS token`,
    insertConfirmed: ({ id: key, nowMs }) => insert(key, yes, nowMs),
    takeOverConfirmed: ({ id: key, nowMs }) => overwrite(key, yes, nowMs),
    look: (key, nowMs) =>
      sql`SELECT CASE confirmed WHEN ${yes} THEN 1 ELSE 0 END AS confirmed,
        CASE WHEN ${expired(nowMs)} THEN 1 ELSE 0 END AS expired FROM ${table} WHERE ${id} = ${key}`,
    confirm: ({ id: key, token: held, nowMs }) => {
      const when = name === "go" ? sql`, ${at} = ${instants.at(0, nowMs)}` : raw("");
      return sql`UPDATE ${table} SET confirmed = ${yes}${when} WHERE ${mine(key, held)}`;
    },
    release: ({ id: key, token: held }) => sql`DELETE FROM ${table} WHERE ${mine(key, held)}`,
    renew: ({ id: key, token: held, nowMs }) =>
      sql`UPDATE ${table} SET ${at} = ${instants.at(0, nowMs)} WHERE ${mine(key, held)} RETURNING ${token} AS token`,
    purge: (limit, nowMs) =>
      sql`DELETE FROM ${table} WHERE ${id} IN (SELECT ${id} FROM ${table} WHERE ${expired(nowMs)}
        LIMIT ${limit}${raw(dialect.skipLocked)})`,
  };
}
