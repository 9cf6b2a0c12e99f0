/**
 * Which layout an outbox table has, by its columns and, on SQLite, by what stands in them (contract patterns 5.2).
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { type ColumnFacts, type SqlDialect, tableName } from "./dialect.ts";
import { raw, sql } from "./fragment.ts";
import { KEY_COLUMN, OUTBOX_COLUMNS, type OutboxLayoutName, SEQUENCE_COLUMN } from "./outbox_layout.ts";
import { askOn, columnFacts, missingTable, otherLayout, unknownLayout } from "./table_facts.ts";

/** What is known of a table before its layout is. */
export interface OutboxFacts {
  readonly columns: readonly ColumnFacts[];
  /** On SQLite: when a row of it was created, as it stands there. */
  readonly sample?: unknown;
}

/** A layout, as it is found. */
export interface DetectedOutbox {
  readonly layout: OutboxLayoutName;
  readonly hasKeys: boolean;
  readonly hasSequence: boolean;
  readonly sample: unknown;
}

/** What is asked for. */
export interface OutboxWanted {
  readonly table: string;
  readonly dialect: SqlDialect;
  readonly wanted?: OutboxLayoutName | undefined;
}

/** Types of columns on PostgreSQL that tell a layout from one that is only called so. */
const TYPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ruby: { created_at: "timestamp with time zone", locked_until: "timestamp with time zone", body: "text" },
  java: { created_at: "timestamp with time zone", locked_until: "timestamp with time zone", payload: "text" },
  python: { created_at: "bigint", body: "bytea" },
  go: { created_at: "timestamp without time zone", body: "bytea" },
  dotnet: {
    created_at: "timestamp without time zone",
    leased_until: "timestamp without time zone",
    published: "integer",
  },
};

function knownColumns(): string {
  const known = Object.entries(OUTBOX_COLUMNS).map(([layout, { names }]) => `${layout}: ${names.join(", ")}`);
  return `Known: ${known.join("; ")}`;
}

/** Asks the database about a table. Rejects with a {@linkcode LayoutError}, or as the driver does. */
export async function detectOutbox(session: SqlSession, wanted: OutboxWanted): Promise<DetectedOutbox> {
  return decideOutbox(await outboxFacts(session, wanted), wanted);
}

/** What the database says of a table; no columns where it is not there. */
export async function outboxFacts(session: SqlSession, { table, dialect }: OutboxWanted): Promise<OutboxFacts> {
  const ask = askOn(session, dialect);
  const columns = await columnFacts(ask, dialect, table);
  if (dialect.name === "postgres" || !has(columns, "created_at")) return { columns };
  const [row] = await ask(sql`SELECT created_at FROM ${tableName(table)} ORDER BY rowid DESC LIMIT ${raw("1")}`);
  return { columns, sample: row?.["created_at"] };
}

/** The layout these facts are of. */
export function decideOutbox(
  { columns, sample }: OutboxFacts,
  { table, dialect, wanted }: OutboxWanted,
): DetectedOutbox {
  if (columns.length === 0) throw missingTable(table, `outboxSchemaSql("${dialect.name}")`);
  const found = foreignLayout(columns, dialect);
  if (found === undefined) throw unknownLayout(table, columns, knownColumns());
  const hasKeys = found === "ruby" && has(columns, KEY_COLUMN);
  const hasSequence = dialect.name === "sqlite" || has(columns, SEQUENCE_COLUMN);
  const layout = hasKeys && hasSequence ? "typescript" : found;
  if (wanted === undefined || wanted === layout || (wanted === "ruby" && layout === "typescript")) {
    return { layout, hasKeys, hasSequence, sample };
  }
  throw otherLayout(table, layout, wanted);
}

function foreignLayout(columns: readonly ColumnFacts[], { name }: SqlDialect): keyof typeof OUTBOX_COLUMNS | undefined {
  const layouts = Object.keys(OUTBOX_COLUMNS) as (keyof typeof OUTBOX_COLUMNS)[];
  const found = layouts.find((layout) => OUTBOX_COLUMNS[layout].names.every((column) => has(columns, column)));
  if (found === undefined || name === "sqlite") return found;
  const isAsTyped = Object.entries(TYPES[found] ?? {}).every(([column, type]) => typeOf(columns, column) === type);
  return isAsTyped ? found : undefined;
}

function has(columns: readonly ColumnFacts[], name: string): boolean {
  return columns.some((column) => column.name === name);
}

function typeOf(columns: readonly ColumnFacts[], name: string): string | undefined {
  return columns.find((column) => column.name === name)?.type;
}
