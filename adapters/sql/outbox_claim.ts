/**
 * Claiming rows whose lease stands in the row itself.
 *
 * @module
 */

import type { SqlRow } from "../../src/ports/sql_session.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import type { Moment } from "./instants.ts";
import { claimAlone, Overtaken } from "./outbox_alone.ts";
import type { LeasePieces, LeaseTarget } from "./outbox_lease.ts";
import { pickInOrder, pickOldest, pickOtherKeys, type PickTarget } from "./outbox_pick.ts";
import type { ClaimedRows, ClaimRequest, OutboxWork } from "./outbox_table.ts";

/** What a claim is made of. */
interface Claiming {
  readonly target: LeaseTarget;
  readonly pieces: LeasePieces;
  readonly request: ClaimRequest;
}

/** Puts rows under a lease and gives them, in the order they leave. */
export async function claimRows(claiming: Claiming, work: OutboxWork): Promise<ClaimedRows> {
  const { target, pieces, request } = claiming;
  const { table, dialect } = target;
  const from: PickTarget = { table, dialect, ...pieces, free: pieces.isFree };
  if (request.mode === "continue") return await take(claiming, work, pickOldest(from, request));
  const inOrder = async (inner: OutboxWork): Promise<ClaimedRows> => {
    const taken = await take(claiming, inner, pickInOrder(from, request));
    return taken.rows.length > 0 ? taken : await take(claiming, inner, pickOtherKeys(from, request));
  };
  return await claimAlone(target, work, inOrder);
}

async function take(claiming: Claiming, work: OutboxWork, picked: Fragment<Moment>): Promise<ClaimedRows> {
  const { dialect } = claiming.target;
  const { token, mode } = claiming.request;
  const statement = dialect.name === "sqlite" ? takeOnSqlite : takeOnPostgres;
  const { rows } = await work.run("claim rows", statement(claiming, picked));
  const [first] = rows;
  if (first === undefined) return { token, rows };
  if (mode === "in_order" && dialect.name !== "sqlite" && Number(first["picked"]) !== rows.length) {
    throw new Overtaken("Cannot claim rows: somebody else marks them at the same time");
  }
  return { token: String(first["token"]), rows: inOrderOf(rows) };
}

function takeOnSqlite(claiming: Claiming, picked: Fragment<Moment>): Fragment<Moment> {
  const { table } = claiming.target;
  return sql`UPDATE ${table} SET ${lease(claiming)} WHERE id IN (${picked}) RETURNING ${returned(claiming)}`;
}

/**
 * What somebody has changed since it was picked is asked for its state once more. The commit does not wait for the disk: a lease that
 * goes with a crash of the database leaves its rows to whoever asks next, as its end would, and no mark of the lost one counts then.
 */
function takeOnPostgres(claiming: Claiming, picked: Fragment<Moment>): Fragment<Moment> {
  const { target: { table, dialect }, pieces, request } = claiming;
  return sql`WITH picked AS (${picked}) UPDATE ${table} SET ${lease(claiming)}
    WHERE ${
    dialect.isAmong(raw("id"), raw("SELECT picked_id FROM picked"))
  } AND ${pieces.isPending} AND attempts < ${request.maxAttempts} AND ${pieces.isFree}
    RETURNING ${returned(claiming)}, (SELECT count(*) FROM picked) AS picked,
      (SELECT set_config('synchronous_commit', 'off', true)) AS unsynced`;
}

function lease({ target: { instants }, pieces, request }: Claiming): Fragment<Moment> {
  const { token, leaseMs, extraMs } = request;
  return pieces.held(token, instants.at(pieces.isTimed ? leaseMs + extraMs : leaseMs));
}

function returned({ target, pieces }: Claiming): Fragment<Moment> {
  const { columns, format, instants, hasKeys } = target;
  return sql`id, ${raw(columns.exchange)}, routing_key, ${raw(format.selected)}, attempts,
    ${raw(hasKeys ? "ordering_key" : "NULL AS ordering_key")}, ${instants.ageMs("created_at")} AS age_ms,
    ${instants.epochMs("created_at")} AS created_ms, ${pieces.position} AS position, ${pieces.token} AS token`;
}

/** Sorts by position, and by id where that is the same. A whole number may have come as text. */
function inOrderOf(rows: readonly SqlRow[]): readonly SqlRow[] {
  const placed = rows.map((row) => ({ row, position: positionOf(row["position"]), id: String(row["id"]) }));
  placed.sort((a, b) => compare(a.position, b.position) || compare(a.id, b.id));
  return placed.map(({ row }) => row);
}

function positionOf(value: unknown): bigint | string {
  if (typeof value === "number" || typeof value === "bigint") return BigInt(value);
  const text = String(value);
  return /^\d+$/.test(text) ? BigInt(text) : text;
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
