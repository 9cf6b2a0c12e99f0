/**
 * The layouts a table of schemas may have, and how each is told (contract patterns 6.3).
 *
 * @module
 */

import type { SqlDialect } from "./dialect.ts";
import { type Fragment, raw, sql } from "./fragment.ts";
import {
  type Instants,
  postgresMillis,
  sqliteGoText,
  sqliteMillis,
  sqliteText,
  timestampInUtc,
  timestampWithZone,
} from "./instants.ts";

/** A layout, named after the language whose library has made it. */
export type RegistryLayoutName = "ruby" | "python" | "go" | "java" | "dotnet";

/** Every layout. */
export const REGISTRY_LAYOUTS: readonly RegistryLayoutName[] = ["ruby", "python", "go", "java", "dotnet"];

/** What is true of a layout. */
export interface RegistryLayout {
  /** In the order the library of the language has them. */
  readonly columns: readonly string[];
  /** The column of the version; undefined: the place in the order of the ids. */
  readonly version: string | undefined;
  /** The type of `registered_at` on PostgreSQL; undefined where there is no such column. */
  readonly registered: string | undefined;
  /** The name of the table, where nobody gives another. */
  readonly table: string;
  /**
   * Where ids come from: a row of a second table, or the database's own numbers. Undefined: a schema is told by a fingerprint of
   * another formula there, so that none is registered here (contract patterns 6.6).
   */
  readonly ids: "counter" | "column" | undefined;
}

/** By name. Whose columns are those of another one, and more, comes first. */
export const REGISTRY_COLUMNS: Readonly<Record<RegistryLayoutName, RegistryLayout>> = {
  ruby: {
    columns: ["id", "subject", "schema_version", "format", "definition", "fingerprint", "registered_at"],
    version: "schema_version",
    registered: "timestamp with time zone",
    table: "acemq_schema_registry",
    ids: "counter",
  },
  python: {
    columns: ["id", "subject", "version", "format", "definition", "fingerprint", "registered_at"],
    version: "version",
    registered: "bigint",
    table: "acemq_schema_registry",
    ids: "counter",
  },
  go: {
    columns: ["id", "subject", "version", "format", "definition", "fingerprint", "registered_at"],
    version: "version",
    registered: "timestamp without time zone",
    table: "acemq_schemas",
    ids: "column",
  },
  java: {
    columns: ["id", "fingerprint", "format", "subject", "definition", "registered_at"],
    version: undefined,
    registered: "timestamp with time zone",
    table: "acemq_schema_registry",
    ids: undefined,
  },
  dotnet: {
    columns: ["id", "fingerprint", "format", "subject", "definition"],
    version: undefined,
    registered: undefined,
    table: "acemq_schema",
    ids: undefined,
  },
};

/** The layout a table is created with, where nobody asks for another. */
export function defaultRegistryLayout(database: SqlDialect["name"]): RegistryLayoutName {
  return database === "postgres" ? "ruby" : "python";
}

/** How the times of a layout are held; `sample` is one that stands there. */
export function registryInstants(layout: RegistryLayoutName, dialect: SqlDialect, sample: unknown): Instants {
  const isPostgres = dialect.name === "postgres";
  switch (layout) {
    case "python":
      return isPostgres ? postgresMillis() : sqliteMillis();
    case "go":
      return isPostgres ? timestampInUtc() : sqliteGoText(sample);
    default:
      return isPostgres ? timestampWithZone() : sqliteText();
  }
}

/** The value of `registered_at` for a given moment; on SQLite it is written as one that is now. */
export function registryInstant(layout: RegistryLayoutName, ms: number): Fragment {
  if (layout === "python") return sql`${ms}::bigint`;
  const instant = sql`to_timestamp(${ms}::float8 / 1000)`;
  return layout === "go" ? sql`${instant}${raw(" AT TIME ZONE 'UTC'")}` : instant;
}
