/**
 * A schema as it stands in a registry, and how one comes there.
 *
 * @module
 */

import type { CompatibilityMode } from "./compatibility.ts";

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
   * SHA-256 of the text, as `fingerprint` gives it. Where a table holds it, the two have been compared; where it holds another
   * formula's, this one is computed from the text.
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

/** A schema as another registry has exported it. Members that it does not name are left alone. */
export interface ImportedSchema {
  /** Stays what it was. */
  readonly id: number;
  /** Stays what it was. */
  readonly subject: string;
  /** Stays what it was. */
  readonly version: number;
  /** As it was registered. */
  readonly format: string;
  /** As it was registered. */
  readonly definition: string;
  /** Compared with the text where it is given: a text that was cut short is refused. */
  readonly fingerprint?: string | undefined;
  /** Milliseconds since 1970-01-01T00:00:00Z. @default {undefined: now} */
  readonly registeredAtMs?: number | undefined;
}
