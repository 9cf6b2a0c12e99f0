/**
 * Which layout a table of claims has, by its columns and, on SQLite, by what stands in them (contract patterns 4.5, 4.6).
 *
 * @module
 */

import { LayoutError } from "../../src/errors.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { type ColumnFacts, type SqlDialect, tableName } from "./dialect.ts";
import { flagLayout } from "./flag_layout.ts";
import { raw, sql } from "./fragment.ts";
import type { IdempotencyLayout, IdempotencyLayoutName, IdempotencyTimes } from "./idempotency_layout.ts";
import {
  type Instants,
  postgresMillis,
  sqliteGoText,
  sqliteMillis,
  sqliteSpacedText,
  sqliteText,
  timestampInUtc,
  timestampWithZone,
} from "./instants.ts";
import { ownerLayout } from "./owner_layout.ts";
import { askOn, columnFacts, missingTable, otherLayout, unknownLayout } from "./table_facts.ts";

/** What is known of a table before its layout is. */
export interface TableFacts {
  readonly columns: readonly ColumnFacts[];
  /** On SQLite: the least and the greatest time in it, by kind. Integers come before texts, so two kinds are seen. */
  readonly least?: unknown;
  readonly greatest?: unknown;
}

/** A layout, and how its times are held. */
export interface DetectedLayout {
  readonly name: IdempotencyLayoutName;
  readonly instants: Instants;
}

const OWNER_COLUMNS = ["message_id", "state", "claimed_by", "recorded_at", "expires_at"] as const;
const GO_COLUMNS = ["key", "handled_at", "confirmed"] as const;
const DOTNET_COLUMNS = ["message_id", "claimed_at", "confirmed"] as const;

function wantedColumns(): string {
  return `Wanted: ${OWNER_COLUMNS.join(", ")} (Java, Ruby, Python), or ${GO_COLUMNS.join(", ")} (Go), or ${
    DOTNET_COLUMNS.join(", ")
  } (.NET)`;
}

/** The column that tells how times are held, by the columns a layout has. */
const TIME_COLUMNS: readonly (readonly [columns: readonly string[], time: string])[] = [
  [OWNER_COLUMNS, "expires_at"],
  [GO_COLUMNS, "handled_at"],
  [DOTNET_COLUMNS, "claimed_at"],
];

/** Asks the database about a table and makes the statements for it. Rejects with a {@linkcode LayoutError}, or as the driver does. */
export async function detectIdempotencyLayout(
  session: SqlSession,
  { table, dialect, wanted }: {
    readonly table: string;
    readonly dialect: SqlDialect;
    readonly wanted?: string | undefined;
  },
  times: IdempotencyTimes,
): Promise<IdempotencyLayout> {
  const { name, instants } = decideLayout(await factsOf(session, table, dialect), { table, dialect, wanted });
  const target = { table: tableName(table), dialect, instants };
  return name === "go" || name === "dotnet"
    ? flagLayout({ name, ...target }, times)
    : ownerLayout({ name, ...target }, times);
}

/** The layout these facts are of. */
export function decideLayout(
  facts: TableFacts,
  { table, dialect, wanted }: {
    readonly table: string;
    readonly dialect: SqlDialect;
    readonly wanted?: string | undefined;
  },
): DetectedLayout {
  if (facts.columns.length === 0) throw missingTable(table, `idempotencySchemaSql("${dialect.name}")`);
  const found = dialect.name === "postgres" ? onPostgres(facts.columns) : onSqlite(facts, table, wanted);
  if (found === undefined) throw unknownLayout(table, facts.columns, wantedColumns());
  if (wanted === undefined || wanted === found.name || isOneOnPostgres(wanted, found, dialect)) return found;
  throw otherLayout(table, found.name, wanted);
}

function isOneOnPostgres(wanted: string, { name }: DetectedLayout, dialect: SqlDialect): boolean {
  return dialect.name === "postgres" && ["java", "ruby"].includes(wanted) && ["java", "ruby"].includes(name);
}

async function factsOf(session: SqlSession, table: string, dialect: SqlDialect): Promise<TableFacts> {
  const ask = askOn(session, dialect);
  const columns = await columnFacts(ask, dialect, table);
  const time = timeColumn(columns);
  if (dialect.name === "postgres" || time === undefined) return { columns };
  const [row] = await ask(
    // Each by itself: of two in one question SQLite reads every row.
    sql`SELECT (SELECT min(${raw(time)}) FROM ${tableName(table)}) AS least,
      (SELECT max(${raw(time)}) FROM ${tableName(table)}) AS greatest`,
  );
  return { columns, least: row?.["least"] ?? undefined, greatest: row?.["greatest"] ?? undefined };
}

function timeColumn(columns: readonly ColumnFacts[]): string | undefined {
  const [match, second] = TIME_COLUMNS.filter(([names]) => hasAll(columns, names));
  return second === undefined ? match?.[1] : undefined;
}

function hasAll(columns: readonly ColumnFacts[], names: readonly string[]): boolean {
  return names.every((name) => columns.some((column) => column.name === name));
}

function onPostgres(columns: readonly ColumnFacts[]): DetectedLayout | undefined {
  const time = timeColumn(columns);
  const type = columns.find(({ name }) => name === time)?.type;
  const confirmed = columns.find(({ name }) => name === "confirmed")?.type;
  if (time === "expires_at" && type === "timestamp with time zone") {
    return { name: "java", instants: timestampWithZone() };
  }
  if (time === "expires_at" && type === "bigint") return { name: "python", instants: postgresMillis() };
  if (type !== "timestamp without time zone") return undefined;
  if (time === "handled_at" && confirmed === "boolean") return { name: "go", instants: timestampInUtc() };
  if (time === "claimed_at" && confirmed === "integer") return { name: "dotnet", instants: timestampInUtc() };
  return undefined;
}

/**
 * Java's driver binds an instant as an integer, or as a text of varying width: what stands in the table decides, and of one in which
 * nothing stands yet, what is wanted.
 */
function onSqlite(
  { columns, least, greatest }: TableFacts,
  table: string,
  wanted: string | undefined,
): DetectedLayout | undefined {
  const time = timeColumn(columns);
  if (time === undefined) return undefined;
  if (typeof least !== typeof greatest) throw mixed(table, time);
  const isNumber = typeof least === "number" || typeof least === "bigint";
  if (time === "handled_at") {
    return { name: "go", instants: sqliteGoText(least) };
  }
  if (time === "claimed_at") return { name: "dotnet", instants: sqliteSpacedText("") };
  const declared = columns.find(({ name }) => name === time)?.type;
  if (declared === "bigint") {
    if (least !== undefined && !isNumber) throw mixed(table, time);
    return { name: "python", instants: sqliteMillis() };
  }
  const isJava = isNumber || (least === undefined && wanted === "java");
  return isJava ? { name: "java", instants: sqliteMillis() } : { name: "ruby", instants: sqliteText() };
}

function mixed(table: string, column: string): LayoutError {
  return new LayoutError(
    `Cannot use the table "${table}": its column "${column}" holds integers and texts, which SQLite does not compare as times; ` +
      "one of the programs that write to it needs a table of its own",
  );
}
