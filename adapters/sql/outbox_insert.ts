/**
 * Writing rows of an outbox: the same for every layout but for the columns.
 *
 * @module
 */

import { type Fragment, joined, raw, sql } from "./fragment.ts";
import type { Instants, Moment } from "./instants.ts";
import { KEY_COLUMN, type OutboxColumns } from "./outbox_layout.ts";
import type { OutboxFormat } from "./outbox_format.ts";
import type { StoredMessage } from "./outbox_row.ts";
import type { InsertOptions } from "./outbox_table.ts";

/** What rows are written into. */
export interface InsertTarget {
  readonly table: Fragment<Moment>;
  readonly columns: OutboxColumns;
  readonly format: OutboxFormat;
  readonly created: Instants;
  readonly hasKeys: boolean;
}

/**
 * One statement for all of them. Each is created a moment later than the one before, so that they leave in this order where the time of
 * their creation decides.
 */
export function insertRows(
  target: InsertTarget,
  messages: readonly StoredMessage[],
  options: InsertOptions,
): Fragment<Moment> {
  const { table, columns, format, created, hasKeys } = target;
  const { key, from } = options;
  const names = [
    "id",
    columns.exchange,
    "routing_key",
    ...format.columns,
    "created_at",
    "attempts",
    ...(columns.published === "published" ? ["published"] : []),
    ...(hasKeys ? [KEY_COLUMN] : []),
  ];
  const rows = messages.map(({ id, exchange, routingKey, content }, index) => {
    const at = created.at((from + index) * created.stepMs);
    const values = [id, exchange, routingKey, ...content].map((value) => sql`${value}`);
    const zeros = columns.published === "published" ? raw("0, 0") : raw("0");
    return sql`(${joined([...values, at, zeros, ...(hasKeys ? [sql`${key}`] : [])], ", ")})`;
  });
  return sql`INSERT INTO ${table} (${raw(names.join(", "))}) VALUES ${joined(rows, ", ")} ON CONFLICT (id) DO NOTHING`;
}
