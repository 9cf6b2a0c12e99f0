/**
 * Writing rows of an outbox: the same for every layout but for the columns.
 *
 * @module
 */

import type { SqlValue } from "../../src/ports/sql_session.ts";
import { type Fragment, joined, raw, sql } from "./fragment.ts";
import type { Instants, Moment } from "./instants.ts";
import { KEY_COLUMN, type OutboxColumns } from "./outbox_layout.ts";
import type { OutboxFormat } from "./outbox_format.ts";
import type { StoredMessage } from "./outbox_row.ts";

/** What rows are written into. */
export interface InsertTarget {
  readonly table: Fragment;
  readonly columns: OutboxColumns;
  readonly format: OutboxFormat;
  readonly created: Instants;
  readonly hasKeys: boolean;
}

/** What rows are written with. */
export interface InsertFacts extends Moment {
  readonly messages: readonly StoredMessage[];
  readonly key: string | null;
  /** How many of the same call were written before. */
  readonly from: number;
}

/**
 * One statement for so many rows. Each is created a moment later than the one before, so that they leave in this order where the time of
 * their creation decides.
 */
export function insertRows(target: InsertTarget, count: number, from: number): Fragment<InsertFacts> {
  const { table, columns, hasKeys } = target;
  const isFlagged = columns.published === "published";
  const names = [
    ...["id", columns.exchange, "routing_key", ...target.format.columns, "created_at", "attempts"],
    ...(isFlagged ? ["published"] : []),
    ...(hasKeys ? [KEY_COLUMN] : []),
  ];
  const rows = Array.from({ length: count }, (_, index) => sql`(${joined(valuesOf(target, index, from), ", ")})`);
  return sql`INSERT INTO ${table} (${raw(names.join(", "))}) VALUES ${joined(rows, ", ")} ON CONFLICT (id) DO NOTHING`;
}

/** Parameters of one row at most. */
export function parametersOfRow({ columns }: OutboxFormat): number {
  return 3 + columns.length + 2;
}

function valuesOf(target: InsertTarget, index: number, from: number): readonly Fragment<InsertFacts>[] {
  const { columns, format, created, hasKeys } = target;
  const of = (read: (message: StoredMessage) => SqlValue): Fragment<InsertFacts> => {
    const hole = ({ messages }: InsertFacts): SqlValue => read(messages[index] as StoredMessage);
    return sql`${hole}`;
  };
  return [
    of(({ id }) => id),
    of(({ exchange }) => exchange),
    of(({ routingKey }) => routingKey),
    ...format.columns.map((_, column) => of(({ content }) => content[column] ?? null)),
    created.at((from + index) * created.stepMs),
    raw(columns.published === "published" ? "0, 0" : "0"),
    ...(hasKeys ? [sql`${({ key }: InsertFacts) => key}`] : []),
  ];
}
