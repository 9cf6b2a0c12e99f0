/**
 * Schemas in a SQL table: one implementation over what differs between databases and layouts.
 *
 * @module
 */

import { type Clock, systemClock } from "../../src/clock.ts";
import { orAborted } from "../../src/internal/abort.ts";
import { signalOf } from "../../src/internal/option_kinds.ts";
import type {
  ImportedSchema,
  ImportOutcome,
  RegisteredSchema,
  RegisterOptions,
  RegistryCallOptions,
  SchemaRegistry,
} from "../../src/ports/schema_registry.ts";
import type { SqlRow, SqlSession } from "../../src/ports/sql_session.ts";
import { assertSubject, type SchemaDefinition } from "../../src/schema/definition.ts";
import { checkedImport, missingFrom } from "../../src/schema/importing.ts";
import {
  type AskedRegistration,
  askedRegistration,
  askedText,
  assertCompatible,
  assertSchemaId,
  noSuchId,
  noSuchText,
  noVersion,
  standingFor,
} from "../../src/schema/registration.ts";
import { type SqlDialect, tableName } from "./dialect.ts";
import { compile, type Fragment, raw, sql } from "./fragment.ts";
import { guarded } from "./guarded.ts";
import type { Moment } from "./instants.ts";
import { KeptSchemas } from "./kept_schemas.ts";
import { KnownTable } from "./known_table.ts";
import { detectRegistry } from "./registry_detect.ts";
import { defaultRegistryLayout, REGISTRY_COLUMNS } from "./registry_layout.ts";
import type { SqlSchemaRegistryOptions } from "./registry_options.ts";
import { registrySchemaSql } from "./registry_schema.ts";
import { type NewSchema, RegistryTable } from "./registry_table.ts";
import { readInteger } from "./values.ts";

/** What a registry stands on. */
export interface SqlSchemaRegistryTarget {
  /** For every statement: never a transaction. */
  readonly session: SqlSession;
  /** Of the database behind it. */
  readonly dialect: SqlDialect;
}

/** Runs one statement. */
type Run = (what: string, fragment: Fragment<Moment>, nowMs?: number) => Promise<readonly SqlRow[]>;

/** See {@linkcode SchemaRegistry}. */
export class SqlSchemaRegistry implements SchemaRegistry {
  readonly #target: SqlSchemaRegistryTarget;
  readonly #options: SqlSchemaRegistryOptions;
  readonly #table: string;
  readonly #clock: Clock;
  readonly #known: KnownTable<RegistryTable>;
  readonly #kept = new KeptSchemas();
  /** Look-ups that are on their way: whoever wants the same id meanwhile shares the answer. */
  readonly #loading = new Map<number, Promise<RegisteredSchema>>();

  /** Use the function of the database's adapter. */
  constructor(target: SqlSchemaRegistryTarget, options: SqlSchemaRegistryOptions = {}) {
    const { layout = defaultRegistryLayout(target.dialect.name), clock = systemClock() } = options;
    const { table = REGISTRY_COLUMNS[layout].table } = options;
    tableName(table);
    if (target.session.inTransaction === true) {
      throw new TypeError(
        "Cannot keep schemas in a transaction: an id that is rolled back would be kept for ever; hand in the database, a pool or a root",
      );
    }
    this.#target = target;
    this.#options = options;
    this.#table = table;
    this.#clock = clock;
    this.#known = new KnownTable(target.session, (session) => this.#detected(session));
  }

