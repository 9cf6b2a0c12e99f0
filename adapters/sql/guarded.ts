/**
 * One statement of a store: what the driver throws is wrapped once, here.
 *
 * @module
 */

import { AceMqError, StoreError } from "../../src/errors.ts";

/** Wraps what a driver throws; `what` says in words what was to be done. Its own words may show values, so they are in the cause alone. */
export async function guarded<T>(what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof AceMqError) throw error;
    throw new StoreError(`Cannot ${what}: the database did not do it, for the reason in the cause`, { cause: error });
  }
}
