/**
 * Which layout a table of schemas has, by its columns (contract patterns 6.3).
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { type ColumnFacts, type SqlDialect, tableName } from "./dialect.ts";
import { sql } from "./fragment.ts";
import type { Instants } from "./instants.ts";
import { REGISTRY_COLUMNS, REGISTRY_LAYOUTS, registryInstants, type RegistryLayoutName } from "./registry_layout.ts";
import { askOn, columnFacts, missingTable, otherLayout, unknownLayout } from "./table_facts.ts";

/** What is asked for. */
export interface RegistryWanted {
  readonly table: string;
  readonly dialect: SqlDialect;
  readonly wanted?: RegistryLayoutName | undefined;
}

/** A layout, and how its times are held. */
export interface DetectedRegistry {
  readonly layout: RegistryLayoutName;
  readonly instants: Instants;
}

function knownColumns(): string {
  const known = REGISTRY_LAYOUTS.map((layout) => `${layout}: ${REGISTRY_COLUMNS[layout].columns.join(", ")}`);
  return `Known: ${known.join("; ")}`;
}

/** Asks the database about a table. Rejects with a {@linkcode LayoutError}, or as the driver does. */
export async function detectRegistry(session: SqlSession, wanted: RegistryWanted): Promise<DetectedRegistry> {
  const { table, dialect } = wanted;
  const ask = askOn(session, dialect);
  const layout = decideRegistry(await columnFacts(ask, dialect, table), wanted);
  // Two drivers of Go write times their own way; a new row is written as those that stand.
  const isSampled = layout === "go" && dialect.name === "sqlite";
  const [row] = isSampled ? await ask(sql`SELECT registered_at FROM ${tableName(table)} ORDER BY id DESC LIMIT 1`) : [];
  return { layout, instants: registryInstants(layout, dialect, row?.["registered_at"]) };
}

/** The layout these columns are of. */
export function decideRegistry(columns: readonly ColumnFacts[], wanted: RegistryWanted): RegistryLayoutName {
  const { table, dialect } = wanted;
  if (columns.length === 0) throw missingTable(table, `registrySchemaSql("${dialect.name}")`);
  const found = REGISTRY_LAYOUTS.find((layout) => isOf(layout, columns, dialect));
  if (found === undefined) throw unknownLayout(table, columns, knownColumns());
  if (wanted.wanted === undefined || wanted.wanted === found) return found;
  throw otherLayout(table, found, wanted.wanted);
}

function isOf(layout: RegistryLayoutName, columns: readonly ColumnFacts[], { name }: SqlDialect): boolean {
  const { columns: names, registered } = REGISTRY_COLUMNS[layout];
  if (!names.every((wanted) => columns.some((column) => column.name === wanted))) return false;
  const type = columns.find((column) => column.name === "registered_at")?.type;
  if (name === "postgres") return type === registered;
  // There, types are words: Python's integers are told from Go's texts by them, and nothing else has to be.
  if (layout === "python") return /int/.test(type ?? "");
  return layout !== "dotnet" || type === undefined;
}
