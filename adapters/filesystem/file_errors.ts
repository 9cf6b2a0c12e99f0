/**
 * What the file system says.
 *
 * @module
 */

import type { StoreError } from "../../src/errors.ts";
import { guardedBy, storeFailure } from "../../src/internal/guarded.ts";

const FILE_SYSTEM = "the file system";

/** Whether it says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as { readonly code?: unknown }).code === "ENOENT";
}

/** Wraps what it throws; `what` says in words what was to be done. */
export function onDisk<T>(what: string, action: () => Promise<T>): Promise<T> {
  return guardedBy(FILE_SYSTEM, what, action);
}

/** The error for what it threw. */
export function diskFailure(what: string, cause: unknown): StoreError {
  return storeFailure(FILE_SYSTEM, what, cause);
}
