/**
 * Which keys are names of files (contract patterns 1.5).
 *
 * @module
 */

import { ClaimMissingError } from "../../src/errors.ts";

/** No separator, and no dot in front: it stays in its directory. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** What is being written. */
export const STAGING_SUFFIX = ".partial";

/** Refuses what can be no key, before it becomes a path. Throws a {@linkcode ClaimMissingError}. */
export function assertClaimFileKey(key: unknown): asserts key is string {
  if (typeof key === "string" && NAME.test(key) && !key.endsWith(STAGING_SUFFIX)) return;
  const found = typeof key === "string" ? JSON.stringify(key.slice(0, 40)) : typeof key;
  throw new ClaimMissingError(
    `Cannot use the key of a claim check: it must be letters, digits, '.', '_' and '-', at most 128 of them, found ${found}`,
  );
}
