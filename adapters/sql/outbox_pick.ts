/**
 * Which rows a claim takes: queries that give ids.
 *
 * @module
 */

import { type Fragment, joined, raw, sql } from "./fragment.ts";
import type { Moment } from "./instants.ts";
import type { SqlDialect } from "./dialect.ts";
import { ORDERING_KEY } from "./outbox_schema.ts";
import type { ClaimRequest } from "./outbox_table.ts";

/** What is picked from. */
export interface PickTarget {
  readonly table: Fragment;
  readonly dialect: SqlDialect;
  /** Says that a row was not published, where all of those are wanted. */
  readonly pending: Fragment<Moment>;
  /** The same where the first of them are wanted. */
  readonly inLine: Fragment<Moment>;
  /** Says that nobody has a row, and that it does not wait. */
  readonly free: Fragment<Moment>;
  /** What rows leave in the order of. */
  readonly order: Fragment<Moment>;
  /** The column of the write sequence. */
  readonly sequence: Fragment<Moment>;
}

/** How many of the oldest rows are looked at, for each that is wanted and at least. */
const LOOKED_AT_PER_ROW = 10;
const LOOKED_AT_LEAST = 1_000;

/** How many keys, and how many rows of each, are taken where all of the oldest rows are held back. */
const MOST_KEYS = 100;
const ROWS_OF_A_KEY = 100;

/** The oldest rows that are free: a row that fails holds nobody back. What somebody is just taking is passed over. */
export function pickOldest(
  { table, dialect, inLine, free, order }: PickTarget,
  request: ClaimRequest,
): Fragment<Moment> {
  const { maxAttempts, limit } = request;
  return sql`SELECT id AS picked_id FROM ${table} WHERE ${inLine} AND attempts < ${maxAttempts} AND ${free}
    ORDER BY ${order} LIMIT ${limit}${raw(dialect.skipLocked)}`;
}

/** Of each key among the oldest rows what comes before the first that is held: every earlier row of a key is among them. */
export function pickInOrder(target: PickTarget, request: ClaimRequest): Fragment<Moment> {
  const { table, inLine, free, sequence } = target;
  const most = Math.max(LOOKED_AT_LEAST, LOOKED_AT_PER_ROW * request.limit);
  const oldest = sql`SELECT id, attempts, ${sequence} AS position, ${raw(ORDERING_KEY)} AS key,
    CASE WHEN ${free} THEN 1 ELSE 0 END AS is_free FROM ${table} WHERE ${inLine} ORDER BY ${sequence} LIMIT ${most}`;
  return pickPrefixes(oldest, request);
}

/**
 * The same where all of the oldest rows are held back: a few keys, from the beginning of the alphabet, whose first row is free. One key
 * after the other is looked up in the index, so that a long row of one key costs what one of it does.
 */
export function pickOtherKeys(target: PickTarget, request: ClaimRequest): Fragment<Moment> {
  const { table, dialect, pending, free, sequence } = target;
  const { maxAttempts, onRetired } = request;
  const key = raw(ORDERING_KEY);
  const counts = onRetired === "hold" ? sql`1 = 1` : sql`attempts < ${maxAttempts}`;
  const isFirstFree = sql`(SELECT CASE WHEN attempts < ${maxAttempts} AND ${free} THEN 1 ELSE 0 END FROM ${table}
    WHERE ${pending} AND ${key} = known.key AND ${counts} ORDER BY ${sequence} LIMIT 1) = 1`;
  const firstOfKey = sql`SELECT ${sequence} FROM ${table} WHERE ${pending} AND ${key} = chosen.key
    ORDER BY ${sequence} LIMIT ${ROWS_OF_A_KEY}`;
  const rows = sql`WITH RECURSIVE known (key) AS (
      SELECT min(${key}) FROM ${table} WHERE ${pending}
      UNION ALL
      SELECT (SELECT min(${key}) FROM ${table} WHERE ${pending} AND ${key} > known.key) FROM known
        WHERE known.key IS NOT NULL
    ), chosen AS (SELECT key FROM known WHERE key IS NOT NULL AND ${isFirstFree} LIMIT ${MOST_KEYS})
    SELECT id, attempts, ${sequence} AS position, chosen.key AS key, CASE WHEN ${free} THEN 1 ELSE 0 END AS is_free
      FROM chosen CROSS JOIN ${table} WHERE ${pending} AND ${dialect.isAmong(sequence, firstOfKey)}`;
  return pickPrefixes(rows, request);
}

/** Of each key in `rows`, which have the earlier ones of a key with every row, what comes before the first that is held. */
function pickPrefixes(rows: Fragment<Moment>, { maxAttempts, onRetired, limit }: ClaimRequest): Fragment<Moment> {
  const retired = onRetired === "hold" ? raw("1") : raw("0");
  const holds = sql`CASE WHEN attempts >= ${maxAttempts} THEN ${retired} ELSE 1 - is_free END`;
  const looked = sql`SELECT id, attempts, position, is_free,
    max(${holds}) OVER (PARTITION BY key ORDER BY position) AS is_held FROM (${rows}) AS seen`;
  const conditions = joined([sql`attempts < ${maxAttempts}`, raw("is_free = 1"), raw("is_held = 0")], " AND ");
  return sql`SELECT id AS picked_id FROM (${looked}) AS looked WHERE ${conditions} ORDER BY position LIMIT ${limit}`;
}
