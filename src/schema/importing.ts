/**
 * What an import comes to: which schemas are new, and whether any of them would change what an id means.
 *
 * @module
 */

import { describeKind, signalOf } from "../internal/option_kinds.ts";
import type { ImportedSchema, RegisteredSchema, RegistryCallOptions } from "./registered_schema.ts";
import { assertDefinition, assertSubject, fingerprint } from "./definition.ts";
import { MAX_SCHEMA_ID } from "./framing.ts";
import { assertSchemaId, conflict } from "./registration.ts";

/** Looks at every entry, before anything is stored. Rejects with a `TypeError`, a `RangeError`, a `SchemaRegistryError` or the signal's reason. */
export async function checkedImport(
  given: unknown,
  options: RegistryCallOptions,
): Promise<readonly RegisteredSchema[]> {
  const signal = signalOf("an import of schemas", options);
  signal?.throwIfAborted();
  if (!Array.isArray(given)) {
    throw new TypeError(`Cannot import schemas: they must be an array, found ${describeKind(given)}`);
  }
  const entries = await Promise.all(given.map(checkedEntry));
  entries.forEach((entry, index) => assertGoesWith(entry, entries.slice(0, index)));
  signal?.throwIfAborted();
  return entries;
}

/**
 * Those that are not there yet, in the order of their ids; throws a `SchemaRegistryError` where one of them does not go with what
 * stands.
 */
export function missingFrom(
  standing: readonly RegisteredSchema[],
  entries: readonly RegisteredSchema[],
): readonly RegisteredSchema[] {
  const missing = entries.filter((entry) => {
    const there = standing.find(({ id }) => id === entry.id);
    if (there !== undefined && isSame(there, entry)) return false;
    assertGoesWith(entry, standing);
    return true;
  });
  return missing.toSorted((a, b) => a.id - b.id);
}

async function checkedEntry(entry: unknown, index: number): Promise<RegisteredSchema> {
  if (typeof entry !== "object" || entry === null) {
    throw new TypeError(`Cannot import schemas: entry ${index} must be an object, found ${describeKind(entry)}`);
  }
  const { id, subject, version, format, definition, fingerprint: mark, registeredAtMs } = entry as ImportedSchema;
  assertSchemaId(id);
  assertSubject(subject);
  assertDefinition({ format, definition });
  assertWhole("version", version, id, [1, MAX_SCHEMA_ID]);
  if (registeredAtMs !== undefined) assertWhole("registeredAtMs", registeredAtMs, id, [0, Number.MAX_SAFE_INTEGER]);
  const own = await fingerprint(definition);
  if (mark !== undefined && mark !== own) {
    throw conflict(
      `Cannot import schema ${id}: its text is not the one it was registered with, the fingerprint is another`,
    );
  }
  return { id, subject, version, format, definition, fingerprint: own, registeredAtMs };
}

function assertWhole(name: string, value: unknown, id: number, [least, most]: readonly [number, number]): void {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return;
  const found = typeof value === "number" ? String(value) : describeKind(value);
  throw new RangeError(
    `Cannot import schema ${id}: '${name}' must be a whole number from ${least} to ${most}, found ${found}`,
  );
}

function assertGoesWith(entry: RegisteredSchema, others: readonly RegisteredSchema[]): void {
  for (const other of others) {
    const why = clashOf(entry, other);
    if (why !== undefined) throw conflict(`Cannot import schema ${entry.id} of "${entry.subject}": ${why}`);
  }
}

function clashOf(entry: RegisteredSchema, other: RegisteredSchema): string | undefined {
  if (entry.id === other.id) return `the id stands for version ${other.version} of "${other.subject}"`;
  if (entry.subject !== other.subject) return undefined;
  if (entry.fingerprint === other.fingerprint) return `the same text has id ${other.id}`;
  return entry.version === other.version ? `version ${entry.version} has id ${other.id}` : undefined;
}

function isSame(one: RegisteredSchema, other: RegisteredSchema): boolean {
  return one.subject === other.subject && one.version === other.version && one.format === other.format &&
    one.definition === other.definition;
}
