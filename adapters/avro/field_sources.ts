/**
 * Which field of a writer's record each field of a reader's is read from: the one of its name, else one of a name it had.
 *
 * @module
 */

import type { Field } from "./schema.ts";

/** The writer's field of each of the reader's that has one; a field of the writer is read once. */
export function fieldSources(writer: readonly Field[], reader: readonly Field[]): ReadonlyMap<Field, Field> {
  const sources = new Map<Field, Field>();
  const take = (target: Field, names: readonly string[]): void => {
    const taken = new Set(sources.values());
    const source = writer.find((field) => names.includes(field.name) && !taken.has(field));
    if (source !== undefined) sources.set(target, source);
  };
  for (const target of reader) take(target, [target.name]);
  for (const target of reader) if (!sources.has(target)) take(target, target.aliases);
  return sources;
}
