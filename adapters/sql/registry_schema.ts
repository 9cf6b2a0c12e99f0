/**
 * The tables of schemas as text, for migration tools (contract patterns 6.3).
 *
 * @module
 */

import { assertOneOf } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { assertDatabase, type SqlDialect, tableName } from "./dialect.ts";
import {
  defaultRegistryLayout,
  REGISTRY_COLUMNS,
  REGISTRY_LAYOUTS,
  type RegistryLayoutName,
} from "./registry_layout.ts";

/** What table is wanted. */
export interface RegistrySchemaOptions {
  /**
   * A name of letters, digits and underscores, with a schema before it or not.
   *
   * @default {the layout's: "acemq_schema_registry", for Go "acemq_schemas"}
   */
  readonly table?: string;
  /**
   * Whose layout: of the language that shares the table. Those of Java and .NET are created by their own libraries, as schemas are
   * registered there by them alone.
   *
   * @default {"ruby" on PostgreSQL, "python" on SQLite}
   */
  readonly layout?: RegistryLayoutName;
}

const KINDS: Readonly<OptionKinds<RegistrySchemaOptions>> = { table: "checked", layout: "checked" };

/**
 * The statements that create a registry of schemas, in order: the table, what keeps a schema from standing twice, and where the layout
 * has one, the counter that ids come from. What is there is left alone.
 *
 * @throws {RangeError} a table name that is none, an unknown database, a layout of Java or .NET
 * @throws {TypeError} an option that there is not, or an unknown layout
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { registrySchemaSql } from "@acemq/amqp/sql";
 *
 * const [table, unique, counter] = registrySchemaSql("postgres");
 * assert.match(table ?? "", /CREATE TABLE IF NOT EXISTS acemq_schema_registry/);
 * assert.match(unique ?? "", /CREATE UNIQUE INDEX .+ \(subject, fingerprint\)/);
 * assert.match(counter ?? "", /CREATE TABLE IF NOT EXISTS acemq_schema_registry_seq/);
 * ```
 */
export function registrySchemaSql(
  database: SqlDialect["name"],
  options: RegistrySchemaOptions = {},
): readonly string[] {
  assertOptions("a table of schemas", options, KINDS);
  assertDatabase(database);
  const { layout = defaultRegistryLayout(database) } = options;
  assertOneOf("layout", layout, REGISTRY_LAYOUTS);
  const { table = REGISTRY_COLUMNS[layout].table } = options;
  tableName(table);
  if (layout === "ruby") return ruby(table, database);
  if (layout === "python") return python(table);
  if (layout === "go") return go(table, database);
  throw new RangeError(
    `Cannot write a schema: 'layout' must be ruby, python or go, as the library of '${layout}' creates its own, found ${layout}`,
  );
}

/** The table whose one row holds the last id. */
export function counterTable(table: string): string {
  const name = `${table}_seq`;
  tableName(name);
  return name;
}

const COMMON: readonly string[] = [
  "format VARCHAR(32) NOT NULL",
  "definition TEXT NOT NULL",
  "fingerprint VARCHAR(64) NOT NULL",
];

function ruby(table: string, database: SqlDialect["name"]): readonly string[] {
  const plainName = table.split(".").at(-1);
  const schema = database === "sqlite" && table.includes(".") ? `${table.split(".")[0]}.` : "";
  const columns = [
    "id INTEGER PRIMARY KEY",
    "subject VARCHAR(255) NOT NULL",
    "schema_version INTEGER NOT NULL",
    ...COMMON,
    "registered_at TIMESTAMP WITH TIME ZONE NOT NULL",
  ];
  const counter = counterTable(table);
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (${columns.join(", ")})`,
    `CREATE UNIQUE INDEX IF NOT EXISTS ${schema}${plainName}_fingerprint ON ${
      schema === "" ? table : plainName
    } (subject, fingerprint)`,
    `CREATE TABLE IF NOT EXISTS ${counter} (only_row INTEGER PRIMARY KEY, last_id INTEGER NOT NULL)`,
    `INSERT INTO ${counter} (only_row, last_id) VALUES (1, 0) ON CONFLICT DO NOTHING`,
  ];
}

/** Python's library makes the row of the counter with the first schema. */
function python(table: string): readonly string[] {
  const columns = [
    "id INTEGER NOT NULL PRIMARY KEY",
    "subject VARCHAR(255) NOT NULL",
    "version INTEGER NOT NULL",
    ...COMMON,
    "registered_at BIGINT NOT NULL",
    "UNIQUE (subject, fingerprint)",
    "UNIQUE (subject, version)",
  ];
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (${columns.join(", ")})`,
    `CREATE TABLE IF NOT EXISTS ${
      counterTable(table)
    } (only_row INTEGER NOT NULL PRIMARY KEY, last_id INTEGER NOT NULL)`,
  ];
}

function go(table: string, database: SqlDialect["name"]): readonly string[] {
  const columns = [
    database === "sqlite" ? "id INTEGER PRIMARY KEY AUTOINCREMENT" : "id SERIAL PRIMARY KEY",
    "subject VARCHAR(255) NOT NULL",
    "version INTEGER NOT NULL",
    "format VARCHAR(64) NOT NULL",
    "definition TEXT NOT NULL",
    "fingerprint VARCHAR(64) NOT NULL",
    "registered_at TIMESTAMP NOT NULL",
    "UNIQUE (subject, fingerprint)",
  ];
  return [`CREATE TABLE IF NOT EXISTS ${table} (${columns.join(", ")})`];
}
