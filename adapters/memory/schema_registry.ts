/**
 * Schemas in memory: for tests, and for a service whose ids are fixed elsewhere.
 *
 * @module
 */

import { type Clock, systemClock } from "../../src/clock.ts";
import { SchemaRegistryError } from "../../src/errors.ts";
import { assertOneOf } from "../../src/internal/assert_option.ts";
import { assertOptions, describeKind, type OptionKinds, signalOf } from "../../src/internal/option_kinds.ts";
import type {
  RegisteredSchema,
  RegisterOptions,
  RegistryCallOptions,
  SchemaRegistry,
} from "../../src/ports/schema_registry.ts";
import { COMPATIBILITY_MODES, incompatibilities } from "../../src/schema/compatibility.ts";
import { assertDefinition, assertSubject, fingerprint, type SchemaDefinition } from "../../src/schema/definition.ts";
import { isSchemaId, MAX_SCHEMA_ID } from "../../src/schema/framing.ts";

/** How a registry in memory works. */
export interface MemorySchemaRegistryOptions {
  /** Says when a schema was registered. @default {systemClock()} */
  readonly clock?: Clock;
}

const KINDS: Readonly<OptionKinds<MemorySchemaRegistryOptions>> = { clock: "object" };
const REGISTER_KINDS: Readonly<OptionKinds<RegisterOptions>> = {
  id: "checked",
  compatibility: "checked",
  signal: "signal",
};

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
    assertOptions("a registration", options, REGISTER_KINDS);
    const { id, compatibility = "none", signal } = options;
    assertSubject(subject);
    assertDefinition(definition);
    assertOneOf("compatibility", compatibility, COMPATIBILITY_MODES);
    if (id !== undefined) assertId(id);
    signal?.throwIfAborted();
    const mark = await fingerprint(definition.definition);
    signal?.throwIfAborted();
    const versions = this.#subjects.get(subject) ?? [];
    const standing = versions.find((one) => one.fingerprint === mark);
    assertFree(id, standing, id === undefined ? undefined : this.#byId.get(id));
    if (standing !== undefined) return standing;
    assertCompatible(subject, incompatibilities(definition, versions, compatibility));
    return this.#keep({
      id: id ?? this.#nextId(),
      subject,
      version: versions.length + 1,
      format: definition.format,
      definition: definition.definition,
      fingerprint: mark,
      registeredAtMs: this.#clock.now(),
    });
  }

  /** The schema of an id. */
  async byId(id: number, options: RegistryCallOptions = {}): Promise<RegisteredSchema> {
    signalOf("a look-up of a schema", options)?.throwIfAborted();
    assertId(id);
    const schema = this.#byId.get(id);
    if (schema === undefined) throw notFound(`schema ${id}`, "nothing is registered under this id");
    return schema;
  }

  /** The newest version of a subject. */
  async latest(subject: string, options: RegistryCallOptions = {}): Promise<RegisteredSchema> {
    const newest = (await this.versions(subject, options)).at(-1);
    if (newest === undefined) throw notFound(`the newest schema of "${subject}"`, "the subject has none");
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
    const signal = signalOf("a look-up of an id", options);
    signal?.throwIfAborted();
    assertSubject(subject);
    assertDefinition(definition);
    const mark = await fingerprint(definition.definition);
    signal?.throwIfAborted();
    const schema = this.#subjects.get(subject)?.find((one) => one.fingerprint === mark);
    if (schema === undefined) throw notFound(`the id of a schema of "${subject}"`, `none has fingerprint ${mark}`);
    return schema.id;
  }

  #nextId(): number {
    if (this.#lastId < MAX_SCHEMA_ID) return this.#lastId + 1;
    throw new SchemaRegistryError(
      "ACEMQ_SCHEMA_CONFLICT",
      `Cannot register a schema: no id is free above ${MAX_SCHEMA_ID}`,
    );
  }

  #keep(schema: RegisteredSchema): RegisteredSchema {
    const kept = Object.freeze(schema);
    this.#byId.set(kept.id, kept);
    this.#subjects.set(kept.subject, [...this.#subjects.get(kept.subject) ?? [], kept]);
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

function assertId(id: unknown): asserts id is number {
  if (isSchemaId(id)) return;
  const found = typeof id === "number" ? String(id) : describeKind(id);
  throw new RangeError(
    `Cannot use the 'id' of a schema: it must be a whole number from 1 to ${MAX_SCHEMA_ID}, found ${found}`,
  );
}

function assertFree(
  id: number | undefined,
  standing: RegisteredSchema | undefined,
  holder: RegisteredSchema | undefined,
): void {
  if (id === undefined || holder === standing) return;
  const why = holder === undefined ? `the schema has id ${standing?.id}` : "another schema has this id";
  throw new SchemaRegistryError("ACEMQ_SCHEMA_CONFLICT", `Cannot register a schema under id ${id}: ${why}`);
}

function assertCompatible(subject: string, findings: readonly string[]): void {
  if (findings.length === 0) return;
  throw new SchemaRegistryError(
    "ACEMQ_SCHEMA_INCOMPATIBLE",
    `Cannot register a schema under "${subject}": ${findings.join("; ")}`,
    { findings },
  );
}

function notFound(what: string, why: string): SchemaRegistryError {
  return new SchemaRegistryError("ACEMQ_SCHEMA_NOT_FOUND", `Cannot find ${what}: ${why}`);
}
