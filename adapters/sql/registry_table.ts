/**
 * The statements for one table of schemas, by its layout, and what its rows say.
 *
 * @module
 */

import { LayoutError } from "../../src/errors.ts";
import type { SqlRow } from "../../src/ports/sql_session.ts";
import type { RegisteredSchema } from "../../src/ports/schema_registry.ts";
import { fingerprint } from "../../src/schema/definition.ts";
import { type AskedText, conflict } from "../../src/schema/registration.ts";
import { type SqlDialect, tableName } from "./dialect.ts";
import { type Fragment, joined, raw, sql } from "./fragment.ts";
import type { Moment } from "./instants.ts";
import type { DetectedRegistry } from "./registry_detect.ts";
import { type Ask, columnIds, counterIds, type RegistryIds } from "./registry_ids.ts";
import { REGISTRY_COLUMNS, registryInstant, type RegistryLayout } from "./registry_layout.ts";
import { readInteger, readText } from "./values.ts";

/** A schema on its way into the table. */
export interface NewSchema extends Omit<RegisteredSchema, "id" | "registeredAtMs"> {
  /** Undefined: the database gives it. */
  readonly id: number | undefined;
  /** Undefined: now. */
  readonly registeredAtMs: number | undefined;
}

/** See the module. */
export class RegistryTable {
  readonly name: string;
  readonly #dialect: SqlDialect;
  readonly #detected: DetectedRegistry;
  readonly #facts: RegistryLayout;
  readonly #table: Fragment;

  constructor(
    detected: DetectedRegistry,
    { table, dialect }: { readonly table: string; readonly dialect: SqlDialect },
  ) {
    this.name = table;
    this.#dialect = dialect;
    this.#detected = detected;
    this.#facts = REGISTRY_COLUMNS[detected.layout];
    this.#table = tableName(table);
  }

  /** Throws a {@linkcode LayoutError} where schemas are read by their ids alone. */
  assertTakesSchemas(): void {
    if (this.#facts.ids !== undefined) return;
    throw new LayoutError(
      `Cannot register schemas in the table "${this.name}": it has the layout '${this.#detected.layout}', which is read here and ` +
        `written by the library of that language alone`,
    );
  }

  /** Schemas, by a condition and in an order. */
  select(rest: Fragment): Fragment {
    const { registered, version } = this.#facts;
    const at = registered === undefined ? raw("NULL") : this.#detected.instants.epochMs("t.registered_at");
    const place = sql`(SELECT count(*) FROM ${this.#table} AS o WHERE o.subject = t.subject AND o.id <= t.id)`;
    return sql`SELECT t.id AS id, t.subject AS subject, ${
      version === undefined ? place : raw(`t.${version}`)
    } AS version, t.format AS format, t.definition AS definition, t.fingerprint AS fingerprint, ${at} AS registered_at
      FROM ${this.#table} AS t ${rest}`;
  }

  /** The schema with the same text under the same subject. */
  selectStanding({ subject, definition, fingerprint: mark }: AskedText): Fragment {
    return this.#facts.ids === undefined
      ? this.select(
        sql`WHERE t.subject = ${subject} AND t.format = ${definition.format} AND t.definition = ${definition.definition}
          ORDER BY t.id LIMIT 1`,
      )
      : this.select(sql`WHERE t.subject = ${subject} AND t.fingerprint = ${mark}`);
  }

  /** The newest version of a subject. */
  selectLatest(subject: string): Fragment {
    const order = this.#facts.version === undefined
      ? raw("t.id DESC")
      : raw(`t.${this.#facts.version} DESC, t.id DESC`);
    return this.select(sql`WHERE t.subject = ${subject} ORDER BY ${order} LIMIT 1`);
  }

  /** Every version of a subject, oldest first. */
  selectVersions(subject: string): Fragment {
    const order = this.#facts.version === undefined ? raw("t.id") : raw(`t.${this.#facts.version}, t.id`);
    return this.select(sql`WHERE t.subject = ${subject} ORDER BY ${order}`);
  }

  /** The highest id, and the newest version of a subject; 0 where there is none. */
  selectHighest(subject: string): Fragment {
    const version = raw(this.#facts.version ?? "id");
    return sql`SELECT (SELECT coalesce(max(id), 0) FROM ${this.#table}) AS highest,
      (SELECT coalesce(max(${version}), 0) FROM ${this.#table} WHERE subject = ${subject}) AS newest`;
  }

  /** Puts a schema in, and gives its id. */
  insert(schema: NewSchema): Fragment<Moment> {
    const { registeredAtMs } = schema;
    const { layout, instants } = this.#detected;
    const now = registeredAtMs === undefined || this.#dialect.name === "sqlite";
    const values: Readonly<Record<string, Fragment<Moment>>> = {
      id: sql`${schema.id ?? null}`,
      subject: sql`${schema.subject}`,
      [this.#facts.version ?? "version"]: sql`${schema.version}`,
      format: sql`${schema.format}`,
      definition: sql`${schema.definition}`,
      fingerprint: sql`${schema.fingerprint}`,
      registered_at: now ? instants.at(0) : registryInstant(layout, registeredAtMs),
    };
    const columns = this.#facts.columns.filter((name) => name !== "id" || schema.id !== undefined);
    const given = columns.map((name) => values[name] ?? raw("NULL"));
    return sql`INSERT INTO ${this.#table} (${raw(columns.join(", "))}) VALUES (${joined(given, ", ")}) RETURNING id`;
  }

  /** Waits until nobody else registers; the ids of the transaction. */
  async ids(ask: Ask): Promise<RegistryIds> {
    const of = { table: this.name, dialect: this.#dialect, isLazy: this.#detected.layout === "python" };
    return this.#facts.ids === "counter" ? await counterIds(ask, of) : await columnIds(ask, of);
  }

  /** What a row says; its text is held against its fingerprint. */
  async read(row: SqlRow): Promise<RegisteredSchema> {
    const { mark, ...schema } = this.#readRow(row);
    const own = await fingerprint(schema.definition);
    if (this.#facts.ids !== undefined && mark !== own) {
      throw conflict(
        `Cannot use schema ${schema.id} of the table "${this.name}": its text is not the one it was registered with, the fingerprint is another`,
      );
    }
    return Object.freeze({ ...schema, fingerprint: own });
  }

  #readRow(row: SqlRow): Omit<RegisteredSchema, "fingerprint"> & { readonly mark: string } {
    try {
      const at = row["registered_at"];
      return {
        id: readInteger(row["id"]),
        subject: readText(row["subject"]),
        version: readInteger(row["version"]),
        format: readText(row["format"]),
        definition: readText(row["definition"]),
        mark: readText(row["fingerprint"]),
        registeredAtMs: at === null || at === undefined ? undefined : Math.floor(Number(at)),
      };
    } catch (error) {
      throw new LayoutError(`Cannot read a row of the table "${this.name}": a column holds what no schema has in it`, {
        cause: error,
      });
    }
  }
}
