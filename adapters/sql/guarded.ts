/**
 * One statement of a store: what the driver throws is wrapped once, here.
 *
 * @module
 */

import { guardedBy } from "../../src/internal/guarded.ts";

/** Wraps what a driver throws; `what` says in words what was to be done. Its own words may show values, so they are in the cause alone. */
export function guarded<T>(what: string, action: () => Promise<T>): Promise<T> {
  return guardedBy("the database", what, action);
}
