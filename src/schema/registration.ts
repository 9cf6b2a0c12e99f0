/**
 * What a registration comes to, whichever registry is asked: the decisions, without the place the schemas are kept in.
 *
 * @module
 */

import { SchemaRegistryError } from "../errors.ts";
import { assertOneOf } from "../internal/assert_option.ts";
import { assertOptions, describeKind, type OptionKinds, signalOf } from "../internal/option_kinds.ts";
import type { RegisteredSchema, RegisterOptions, RegistryCallOptions } from "./registered_schema.ts";
import {
  COMPATIBILITY_MODES,
  type CompatibilityMode,
  incompatibilities,
  type StandingVersion,
} from "./compatibility.ts";
import { assertDefinition, assertSubject, fingerprint, type SchemaDefinition } from "./definition.ts";
import { isSchemaId, MAX_SCHEMA_ID } from "./framing.ts";

/** A registration whose arguments have been looked at. */
export interface AskedRegistration {
  readonly subject: string;
  readonly definition: SchemaDefinition;
  /** Of the definition's text. */
  readonly fingerprint: string;
  /** The id it is to have; undefined: the next one. */
  readonly id: number | undefined;
  readonly compatibility: CompatibilityMode;
}

/** What stands where a schema is to be registered. */
export interface StandingSchemas {
  /** The one with the same text under the same subject. */
  readonly standing: RegisteredSchema | undefined;
  /** The one that has the id that is asked for. */
  readonly holder: RegisteredSchema | undefined;
}

const REGISTER_KINDS: Readonly<OptionKinds<RegisterOptions>> = {
  id: "checked",
  compatibility: "checked",
  signal: "signal",
};

/** Looks at what `register` was called with. Rejects with a `TypeError`, a `RangeError`, or the signal's reason. */
export async function askedRegistration(
  subject: string,
  definition: SchemaDefinition,
  options: RegisterOptions,
): Promise<AskedRegistration> {
  assertOptions("a registration", options, REGISTER_KINDS);
  const { id, compatibility = "none", signal } = options;
  assertSubject(subject);
  assertDefinition(definition);
  assertOneOf("compatibility", compatibility, COMPATIBILITY_MODES);
  if (id !== undefined) assertSchemaId(id);
  signal?.throwIfAborted();
  const mark = await fingerprint(definition.definition);
  signal?.throwIfAborted();
  return { subject, definition, fingerprint: mark, id, compatibility };
}

/** A text whose id is asked for. */
export type AskedText = Pick<AskedRegistration, "subject" | "definition" | "fingerprint">;

/** Looks at what `idFor` was called with. Rejects with a `TypeError`, or the signal's reason. */
export async function askedText(
  subject: string,
  definition: SchemaDefinition,
  options: RegistryCallOptions,
): Promise<AskedText> {
  const signal = signalOf("a look-up of an id", options);
  signal?.throwIfAborted();
  assertSubject(subject);
  assertDefinition(definition);
  const mark = await fingerprint(definition.definition);
  signal?.throwIfAborted();
  return { subject, definition, fingerprint: mark };
}

/** The schema that stands already, if it may be what is asked for; throws a `SchemaRegistryError` where an id would change its meaning. */
export function standingFor(
  { subject, definition, id }: AskedRegistration,
  { standing, holder }: StandingSchemas,
): RegisteredSchema | undefined {
  if (id !== undefined && holder?.id !== standing?.id) {
    const why = holder === undefined ? `the schema has id ${standing?.id}` : "another schema has this id";
    throw conflict(`Cannot register a schema under id ${id}: ${why}`);
  }
  if (standing === undefined || standing.format === definition.format) return standing;
  throw conflict(
    `Cannot register a schema under "${subject}": the same text stands there with id ${standing.id}, of format "${standing.format}"`,
  );
}

/** Throws a `SchemaRegistryError` with its findings unless the schema may follow the versions that stand. */
export function assertCompatible(
  { subject, definition, compatibility }: AskedRegistration,
  versions: readonly StandingVersion[],
): void {
  const findings = incompatibilities(definition, versions, compatibility);
  if (findings.length === 0) return;
  throw new SchemaRegistryError(
    "ACEMQ_SCHEMA_INCOMPATIBLE",
    `Cannot register a schema under "${subject}": ${findings.join("; ")}`,
    { findings },
  );
}

/** The id after the last one that was given. */
export function idAfter(last: number): number {
  if (last < MAX_SCHEMA_ID) return last + 1;
  throw conflict(`Cannot register a schema: no id is free above ${MAX_SCHEMA_ID}`);
}

/** Throws a `RangeError` unless it is a number that the frame of a body holds. */
export function assertSchemaId(id: unknown): asserts id is number {
  if (isSchemaId(id)) return;
  const found = typeof id === "number" ? String(id) : describeKind(id);
  throw new RangeError(
    `Cannot use the 'id' of a schema: it must be a whole number from 1 to ${MAX_SCHEMA_ID}, found ${found}`,
  );
}

/** An id would have two meanings. */
export function conflict(message: string): SchemaRegistryError {
  return new SchemaRegistryError("ACEMQ_SCHEMA_CONFLICT", message);
}

/** The registry has answered that it does not have it. */
export function notFound(what: string, why: string): SchemaRegistryError {
  return new SchemaRegistryError("ACEMQ_SCHEMA_NOT_FOUND", `Cannot find ${what}: ${why}`);
}

/** Nothing is registered under an id. */
export function noSuchId(id: number): SchemaRegistryError {
  return notFound(`schema ${id}`, "nothing is registered under this id");
}

/** A subject has no version. */
export function noVersion(subject: string): SchemaRegistryError {
  return notFound(`the newest schema of "${subject}"`, "the subject has none");
}

/** A subject has no version of this text. */
export function noSuchText(subject: string, mark: string): SchemaRegistryError {
  return notFound(`the id of a schema of "${subject}"`, `none has fingerprint ${mark}`);
}
