/**
 * Schemas in memory: for tests, and for a service whose ids are fixed elsewhere.
 *
 * @module
 */

import { type Clock, systemClock } from "../../src/clock.ts";
import { assertOptions, type OptionKinds, signalOf } from "../../src/internal/option_kinds.ts";
import type {
  ImportedSchema,
  ImportOutcome,
  RegisteredSchema,
  RegisterOptions,
  RegistryCallOptions,
  SchemaRegistry,
} from "../../src/ports/schema_registry.ts";
import { assertSubject, type SchemaDefinition } from "../../src/schema/definition.ts";
import { checkedImport, missingFrom } from "../../src/schema/importing.ts";
import {
  askedRegistration,
  askedText,
  assertCompatible,
  assertSchemaId,
  idAfter,
  noSuchId,
  noSuchText,
  noVersion,
  standingFor,
} from "../../src/schema/registration.ts";

/** How a registry in memory works. */
export interface MemorySchemaRegistryOptions {
  /** Says when a schema was registered. @default {systemClock()} */
  readonly clock?: Clock;
}

const KINDS: Readonly<OptionKinds<MemorySchemaRegistryOptions>> = { clock: "object" };
/** See {@linkcode memorySchemaRegistry}. */
export class MemorySchemaRegistry implements SchemaRegistry {
  readonly #clock: Clock;
  readonly #byId = new Map<number, RegisteredSchema>();
  readonly #subjects = new Map<string, RegisteredSchema[]>();
  #lastId = 0;

  /** Use {@linkcode memorySchemaRegistry}. */
  constructor(options: MemorySchemaRegistryOptions = {}) {
    assertOptions("a schema registry in memory", options, KINDS);
    this.#clock = options.clock ?? systemClock();
  }

  /** Registers a schema, or finds it; everything between the look and the entry happens at once. */
  async register(
    subject: string,
    definition: SchemaDefinition,
    options: RegisterOptions = {},
  ): Promise<RegisteredSchema> {
    const asked = await askedRegistration(subject, definition, options);
    const versions = this.#subjects.get(subject) ?? [];
    const there = standingFor(asked, {
      standing: versions.find((one) => one.fingerprint === asked.fingerprint),
      holder: asked.id === undefined ? undefined : this.#byId.get(asked.id),
    });
    if (there !== undefined) return there;
    assertCompatible(asked, versions);
    return this.#keep({
      id: asked.id ?? idAfter(this.#lastId),
      subject,
      version: (versions.at(-1)?.version ?? 0) + 1,
      format: definition.format,
      definition: definition.definition,
      fingerprint: asked.fingerprint,
      registeredAtMs: this.#clock.now(),
    });
  }

  /** The schema of an id. */
  async byId(id: number, options: RegistryCallOptions = {}): Promise<RegisteredSchema> {
    signalOf("a look-up of a schema", options)?.throwIfAborted();
    assertSchemaId(id);
    const schema = this.#byId.get(id);
    if (schema === undefined) throw noSuchId(id);
    return schema;
  }

  /** The newest version of a subject. */
  async latest(subject: string, options: RegistryCallOptions = {}): Promise<RegisteredSchema> {
    const newest = (await this.versions(subject, options)).at(-1);
    if (newest === undefined) throw noVersion(subject);
    return newest;
  }

  /** Every version of a subject, oldest first. */
  async versions(subject: string, options: RegistryCallOptions = {}): Promise<readonly RegisteredSchema[]> {
    signalOf("a look-up of schemas", options)?.throwIfAborted();
    assertSubject(subject);
    return [...this.#subjects.get(subject) ?? []];
  }

  /** The id a schema has under a subject. */
  async idFor(subject: string, definition: SchemaDefinition, options: RegistryCallOptions = {}): Promise<number> {
    const { fingerprint: mark } = await askedText(subject, definition, options);
    const schema = this.#subjects.get(subject)?.find((one) => one.fingerprint === mark);
    if (schema?.format !== definition.format) throw noSuchText(subject, mark);
    return schema.id;
  }

  /** Every schema, by rising ids. */
  async exportSchemas(options: RegistryCallOptions = {}): Promise<readonly RegisteredSchema[]> {
    signalOf("an export of schemas", options)?.throwIfAborted();
    return [...this.#byId.values()].toSorted((a, b) => a.id - b.id);
  }

  /** Registers what another registry exported, under the same ids: all of it or nothing. */
  async importSchemas(
    schemas: readonly ImportedSchema[],
    options: RegistryCallOptions = {},
  ): Promise<ImportOutcome> {
    const entries = await checkedImport(schemas, options);
    const missing = missingFrom([...this.#byId.values()], entries);
    for (const entry of missing) this.#keep({ ...entry, registeredAtMs: entry.registeredAtMs ?? this.#clock.now() });
    return { added: missing.length, present: entries.length - missing.length };
  }

  #keep(schema: RegisteredSchema): RegisteredSchema {
    const kept = Object.freeze(schema);
    this.#byId.set(kept.id, kept);
    const versions = [...this.#subjects.get(kept.subject) ?? [], kept];
    this.#subjects.set(kept.subject, versions.toSorted((a, b) => a.version - b.version));
    this.#lastId = Math.max(this.#lastId, kept.id);
    return kept;
  }
}

/**
 * A registry that is gone with the process. Ids begin with 1 and are given in the order of registration, unless the caller says
 * which: another process that registers in another order has other ids, and reads this one's bodies with the wrong schemas. Where
 * messages leave the process, register under given ids, or take a registry in a database.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { memorySchemaRegistry } from "@acemq/amqp/memory";
 *
 * const registry = memorySchemaRegistry();
 * const text = { format: "avro", definition: '"string"' };
 * const { id, version } = await registry.register("note.taken", text, { id: 7 });
 * assert.deepEqual([id, version], [7, 1]);
 * assert.equal((await registry.register("note.taken", text)).id, 7);
 * assert.equal((await registry.byId(7)).definition, '"string"');
 * ```
 *
 * @throws {TypeError} an option that there is not, or of another type
 */
export function memorySchemaRegistry(options: MemorySchemaRegistryOptions = {}): MemorySchemaRegistry {
  return new MemorySchemaRegistry(options);
}
