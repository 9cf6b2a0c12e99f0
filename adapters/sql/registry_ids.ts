/**
 * Where new ids come from, while nobody else registers: the row of a counter, or the database's own numbers (contract patterns 6.4).
 *
 * @module
 */

import { LayoutError } from "../../src/errors.ts";
import type { SqlRow } from "../../src/ports/sql_session.ts";
import { conflict, idAfter } from "../../src/schema/registration.ts";
import { type SqlDialect, tableName } from "./dialect.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import { counterTable } from "./registry_schema.ts";
import { readInteger } from "./values.ts";

/** Runs one statement of a transaction. */
export type Ask = (fragment: Fragment) => Promise<readonly SqlRow[]>;

/** Ids of one transaction. */
export interface RegistryIds {
  /** The next one, where the highest that stands is known; undefined: the database gives it with the row. */
  next(highest: number): Promise<number | undefined>;
  /** Ids up to this one are given: nobody is to give them again. */
  raise(to: number): Promise<void>;
}

/** What ids are of. */
export interface RegistryIdsOf {
  readonly table: string;
  readonly dialect: SqlDialect;
  /** Whether the counter's row is made with the first schema. */
  readonly isLazy: boolean;
}

/**
 * Waits until nobody else registers, in any language: they all change the same row first, and until this transaction ends, none of
 * them can.
 */
export async function counterIds(ask: Ask, { table, dialect, isLazy }: RegistryIdsOf): Promise<RegistryIds> {
  const counter = tableName(counterTable(table));
  const locked = dialect.name === "postgres" ? raw(" FOR UPDATE") : raw("");
  const read = async (): Promise<number | undefined> => {
    const [row] = await ask(sql`SELECT last_id FROM ${counter} WHERE only_row = 1${locked}`);
    return row === undefined ? undefined : readInteger(row["last_id"]);
  };
  const seen = await read();
  if (seen === undefined && isLazy) {
    await ask(sql`INSERT INTO ${counter} (only_row, last_id) VALUES (1, 0) ON CONFLICT DO NOTHING`);
  }
  const last = seen ?? await read();
  if (last === undefined) throw noCounter(table);
  const raise = async (to: number): Promise<void> =>
    void await ask(sql`UPDATE ${counter} SET last_id = ${to} WHERE only_row = 1 AND last_id < ${to}`);
  return {
    raise,
    next: async (highest) => {
      if (highest === 0 && last > 0) throw emptied(table, last);
      const id = idAfter(Math.max(last, highest));
      await raise(id);
      return id;
    },
  };
}

/** The same for a table whose column counts by itself: on PostgreSQL by a sequence, which an id that was given does not move. */
export async function columnIds(ask: Ask, { table, dialect }: RegistryIdsOf): Promise<RegistryIds> {
  if (dialect.name === "sqlite") {
    return {
      next: async (highest) => void idAfter(highest),
      raise: async () => {},
    };
  }
  // What others insert waits for the end of this transaction, and takes its number then.
  await ask(sql`LOCK TABLE ${tableName(table)} IN SHARE ROW EXCLUSIVE MODE`);
  const sequence = sql`pg_get_serial_sequence(${table}::text, 'id')`;
  const moved = async (to: number): Promise<number> => {
    const [row] = await ask(sql`SELECT setval(${sequence}, greatest(nextval(${sequence}), ${to}::bigint)) AS id`);
    if (row?.["id"] !== null && row?.["id"] !== undefined) return readInteger(row["id"]);
    throw new LayoutError(
      `Cannot register schemas in the table "${table}": its column 'id' has no sequence of its own`,
    );
  };
  return {
    next: async (highest) => await moved(idAfter(highest)),
    raise: async (to) => void await moved(to),
  };
}

function noCounter(table: string): LayoutError {
  const counter = counterTable(table);
  return new LayoutError(
    `Cannot register schemas in the table "${table}": "${counter}" must have one row, with the highest id there ever was, found none; ` +
      `where no id was given yet, it is made by: INSERT INTO ${counter} (only_row, last_id) VALUES (1, 0)`,
  );
}

/** Whoever registers first would get an id that bodies have been written with, or another one than before. */
function emptied(table: string, last: number): Error {
  return conflict(
    `Cannot register a schema under the next id: the table "${table}" is empty, though ids up to ${last} were given; ` +
      `bring back what stood there with 'importSchemas', or register under ids of your own`,
  );
}
