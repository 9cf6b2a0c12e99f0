/**
 * What the database says of a table, and why one cannot be used: alike for claims, outboxes and schemas.
 *
 * @module
 */

import { LayoutError } from "../../src/errors.ts";
import type { SqlRow, SqlSession } from "../../src/ports/sql_session.ts";
import { type ColumnFacts, type SqlDialect, tableName } from "./dialect.ts";
import { compile, type Fragment } from "./fragment.ts";
import type { Moment } from "./instants.ts";

/** Runs one query. */
export type AskTable = (fragment: Fragment<Moment>) => Promise<readonly SqlRow[]>;

/** Asks on a session, outside of any time. */
export function askOn(session: SqlSession, { placeholder }: SqlDialect): AskTable {
  return async (fragment) => {
    const { text, bind } = compile(fragment, placeholder);
    return (await session.query(text, bind({ nowMs: 0 }))).rows;
  };
}

/** The columns of a table; none where it is not there. Rejects with a `RangeError` for what is no name. */
export async function columnFacts(ask: AskTable, dialect: SqlDialect, table: string): Promise<readonly ColumnFacts[]> {
  tableName(table);
  return (await ask(dialect.columnsOf(table))).map(({ name, type }) => ({
    name: String(name).toLowerCase(),
    type: String(type),
  }));
}

/** There is none; `ddl` is the call that gives the statements which make it. */
export function missingTable(table: string, ddl: string): LayoutError {
  return new LayoutError(
    `Cannot use the table "${table}": it is not there; create it with the DDL of '${ddl}' from ` +
      `"@acemq/amqp/sql", or with 'createSchemaIfAbsent()' in development`,
  );
}

/** It has another layout than the one that is asked for. */
export function otherLayout(table: string, found: string, wanted: string): LayoutError {
  return new LayoutError(`Cannot use the table "${table}": it has the layout '${found}', and '${wanted}' is wanted`);
}

/** It has none that is known; `known` says what is, in a sentence of its own. */
export function unknownLayout(table: string, columns: readonly ColumnFacts[], known: string): LayoutError {
  const found = columns.map(({ name, type }) => `${name} ${type}`).join(", ");
  return new LayoutError(
    `Cannot use the table "${table}": its columns are those of no known layout. Found: ${found}. ${known}`,
  );
}
