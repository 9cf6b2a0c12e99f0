/**
 * Claims of one table one after the other.
 *
 * @module
 */

import { StoreError } from "../../src/errors.ts";
import type { SqlDialect } from "./dialect.ts";
import { raw, sql } from "./fragment.ts";
import type { ClaimedRows, OutboxWork } from "./outbox_table.ts";

/** Times a claim begins anew when somebody changes what it has picked. */
const TRIES = 5;

/** Of advisory locks: nobody else's, one hopes. */
const LOCK_CLASS = 1_633_906_029;

/** Somebody marked a row while it was picked: what comes behind it may have to wait, so nothing of the claim stands. */
export class Overtaken extends StoreError {}

/**
 * Runs a claim in a transaction, while nobody else claims so, and once more where it was {@linkcode Overtaken}. Otherwise each of two
 * would see as free what the other is just taking, or pass it over and hand out what comes behind it.
 */
export async function claimAlone(
  { name, dialect }: { readonly name: string; readonly dialect: SqlDialect },
  work: OutboxWork,
  claim: (inner: OutboxWork) => Promise<ClaimedRows>,
): Promise<ClaimedRows> {
  // One writes at a time there.
  if (dialect.name === "sqlite") return await work.together(claim);
  const lock = sql`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::int, to_regclass(${name})::oid::int)`;
  for (let tries = 1;; tries++) {
    try {
      return await work.together(async (inner) => {
        // A claim has to see what was committed while it waited.
        await inner.run("claim rows", raw("SET TRANSACTION ISOLATION LEVEL READ COMMITTED"));
        await inner.run("claim rows", lock);
        return await claim(inner);
      });
    } catch (error) {
      if (!(error instanceof Overtaken) || tries === TRIES) throw error;
    }
  }
}
