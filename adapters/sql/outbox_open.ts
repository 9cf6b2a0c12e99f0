/**
 * From what was found in the database to the table a store uses.
 *
 * @module
 */

import { type SqlDialect, tableName } from "./dialect.ts";
import {
  type Instants,
  postgresMillis,
  sqliteGoText,
  sqliteMicrosText,
  sqliteMillis,
  sqliteSpacedText,
  timestampInUtc,
  timestampWithZone,
} from "./instants.ts";
import type { DetectedOutbox } from "./outbox_detect.ts";
import { outboxFormat } from "./outbox_format.ts";
import { outboxColumns, type OutboxLayoutName } from "./outbox_layout.ts";
import { DeleteTable } from "./outbox_delete_table.ts";
import { LeaseTable } from "./outbox_lease_table.ts";
import { outboxOrderingSql } from "./outbox_schema.ts";
import type { OutboxTable } from "./outbox_table.ts";

/** What the table is called, and how it is used. */
export interface OpenOptions {
  readonly table: string;
  readonly dialect: SqlDialect;
  readonly dropHeaders: boolean;
}

/** Makes the table. */
export function openOutbox(detected: DetectedOutbox, { table, dialect, dropHeaders }: OpenOptions): OutboxTable {
  const { layout, hasKeys, sample } = detected;
  const columns = outboxColumns(layout);
  const target = {
    layout,
    name: table,
    table: tableName(table),
    columns,
    format: outboxFormat(columns, { dialect, dropHeaders }),
    dialect,
    instants: instantsOf(layout, dialect, sample),
    unordered: unorderedBecause(detected, table, dialect),
  };
  if (columns.published === "deleted") {
    return new DeleteTable({
      ...target,
      leaseInstants: dialect.name === "postgres" ? timestampWithZone() : sqliteMillis(),
    });
  }
  // Java's driver writes instants to SQLite as texts of varying width, which do not sort.
  return new LeaseTable({ ...target, hasKeys, byRowid: layout === "java" && dialect.name === "sqlite" });
}

/** How the columns of a layout hold an instant. */
function instantsOf(layout: OutboxLayoutName, dialect: SqlDialect, sample: unknown): Instants {
  const isPostgres = dialect.name === "postgres";
  switch (layout) {
    case "python":
      return isPostgres ? postgresMillis() : sqliteMillis();
    case "go":
      return isPostgres ? timestampInUtc() : sqliteGoText(sample);
    case "dotnet":
      return isPostgres ? timestampInUtc() : sqliteSpacedText("");
    case "java":
      return isPostgres ? timestampWithZone() : javaInstants(sample);
    default:
      return isPostgres ? timestampWithZone() : sqliteMicrosText();
  }
}

/** Java's driver binds an instant as an integer, or as a text. */
function javaInstants(sample: unknown): Instants {
  return typeof sample === "string" ? sqliteSpacedText("Z") : sqliteMillis();
}

function unorderedBecause(
  { layout, hasKeys, hasSequence }: DetectedOutbox,
  table: string,
  { name }: SqlDialect,
): string | undefined {
  if (layout === "typescript") return undefined;
  if (layout !== "ruby") return `the layout '${layout}' has no column for an ordering key`;
  const missing = outboxOrderingSql(name, { table }).filter((statement) =>
    !(hasKeys && statement.includes("ADD COLUMN ordering_key")) &&
    !(hasSequence && statement.includes("ADD COLUMN seq"))
  );
  return `the table has no column for it; add what is missing: ${missing.join("; ")}`;
}
