/**
 * Whether two named types are meant to be one: their names without namespaces, and what the reader says it was called before.
 *
 * @module
 */

import { unqualified } from "./schema.ts";

/** What is compared. */
interface Named {
  readonly name: string;
  readonly aliases: readonly string[];
}

/** Whether a reader's type takes what was written as the writer's. */
export function isSameName(writer: Named, reader: Named): boolean {
  const name = unqualified(writer.name);
  return [reader.name, ...reader.aliases].some((one) => unqualified(one) === name);
}
