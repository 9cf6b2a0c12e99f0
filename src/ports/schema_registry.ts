/**
 * Port: the schemas bodies were written with, by ids that outlive every message (contract codecs 3, patterns 6).
 *
 * @module
 */

import type { CompatibilityMode } from "../schema/compatibility.ts";
import type { SchemaDefinition } from "../schema/definition.ts";

/** One schema as it stands. It never changes, so it may be kept for ever. */
export interface RegisteredSchema {
  /** From 1 to 2^31 - 1; it stands in front of every body written with the schema. */
  readonly id: number;
  /** What the schema is of: a message type such as `order.placed`, or a record's full name. */
  readonly subject: string;
  /** From 1 within the subject. */
  readonly version: number;
  /** `avro`, `protobuf`, `json-schema` or another word. */
  readonly format: string;
  /** The text as it was registered. */
  readonly definition: string;
  /**
   * SHA-256 of the text, as `fingerprint` gives it. Where a table holds another formula's, a registry computes this one, and has
   * checked what it holds in its own way.
   */
  readonly fingerprint: string;
  /** Milliseconds since 1970-01-01T00:00:00Z; undefined where the table does not say. */
  readonly registeredAtMs: number | undefined;
}

/** Ends a wait for a registry. */
export interface RegistryCallOptions {
  /** Its reason is what the call rejects with. */
  readonly signal?: AbortSignal | undefined;
}

/** How a schema is registered. */
export interface RegisterOptions extends RegistryCallOptions {
  /**
   * The id it is to have: one that another registry gave it. Refused when another schema has it, or the schema another one.
   *
   * @default {undefined: the next one}
   */
  readonly id?: number;
  /** What a new version is held to; what stands already is not asked again. @default {"none"} */
  readonly compatibility?: CompatibilityMode;
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
}
