/**
 * The tables of claims as text, for migration tools (contract patterns 4.5).
 *
 * @module
 */

import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { assertDatabase, type SqlDialect, tableName } from "./dialect.ts";
import type { IdempotencyLayoutName } from "./idempotency_layout.ts";

/** What table is wanted. */
export interface IdempotencySchemaOptions {
  /** A name of letters, digits and underscores, with a schema before it or not. @default {"acemq_idempotency"} */
  readonly table?: string;
  /**
   * Whose layout: of the language that shares the table. Java's and Ruby's are one on PostgreSQL; on SQLite Ruby's holds texts that sort.
   *
   * @default {"java" on PostgreSQL, "ruby" on SQLite}
   */
  readonly layout?: IdempotencyLayoutName;
}

const KINDS: Readonly<OptionKinds<IdempotencySchemaOptions>> = { table: "checked", layout: "checked" };

interface Columns {
  readonly columns: readonly string[];
  /** The suffix of the index and the column it is on. */
  readonly index: readonly [suffix: string, column: string];
  /** What a claim is told by, where the end of it and that of a confirmation are not in one column: an index of its own finds them. */
  readonly isClaim?: string;
}

/**
 * The statements that create a table of claims, in order: the table, then its index; for the layouts of Go and .NET a second index, which
 * a purge finds the claims by. What is there is left alone.
 *
 * @throws {RangeError} a table name that is none, an unknown database or layout
 * @throws {TypeError} an option that there is not
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { idempotencySchemaSql } from "@acemq/amqp/sql";
 *
 * const [table, index] = idempotencySchemaSql("postgres");
 * assert.match(table ?? "", /CREATE TABLE IF NOT EXISTS acemq_idempotency/);
 * assert.match(index ?? "", /acemq_idempotency_expiry ON acemq_idempotency \(expires_at\)/);
 * ```
 */
export function idempotencySchemaSql(
  database: SqlDialect["name"],
  options: IdempotencySchemaOptions = {},
): readonly string[] {
  assertOptions("a table of claims", options, KINDS);
  assertDatabase(database);
  const { table = "acemq_idempotency", layout = database === "postgres" ? "java" : "ruby" } = options;
  tableName(table);
  const { columns, index: [suffix, column], isClaim } = columnsOf(layout, database);
  const plainName = table.split(".").at(-1);
  const schema = database === "sqlite" && table.includes(".") ? `${table.split(".")[0]}.` : "";
  const target = schema === "" ? table : plainName;
  const index = (name: string): string =>
    `CREATE INDEX IF NOT EXISTS ${schema}${plainName}_${name} ON ${target} (${column})`;
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (${columns.join(", ")})`,
    index(suffix),
    ...(isClaim === undefined ? [] : [`${index("claims")} WHERE ${isClaim}`]),
  ];
}

function columnsOf(layout: IdempotencyLayoutName, database: SqlDialect["name"]): Columns {
  const id = (name: string): string => `${name} VARCHAR(255) NOT NULL PRIMARY KEY`;
  switch (layout) {
    case "java":
    case "ruby":
      return owner(id("message_id"), "TIMESTAMP WITH TIME ZONE");
    case "python":
      return owner(id("message_id"), "BIGINT");
    case "go":
      return {
        columns: [id(`"key"`), "handled_at TIMESTAMP NOT NULL", "confirmed BOOLEAN NOT NULL DEFAULT FALSE"],
        index: ["handled_at", "handled_at"],
        isClaim: "confirmed = FALSE",
      };
    case "dotnet":
      return {
        columns: [id("message_id"), "claimed_at TIMESTAMP NOT NULL", "confirmed INTEGER NOT NULL DEFAULT 0"],
        index: ["claimed", "claimed_at"],
        isClaim: "confirmed = 0",
      };
    default:
      throw new RangeError(
        `Cannot write a schema for ${database}: 'layout' must be java, ruby, python, go or dotnet, not ${
          JSON.stringify(layout)
        }`,
      );
  }
}

function owner(id: string, instant: string): Columns {
  return {
    columns: [
      id,
      "state VARCHAR(16) NOT NULL",
      "claimed_by VARCHAR(64)",
      `recorded_at ${instant} NOT NULL`,
      `expires_at ${instant} NOT NULL`,
    ],
    index: ["expiry", "expires_at"],
  };
}
