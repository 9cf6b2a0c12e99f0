/**
 * What the file system says.
 *
 * @module
 */

import { StoreError } from "../../src/errors.ts";

/** Whether it says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as { readonly code?: unknown }).code === "ENOENT";
}

/** Wraps what it throws; `what` says in words what was to be done. */
export async function onDisk<T>(what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw new StoreError(`Cannot ${what}: the file system did not do it, for the reason in the cause`, {
      cause: error,
    });
  }
}
