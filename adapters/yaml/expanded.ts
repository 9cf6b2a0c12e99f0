/**
 * How large a value is for whoever walks it: aliases share nodes, so little text can hold a value of a billion.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";

/** What a value may come to when every alias is written out. */
export interface ExpandedLimits {
  readonly maxNodes: number;
  readonly maxDepth: number;
}

/** What is known of a collection: nothing but that it is being walked, or its size. */
type Known = "open" | Size;

/** What a value comes to, and whether anything in it stands more than once. */
interface Size {
  readonly nodes: number;
  readonly depth: number;
  readonly isShared: boolean;
}

/** Throws a `DecodeError` for a value that holds itself, and for one that is deeper, or by its aliases larger, than the limits. */
export function assertExpanded(value: unknown, { maxNodes, maxDepth }: ExpandedLimits): void {
  const known = new Map<object, Known>();
  const measure = (value: unknown, left: number): Size => {
    if (typeof value !== "object" || value === null || value instanceof Date) return SCALAR;
    const before = known.get(value);
    if (before === "open") {
      throw new DecodeError("Cannot read the body as YAML: an alias stands within its own anchor");
    }
    if (left < (before?.depth ?? 1)) {
      throw new DecodeError(`Cannot read the body as YAML: it is nested deeper than ${maxDepth} levels`);
    }
    if (before !== undefined) return { ...before, isShared: true };
    known.set(value, "open");
    const size = sum(Object.values(value).map((member) => measure(member, left - 1)));
    known.set(value, size);
    return size;
  };
  const { nodes, isShared } = measure(value, maxDepth);
  // Each size was measured once, however often it counts: the number may be beyond all bounds, but was quickly found.
  if (isShared && nodes > maxNodes) {
    throw new DecodeError(`Cannot read the body as YAML: with its aliases it has more than ${maxNodes} nodes`);
  }
}

const SCALAR: Readonly<Size> = { nodes: 1, depth: 0, isShared: false };

function sum(members: readonly Size[]): Size {
  let [nodes, depth, isShared] = [1, 0, false];
  for (const member of members) {
    nodes += member.nodes;
    depth = Math.max(depth, member.depth);
    isShared ||= member.isShared;
  }
  return { nodes, depth: depth + 1, isShared };
}