  /**
   * Creates the tables where they are not there. For development: in production they belong to the tool that owns the schema, which
   * gets them from `registrySchemaSql`.
   */
  async createSchemaIfAbsent(): Promise<void> {
    const { layout } = this.#options;
    const { name } = this.#target.dialect;
    for (const text of registrySchemaSql(name, { table: this.#table, ...(layout === undefined ? {} : { layout }) })) {
      await guarded("create the tables", () => this.#target.session.query(text));
    }
  }

  /** Rejects with a `LayoutError` where the table is not there or is none of schemas, with a `StoreError` where the database is away. */
  async check(options: RegistryCallOptions = {}): Promise<void> {
    const signal = signalOf("a check of a schema registry", options);
    signal?.throwIfAborted();
    await orAborted(this.#known.on(), signal);
  }

  /** Registers a schema, or finds it. A call that is aborted may have registered it. */
  async register(
    subject: string,
    definition: SchemaDefinition,
    options: RegisterOptions = {},
  ): Promise<RegisteredSchema> {
    const asked = await askedRegistration(subject, definition, options);
    return await orAborted(this.#register(asked), options.signal);
  }

  /** The schema of an id: asked for once. */
  async byId(id: number, options: RegistryCallOptions = {}): Promise<RegisteredSchema> {
    const signal = signalOf("a look-up of a schema", options);
    signal?.throwIfAborted();
    assertSchemaId(id);
    return this.#kept.get(id) ?? await orAborted(this.#load(id), signal);
  }

  /** The newest version of a subject. */
  async latest(subject: string, options: RegistryCallOptions = {}): Promise<RegisteredSchema> {
    const signal = signalOf("a look-up of schemas", options);
    signal?.throwIfAborted();
    assertSubject(subject);
    const [newest] = await orAborted(this.#select((table) => table.selectLatest(subject)), signal);
    if (newest === undefined) throw noVersion(subject);
    return newest;
  }

  /** Every version of a subject, oldest first. */
  async versions(subject: string, options: RegistryCallOptions = {}): Promise<readonly RegisteredSchema[]> {
    const signal = signalOf("a look-up of schemas", options);
    signal?.throwIfAborted();
    assertSubject(subject);
    return await orAborted(this.#select((table) => table.selectVersions(subject)), signal);
  }

  /** The id a schema has under a subject. */
  async idFor(subject: string, definition: SchemaDefinition, options: RegistryCallOptions = {}): Promise<number> {
    const asked = await askedText(subject, definition, options);
    const found = this.#kept.find(subject, asked.fingerprint) ??
      (await orAborted(this.#select((table) => table.selectStanding(asked)), options.signal))[0];
    if (found === undefined || found.format !== definition.format) throw noSuchText(subject, asked.fingerprint);
    return found.id;
  }

  /** Every schema, by rising ids. */
  async exportSchemas(options: RegistryCallOptions = {}): Promise<readonly RegisteredSchema[]> {
    const signal = signalOf("an export of schemas", options);
    signal?.throwIfAborted();
    return await orAborted(this.#select((table) => table.select(raw("ORDER BY t.id"))), signal);
  }

  /** Registers what another registry exported, under the same ids: all of it or nothing. A call that is aborted may have done so. */
  async importSchemas(
    schemas: readonly ImportedSchema[],
    options: RegistryCallOptions = {},
  ): Promise<ImportOutcome> {
    const entries = await checkedImport(schemas, options);
    return await orAborted(this.#import(entries), options.signal);
  }

  async #register(asked: AskedRegistration): Promise<RegisteredSchema> {
    const kept = this.#kept.find(asked.subject, asked.fingerprint);
    if (kept !== undefined) return this.#there(asked, kept);
    const [found] = await this.#select((table) => table.selectStanding(asked));
    if (found !== undefined) return this.#there(asked, found);
    const table = await this.#known.on();
    table.assertTakesSchemas();
    return this.#kept.keep(await this.#alone("register a schema", (run) => this.#add(run, table, asked)));
  }

  /** The schema stands: it is what is asked for, or another id is. */
  #there(asked: AskedRegistration, standing: RegisteredSchema): RegisteredSchema {
    const holder = asked.id === standing.id ? standing : undefined;
    return standingFor(asked, { standing, holder }) ?? standing;
  }

  /** Nobody else registers meanwhile: what is decided here still holds when it is committed. */
  async #add(run: Run, table: RegistryTable, asked: AskedRegistration): Promise<RegisteredSchema> {
    const ids = await table.ids((fragment) => run("count the schemas", fragment));
    const one = async (fragment: Fragment): Promise<RegisteredSchema | undefined> => {
      const [row] = await run("look at the schemas", fragment);
      return row === undefined ? undefined : await table.read(row);
    };
    const there = standingFor(asked, {
      standing: await one(table.selectStanding(asked)),
      holder: asked.id === undefined ? undefined : await one(table.select(sql`WHERE t.id = ${asked.id}`)),
    });
    if (there !== undefined) return there;
    const { subject, definition: { format, definition }, fingerprint: mark } = asked;
    if (asked.compatibility !== "none") {
      const rows = await run("look at the versions", table.selectVersions(subject));
      assertCompatible(asked, await Promise.all(rows.map((row) => table.read(row))));
    }
    const [row] = await run("count the schemas", table.selectHighest(subject));
    const id = asked.id ?? await ids.next(readInteger(row?.["highest"]));
    const version = readInteger(row?.["newest"]) + 1;
    const schema = { id, subject, version, format, definition, fingerprint: mark, registeredAtMs: undefined };
    const added = await this.#insert(run, table, schema);
    if (asked.id !== undefined) await ids.raise(asked.id);
    return added;
  }

  async #insert(run: Run, table: RegistryTable, schema: NewSchema): Promise<RegisteredSchema> {
    const [given] = await run("add a schema", table.insert(schema), schema.registeredAtMs);
    const id = readInteger(given?.["id"]);
    assertSchemaId(id);
    const [row] = await run("look at the schemas", table.select(sql`WHERE t.id = ${id}`));
    const added = await table.read(row ?? {});
    this.#kept.assertMeans(added);
    return added;
  }

  async #import(entries: readonly RegisteredSchema[]): Promise<ImportOutcome> {
    const table = await this.#known.on();
    table.assertTakesSchemas();
    const added = await this.#alone("import schemas", async (run) => {
      const ids = await table.ids((fragment) => run("count the schemas", fragment));
      const rows = await run("look at the schemas", table.select(raw("ORDER BY t.id")));
      const missing = missingFrom(await Promise.all(rows.map((row) => table.read(row))), entries);
      const stored: RegisteredSchema[] = [];
      for (const entry of missing) stored.push(await this.#insert(run, table, entry));
      const last = missing.at(-1);
      if (last !== undefined) await ids.raise(last.id);
      return stored;
    });
    for (const schema of added) this.#kept.keep(schema);
    return { added: added.length, present: entries.length - added.length };
  }

  #load(id: number): Promise<RegisteredSchema> {
    const loading = this.#loading.get(id) ??
      this.#select((table) => table.select(sql`WHERE t.id = ${id}`)).finally(() => this.#loading.delete(id))
        .then(([schema]) => {
          if (schema === undefined) throw noSuchId(id);
          return schema;
        });
    this.#loading.set(id, loading);
    return loading;
  }

  async #select(fragment: (table: RegistryTable) => Fragment): Promise<readonly RegisteredSchema[]> {
    const table = await this.#known.on();
    const rows = await this.#runOn(this.#target.session)("look at the schemas", fragment(table));
    return (await Promise.all(rows.map((row) => table.read(row)))).map((schema) => this.#kept.keep(schema));
  }

  /** Runs in a transaction. What the work itself throws is thrown as it is: the database has done its part. */
  async #alone<T>(what: string, work: (run: Run) => Promise<T>): Promise<T> {
    const thrown: { readonly error: unknown }[] = [];
    const inside = async (tx: SqlSession): Promise<T> => {
      try {
        const run = this.#runOn(tx);
        // What was committed while a lock was waited for has to be seen.
        if (this.#target.dialect.name === "postgres") {
          await run(what, raw("SET TRANSACTION ISOLATION LEVEL READ COMMITTED"));
        }
        return await work(run);
      } catch (error) {
        thrown.push({ error });
        throw error;
      }
    };
    try {
      return await guarded(what, () => this.#target.session.transaction(inside));
    } catch (error) {
      const [own] = thrown;
      throw own === undefined ? error : own.error;
    }
  }

  #runOn(session: SqlSession): Run {
    const { dialect } = this.#target;
    return async (what, fragment, nowMs = Math.floor(this.#clock.now())) => {
      const { text, bind } = compile(fragment, dialect.placeholder);
      try {
        return (await guarded(what, () => session.query(text, bind({ nowMs })))).rows;
      } catch (error) {
        // The table may be another one by now, or none: whoever comes next looks again, and can say so.
        this.#known.forget();
        throw error;
      }
    };
  }

  async #detected(session: SqlSession): Promise<RegistryTable> {
    const { dialect } = this.#target;
    const wanted = { table: this.#table, dialect, wanted: this.#options.layout };
    return new RegistryTable(await guarded("look at the table", () => detectRegistry(session, wanted)), wanted);
  }
}
