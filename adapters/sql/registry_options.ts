/**
 * What a caller may say about a registry of schemas in a table.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { assertOneOf } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { REGISTRY_LAYOUTS, type RegistryLayoutName } from "./registry_layout.ts";

/** How a registry of schemas works. */
export interface SqlSchemaRegistryOptions {
  /**
   * A name of letters, digits and underscores, with a schema before it or not.
   *
   * @default {the layout's: "acemq_schema_registry", for Go "acemq_schemas", for .NET "acemq_schema"}
   */
  readonly table?: string;
  /** The layout the table must have, and is created with. Without it, the table's columns decide. */
  readonly layout?: RegistryLayoutName;
  /** Says on SQLite when a schema was registered, and how long is waited for locks; PostgreSQL has a clock of its own. @default {systemClock()} */
  readonly clock?: Clock;
}

const KINDS: Readonly<OptionKinds<SqlSchemaRegistryOptions>> = { table: "checked", layout: "checked", clock: "object" };

/** Throws for what is no option of a registry of schemas, or of the wrong kind; names are looked at where they are used. */
export function assertRegistryOptions(options: SqlSchemaRegistryOptions): void {
  assertOptions("a schema registry", options, KINDS);
  if (options.layout !== undefined) assertOneOf("layout", options.layout, REGISTRY_LAYOUTS);
}
