/**
 * Port: the schemas bodies were written with, by ids that outlive every message (contract codecs 3, patterns 6).
 *
 * @module
 */

import type { SchemaDefinition } from "../schema/definition.ts";
import type {
  ImportedSchema,
  RegisteredSchema,
  RegisterOptions,
  RegistryCallOptions,
} from "../schema/registered_schema.ts";

export type { ImportedSchema, RegisteredSchema, RegisterOptions, RegistryCallOptions };

/** What an import has come to. */
export interface ImportOutcome {
  /** Schemas that were not there before. */
  readonly added: number;
  /** Schemas that stood already, as they were imported. */
  readonly present: number;
}

/**
 * Keeps schemas. An id has one meaning for ever: no call changes or removes what was registered.
 *
 * While the database is away every method rejects with a `StoreError`, which retries a message, and never answers that something is
 * not there. What is not there is a `SchemaRegistryError` of code `ACEMQ_SCHEMA_NOT_FOUND`.
 */
export interface SchemaRegistry {
  /**
   * Registers a schema under a subject, or finds it there: the same text has the same id, whoever registers it, and however many do
   * so at once.
   *
   * Rejects with a `SchemaRegistryError`: `ACEMQ_SCHEMA_CONFLICT` when the id that was asked for has another meaning,
   * `ACEMQ_SCHEMA_INCOMPATIBLE` when the new version is not what `compatibility` asks for, with a finding for each place.
   */
  register(subject: string, definition: SchemaDefinition, options?: RegisterOptions): Promise<RegisteredSchema>;
  /** The schema of an id, whatever its subject. */
  byId(id: number, options?: RegistryCallOptions): Promise<RegisteredSchema>;
  /** The newest version of a subject. */
  latest(subject: string, options?: RegistryCallOptions): Promise<RegisteredSchema>;
  /** Every version of a subject, oldest first; empty for one that nobody has registered anything under. */
  versions(subject: string, options?: RegistryCallOptions): Promise<readonly RegisteredSchema[]>;
  /** The id a schema has under a subject. Registers nothing: one that is not there is not found. */
  idFor(subject: string, definition: SchemaDefinition, options?: RegistryCallOptions): Promise<number>;
  /**
   * Every schema, by rising ids: what `importSchemas` of another registry takes. As JSON text it is a backup that keeps ids.
   *
   * Price: all texts are in memory at once.
   */
  exportSchemas(options?: RegistryCallOptions): Promise<readonly RegisteredSchema[]>;
  /**
   * Registers schemas under the ids, the versions and the times that another registry gave them: all of them, or none. What stands
   * already as it is imported is left alone, so an import may be repeated.
   *
   * Rejects before anything is stored: with a `SchemaRegistryError` of code `ACEMQ_SCHEMA_CONFLICT` when an id, a version or a text has
   * another meaning here, or a text is not the one of its fingerprint; with a `TypeError` or a `RangeError` for what is no schema.
   */
  importSchemas(schemas: readonly ImportedSchema[], options?: RegistryCallOptions): Promise<ImportOutcome>;
}
