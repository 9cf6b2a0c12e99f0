/**
 * The tables of an outbox as text, for migration tools (contract patterns 5.2, 5.7).
 *
 * @module
 */

import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { assertDatabase, type SqlDialect, tableName } from "./dialect.ts";
import type { OutboxLayoutName } from "./outbox_layout.ts";

/** What table is wanted. */
export interface OutboxSchemaOptions {
  /** A name of letters, digits and underscores, with a schema before it or not. @default {"acemq_outbox"} */
  readonly table?: string;
  /** Whose layout: of the language that shares the table. @default {"typescript"} */
  readonly layout?: OutboxLayoutName;
}

const KINDS: Readonly<OptionKinds<OutboxSchemaOptions>> = { table: "checked", layout: "checked" };

/** A table, and what stands beside it. */
interface Schema {
  readonly columns: readonly string[];
  /** What the index is called behind the table's name, and what it is on. */
  readonly indexes: readonly (readonly [suffix: string, on: string])[];
}

type Database = SqlDialect["name"];

/**
 * Says of a row of ours that it was not published: of the few that statements look at which need all of them, however many published
 * ones are kept.
 *
 * PostgreSQL would estimate the number of NULLs by the last time it analysed the table, when there was hardly one, and read and sort the
 * whole of a backlog for each claim. Of a function it knows nothing, and takes one row in two hundred for granted.
 */
export function isUnpublished(database: Database): string {
  return database === "postgres" ? "num_nulls(published_at) = 1" : "published_at IS NULL";
}

/**
 * The same where the first few of them are wanted, in the order of their sequence. PostgreSQL takes it for granted that every row fits,
 * so it begins with the first entry of the index; were there few, it would read them all, and sort.
 */
export function isInLine(database: Database): string {
  return database === "postgres" ? "num_nulls(published_at) <> 0" : isUnpublished(database);
}

/** Bytes of a name in PostgreSQL. */
const LONGEST_NAME = 63;

/**
 * A claim writes the whole row once more. Where its page has room for that, PostgreSQL leaves the indexes alone; without it, the drain of
 * ten thousand rows takes half as much of its time again, and five times the log.
 */
const ROOM_FOR_CLAIMS = " WITH (fillfactor = 50)";

/** Rows without a key share one. */
export const ORDERING_KEY = "coalesce(ordering_key, '')";

/**
 * The statements that create an outbox, in order: the table, then what stands beside it. All are left alone when they are there.
 *
 * Ours is Ruby's table with `ordering_key`, with `seq` on PostgreSQL, and with two indexes of the rows that were not published. The
 * tables of Python and Go have no place for a lease; a table beside theirs has it.
 *
 * @throws {RangeError} a table name that is none, an unknown database or layout
 * @throws {TypeError} an option that there is not
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { outboxSchemaSql } from "@acemq/amqp/sql";
 *
 * const [table, ...indexes] = outboxSchemaSql("postgres");
 * assert.match(table ?? "", /CREATE TABLE IF NOT EXISTS acemq_outbox/);
 * assert.equal(indexes.length, 3);
 * ```
 */
