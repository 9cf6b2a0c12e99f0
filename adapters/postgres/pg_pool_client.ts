/**
 * A client of a pool of `pg`, from the moment it is handed out.
 *
 * @module
 */

import type { PgPool, PgPoolClient } from "./drivers.ts";

/**
 * A client of a pool, listened to from the moment it is handed out, which is before a promise of it resolves. The statement that meets
 * the loss of its connection rejects; the client tells the loss once more, and with nobody listening that ends the process.
 */
export function handedOut(pool: PgPool): Promise<PgPoolClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) return reject(error);
      client.on?.("error", ignoreLoss);
      resolve(client);
    });
  });
}

/** Gives it back, or away with it: one that is thrown away may have more to tell. */
export function giveBack(client: PgPoolClient, { isSpent }: { readonly isSpent: boolean }): void {
  client.release(isSpent);
  if (!isSpent) client.removeListener?.("error", ignoreLoss);
}

function ignoreLoss(): void {/* see handedOut */}
