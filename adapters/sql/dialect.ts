/**
 * What differs between the databases, as data: another one is one more value of {@linkcode SqlDialect}.
 *
 * @module
 */

import { type Fragment, raw, sql } from "./fragment.ts";

/** A column as the database describes it. */
export interface ColumnFacts {
  /** Lower case. */
  readonly name: string;
  /** The declared type, lower case. */
  readonly type: string;
}

/** One database engine. */
export interface SqlDialect {
  /** How the engine is called. */
  readonly name: "postgres" | "sqlite";
  /** The placeholder of the parameter with this number, from 1. */
  placeholder(number: number): string;
  /** Gives a table's columns as `name` and `type`; no row for a table that is not there. */
  columnsOf(table: string): Fragment;
  /** Whether a value is one of those in a JSON list of texts: however many they are, the statement has one text. */
  isListed(value: Fragment, list: string): Fragment;
  /** The same for the single column a query gives. */
  isAmong<Facts>(value: Fragment<Facts>, query: Fragment<Facts>): Fragment<Facts>;
  /** JSON objects in a list as rows, by the names and kinds of their members. */
  rowsOf(list: string, members: Readonly<Record<string, "text" | "number">>): Fragment;
  /** Parameters of one statement. */
  readonly mostParameters: number;
  /** Put behind a query for rows to remove, so that two purges do not wait for each other. */
  readonly skipLocked: string;
}

/** Throws a `RangeError` for the name of another database. */
export function assertDatabase(database: SqlDialect["name"]): void {
  if (database === "postgres" || database === "sqlite") return;
  throw new RangeError(
    `Cannot write a schema: the database must be "postgres" or "sqlite", not ${JSON.stringify(database)}`,
  );
}

/** PostgreSQL. The table is found along the search path, as a statement would find it. */
export function postgresDialect(): SqlDialect {
  return {
    name: "postgres",
    placeholder: (number) => `$${number}`,
    columnsOf: (table) =>
      sql`SELECT a.attname AS name, lower(format_type(a.atttypid, NULL)) AS type FROM pg_attribute a
        WHERE a.attrelid = to_regclass(${table}) AND a.attnum > 0 AND NOT a.attisdropped`,
    // An array that is made before the rows are looked for: then an index is used, whatever is known of the table.
    isListed: (value, list) => sql`${value} = ANY(ARRAY(SELECT json_array_elements_text(${list}::text::json)))`,
    isAmong: (value, query) => sql`${value} = ANY(ARRAY(${query}))`,
    rowsOf: (list, members) => {
      const types = Object.entries(members).map(([name, type]) => `${name} ${type === "text" ? "text" : "float8"}`);
      return sql`json_to_recordset(${list}::text::json) AS listed (${raw(types.join(", "))})`;
    },
    mostParameters: 65_533,
    skipLocked: " FOR UPDATE SKIP LOCKED",
  };
}

/** SQLite. */
export function sqliteDialect(): SqlDialect {
  return {
    name: "sqlite",
    placeholder: () => "?",
    columnsOf: (table) => {
      const [name, schema] = table.split(".").reverse();
      const of = schema === undefined ? sql`${name ?? ""}` : sql`${name ?? ""}, ${schema}`;
      return sql`SELECT name, lower(type) AS type FROM pragma_table_info(${of})`;
    },
    isListed: (value, list) => sql`${value} IN (SELECT value FROM json_each(${list}))`,
    isAmong: (value, query) => sql`${value} IN (${query})`,
    rowsOf: (list, members) => {
      const columns = Object.keys(members).map((name) => `json_extract(value, '$.${name}') AS ${name}`);
      return sql`(SELECT ${raw(columns.join(", "))} FROM json_each(${list})) AS listed`;
    },
    mostParameters: 32_766,
    skipLocked: "",
  };
}

/** Names that stand in statements as they are. */
const TABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}(?:\.[A-Za-z_][A-Za-z0-9_]{0,62})?$/;

/** A table's name for statements; refuses what is none. */
export function tableName(name: string): Fragment {
  if (typeof name === "string" && TABLE_NAME.test(name)) return raw(name);
  throw new RangeError(
    `Cannot use a table: 'table' must be a name of letters, digits and underscores, with a schema before it or not: current value is ${
      JSON.stringify(name)
    }`,
  );
}