export function outboxSchemaSql(database: SqlDialect["name"], options: OutboxSchemaOptions = {}): readonly string[] {
  assertDatabase(database);
  assertOptions("a table of an outbox", options, KINDS);
  const { table = "acemq_outbox", layout = "typescript" } = options;
  tableName(table);
  const { columns, indexes } = schemaOf(layout, database);
  const room = database === "postgres" && layout === "typescript" ? ROOM_FOR_CLAIMS : "";
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (${columns.join(", ")})${room}`,
    ...indexes.map(([suffix, on]) => indexSql(database, table, suffix, on)),
    ...layout === "python" || layout === "go" ? [outboxLeasesSql(database, table)] : [],
  ];
}

/**
 * The statements that give a table of Ruby's what the mode `in_order` needs, and claims that stay as quick with many published rows
 * kept. Ruby's own statements name their columns, and go on as before.
 *
 * @throws {RangeError} a table name that is none, an unknown database
 * @throws {TypeError} an option that there is not
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { outboxOrderingSql } from "@acemq/amqp/sql";
 *
 * assert.equal(outboxOrderingSql("sqlite")[0], "ALTER TABLE acemq_outbox ADD COLUMN ordering_key VARCHAR(255) NULL");
 * ```
 */
export function outboxOrderingSql(
  database: SqlDialect["name"],
  options: Pick<OutboxSchemaOptions, "table"> = {},
): readonly string[] {
  assertDatabase(database);
  assertOptions<typeof options>("the order of an outbox", options, { table: "checked" });
  const { table = "acemq_outbox" } = options;
  tableName(table);
  return [
    ...addedColumns(database).map((column) => `ALTER TABLE ${table} ADD COLUMN ${column}`),
    ...addedIndexes(database).map(([suffix, on]) => indexSql(database, table, suffix, on)),
  ];
}

/** The table of leases beside one that has no place for them. */
export function outboxLeasesSql(database: Database, table: string): string {
  const instant = database === "postgres" ? "TIMESTAMP WITH TIME ZONE" : "BIGINT";
  return `CREATE TABLE IF NOT EXISTS ${leasesOf(table)} (id VARCHAR(255) NOT NULL PRIMARY KEY, ` +
    `locked_by VARCHAR(64), locked_until ${instant})`;
}

/** What it is called. */
export function leasesOf(table: string): string {
  return `${table}_leases`;
}

function indexSql(database: Database, table: string, suffix: string, on: string): string {
  const [name, schema] = table.split(".").reverse();
  const isQualified = database === "sqlite" && schema !== undefined;
  // PostgreSQL would cut the end off, and two indexes would have one name.
  const index = `${name?.slice(0, LONGEST_NAME - suffix.length - 1)}_${suffix}`;
  return `CREATE INDEX IF NOT EXISTS ${isQualified ? `${schema}.` : ""}${index} ON ${isQualified ? name : table} ${on}`;
}

function schemaOf(layout: OutboxLayoutName, database: Database): Schema {
  switch (layout) {
    case "typescript":
      return {
        columns: [...leased(textColumns()), ...addedColumns(database)],
        indexes: [["pending", "(published_at, created_at)"], ...addedIndexes(database)],
      };
    case "ruby":
      return { columns: leased(textColumns()), indexes: [["pending", "(published_at, created_at)"]] };
    case "java":
      return {
        columns: leased(envelopeColumns("exchange_name", "message_type")),
        indexes: [["pending", "(published_at, created_at)"]],
      };
    case "python":
      return {
        columns: bytesColumns(database, "exchange_name", "VARCHAR(64)", "BIGINT"),
        indexes: [["pending", "(created_at)"]],
      };
    case "go":
      return {
        columns: bytesColumns(database, "exchange", "VARCHAR(255)", "TIMESTAMP"),
        indexes: [["created_at", "(created_at)"]],
      };
    case "dotnet":
      return {
        columns: [
          ...envelopeColumns("exchange", "type"),
          "created_at TIMESTAMP NOT NULL",
          "attempts INTEGER NOT NULL DEFAULT 0",
          "last_error TEXT",
          "published INTEGER NOT NULL DEFAULT 0",
          "leased_until TIMESTAMP",
        ],
        indexes: [["pending", "(published, leased_until, created_at)"]],
      };
    default:
      throw new RangeError(
        `Cannot write a schema for ${database}: 'layout' must be typescript, ruby, java, python, go or dotnet, not ${
          JSON.stringify(layout)
        }`,
      );
  }
}

/** What our layout has beyond Ruby's. */
function addedColumns(database: Database): readonly string[] {
  const key = "ordering_key VARCHAR(255) NULL";
  return database === "postgres" ? [key, "seq BIGINT GENERATED BY DEFAULT AS IDENTITY"] : [key];
}

/** In SQLite, entries of an index that are the same are in the order of the rowid. */
function addedIndexes(database: Database): Schema["indexes"] {
  const [all, keys] = database === "postgres"
    ? ["(seq)", `((${ORDERING_KEY}), seq)`]
    : ["(published_at)", `(${ORDERING_KEY})`];
  return [
    ["unpublished", `${all} WHERE ${isInLine(database)}`],
    ["unpublished_keys", `${keys} WHERE ${isUnpublished(database)}`],
  ];
}

function head(exchange: string, id = "VARCHAR(64)"): readonly string[] {
  return [`id ${id} NOT NULL PRIMARY KEY`, `${exchange} VARCHAR(255) NOT NULL`, "routing_key VARCHAR(255) NOT NULL"];
}

function textColumns(): readonly string[] {
  return [
    ...head("exchange_name"),
    "body TEXT NOT NULL",
    "body_encoding VARCHAR(16) NOT NULL",
    "content_type VARCHAR(255) NOT NULL",
    "headers TEXT NOT NULL",
  ];
}

function envelopeColumns(exchange: string, type: string): readonly string[] {
  return [
    ...head(exchange),
    `${type} VARCHAR(255) NOT NULL`,
    "payload TEXT NOT NULL",
    "correlation_id VARCHAR(64)",
    "causation_id VARCHAR(64)",
  ];
}

function bytesColumns(database: Database, exchange: string, id: string, instant: string): readonly string[] {
  return [
    ...head(exchange, id),
    `body ${database === "postgres" ? "BYTEA" : "BLOB"} NOT NULL`,
    "content_type VARCHAR(255) NOT NULL",
    "headers TEXT NOT NULL",
    `created_at ${instant} NOT NULL`,
    "attempts INTEGER NOT NULL DEFAULT 0",
    "last_error TEXT",
  ];
}

function leased(columns: readonly string[]): readonly string[] {
  const instant = "TIMESTAMP WITH TIME ZONE";
  return [
    ...columns,
    `created_at ${instant} NOT NULL`,
    `published_at ${instant}`,
    "attempts INTEGER NOT NULL DEFAULT 0",
    "last_error VARCHAR(1000)",
    "locked_by VARCHAR(64)",
    `locked_until ${instant}`,
  ];
}
