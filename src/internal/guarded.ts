/**
 * What stands outside and fails: its own error is wrapped once, here.
 *
 * @module
 */

import { AceMqError, StoreError } from "../errors.ts";

/** Runs what `store` is asked for; `what` says in words what was to be done. What is an error of the library already goes on as it is. */
export async function guardedBy<T>(store: string, what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw error instanceof AceMqError ? error : storeFailure(store, what, error);
  }
}

/** The error for it. The store's own words may show values, so they are in the cause alone. */
export function storeFailure(store: string, what: string, cause: unknown): StoreError {
  return new StoreError(`Cannot ${what}: ${store} did not do it, for the reason in the cause`, { cause });
}
