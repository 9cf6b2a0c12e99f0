/**
 * Whether a schema may follow those that stand: which is to read what which wrote.
 *
 * @module
 */

import { describeKind } from "../internal/option_kinds.ts";
import type { SchemaDefinition } from "./definition.ts";

/**
 * What a new version is held to.
 *
 * - `backward`: the new schema reads what the version before it wrote. Consumers go first.
 * - `forward`: the version before it reads what the new schema writes. Publishers go first.
 * - `full`: both.
 * - `…_transitive`: not the version before it alone, but every one.
 * - `none`: anything goes.
 */
export type CompatibilityMode =
  | "none"
  | "backward"
  | "forward"
  | "full"
  | "backward_transitive"
  | "forward_transitive"
  | "full_transitive";

/** Every mode. */
export const COMPATIBILITY_MODES: readonly CompatibilityMode[] = [
  "none",
  "backward",
  "forward",
  "full",
  "backward_transitive",
  "forward_transitive",
  "full_transitive",
];

/** A schema that stands already. */
export interface StandingVersion {
  /** From 1, the number of the version in its subject. */
  readonly version: number;
  /** What it is a schema of. */
  readonly format: string;
  /** The schema itself. */
  readonly definition: string;
}

/**
 * Why `next` may not follow `versions`, oldest first, one line for each place; empty when it may.
 *
 * @throws {TypeError} the definition cannot compare itself with another, and the mode asks for it
 */
export function incompatibilities(
  next: SchemaDefinition,
  versions: readonly StandingVersion[],
  mode: CompatibilityMode,
): string[] {
  const compared = mode.endsWith("_transitive") ? versions : versions.slice(-1);
  if (mode === "none" || compared.length === 0) return [];
  const { unreadable } = next;
  if (unreadable === undefined) {
    throw new TypeError(
      `Cannot hold a schema of format "${next.format}" to '${mode}': the definition must have 'unreadable', found ${
        describeKind(unreadable)
      }`,
    );
  }
  const [backward, forward] = [!mode.startsWith("forward"), !mode.startsWith("backward")];
  return compared.flatMap(({ version, format, definition }) => {
    if (format !== next.format) return [`version ${version} is of format "${format}"`];
    const read = backward ? unreadable(next.definition, definition) : [];
    const written = forward ? unreadable(definition, next.definition) : [];
    return [
      ...read.map((reason) => `cannot read version ${version}: ${reason}`),
      ...written.map((reason) => `version ${version} cannot read it: ${reason}`),
    ];
  });
}
