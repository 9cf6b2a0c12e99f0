/**
 * How a lease stands in a row of an outbox, by layout (contract patterns 5.2, 5.5).
 *
 * @module
 */

import { type Fragment, raw, sql } from "./fragment.ts";
import type { Instants, Moment } from "./instants.ts";
import { isInLine, isUnpublished } from "./outbox_schema.ts";
import type { OutboxTarget } from "./outbox_table.ts";

/** A table whose rows have a place for a lease. */
export interface LeaseTarget extends OutboxTarget {
  /** Whether there is a column for ordering keys. */
  readonly hasKeys: boolean;
  /** Whether rows leave as they were inserted, since their times do not sort as they stand there. */
  readonly byRowid: boolean;
}

/** The pieces its statements are made of. */
export interface LeasePieces {
  /** Says that a row was not published, where all of those are wanted. */
  readonly pending: Fragment;
  /** The same where the first of them are wanted. */
  readonly inLine: Fragment;
  /** The same of a row that is found by its id: no index of the rows that were not published is better than that of the ids. */
  readonly isPending: Fragment;
  /** What rows leave in the order of. */
  readonly order: Fragment<Moment>;
  /** The column of the write sequence. */
  readonly sequence: Fragment<Moment>;
  /** A value by which rows are put in order once more: the database gives changed rows in any. */
  readonly position: Fragment<Moment>;
  /** Whether the end of the lease is the token. */
  readonly isTimed: boolean;
  /** Gives the token of a row. */
  readonly token: Fragment<Moment>;
  /** Says that nobody has a row, and that it does not wait. */
  readonly isFree: Fragment<Moment>;
  /** Says that a row is the token's. */
  isMine(token: string): Fragment<Moment>;
  /** Makes a row the token's, up to an instant. */
  held(token: string, until: Fragment<Moment>): Fragment<Moment>;
  /** Makes a row nobody's, from an instant on where it has to wait. */
  free(from?: Fragment<Moment>): Fragment<Moment>;
}

/** Makes the pieces. .NET has no column for a token: when the lease ends is it. */
export function leasePieces(target: LeaseTarget): LeasePieces {
  const { columns, instants } = target;
  const isFlagged = columns.published === "published";
  const until = isFlagged ? "leased_until" : "locked_until";
  const owned = isFlagged ? ownedByTime(until, instants) : ownedByToken();
  return {
    pending: raw(pendingOf(target, isUnpublished)),
    inLine: raw(pendingOf(target, isInLine)),
    isPending: raw(isPendingOf(target)),
    ...orderOf(target),
    ...owned,
    isFree: sql`(${raw(until)} IS NULL OR ${instants.isBefore(until)})`,
  };
}

function pendingOf({ layout, columns, dialect }: LeaseTarget, ours: typeof isUnpublished): string {
  if (columns.published === "published") return "published = 0";
  return layout === "typescript" ? ours(dialect.name) : "published_at IS NULL";
}

/** Written so that SQLite sees no condition an index is for, and PostgreSQL none it believes that it knows how many rows have. */
function isPendingOf({ columns, dialect }: LeaseTarget): string {
  const isFlagged = columns.published === "published";
  if (dialect.name === "postgres") return isFlagged ? "published + 0 = 0" : "num_nulls(published_at) > 0";
  return isFlagged ? "+published = 0" : "(published_at IS NULL) = 1";
}

type Ownership = Pick<LeasePieces, "isTimed" | "token" | "isMine" | "held" | "free">;

function ownedByToken(): Ownership {
  return {
    isTimed: false,
    token: raw("locked_by"),
    isMine: (token) => sql`locked_by = ${token}`,
    held: (token, until) => sql`locked_by = ${token}, locked_until = ${until}`,
    free: (from = raw("NULL")) => sql`locked_by = NULL, locked_until = ${from}`,
  };
}

function ownedByTime(until: string, instants: Instants): Ownership {
  return {
    isTimed: true,
    token: instants.asText(until),
    isMine: (token) => instants.is(until, () => token),
    held: (_token, end) => sql`${raw(until)} = ${end}`,
    free: (from = raw("NULL")) => sql`${raw(until)} = ${from}`,
  };
}

function orderOf(target: LeaseTarget): Pick<LeasePieces, "order" | "sequence" | "position"> {
  const { dialect, instants, unordered, byRowid } = target;
  const sequence = raw(dialect.name === "sqlite" ? "rowid" : "seq");
  if (byRowid || unordered === undefined) return { order: sequence, sequence, position: sequence };
  return { order: raw("created_at, id"), sequence, position: instants.asText("created_at") };
}
