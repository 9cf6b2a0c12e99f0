/**
 * Listening with a client of a pool of `pg`.
 *
 * @module
 */

import { StoreError } from "../../src/errors.ts";
import { orAborted } from "../../src/internal/abort.ts";
import type { PgNotification, PgPool, PgPoolClient } from "./drivers.ts";
import type { Line, LineHooks, OpenLine } from "./notifications.ts";
import { giveBack, handedOut } from "./pg_pool_client.ts";

const ONE_CLIENT = "Cannot listen with a pool of one client, which the statements need: give 'listenOn' another one";

/** Takes a client out of a pool for as long as it listens, and throws it away then. One that is lost is not opened again. */
export function pgLines(pool: PgPool): OpenLine {
  return async (channel, hooks, signal) => {
    if (pool.options?.max === 1) throw new StoreError(ONE_CLIENT);
    signal.throwIfAborted();
    const handing = handedOut(pool);
    try {
      const client = await orAborted(handing, signal);
      return await listenOn(client, { channel, hooks, signal });
    } catch (error) {
      handing.then((client) => giveBack(client, { isSpent: true }), () => {});
      throw error;
    }
  };
}

async function listenOn(
  client: PgPoolClient,
  { channel, hooks, signal }: { readonly channel: string; readonly hooks: LineHooks; readonly signal: AbortSignal },
): Promise<Line> {
  let isOver = false;
  const lose = (reason: unknown): void => {
    if (!isOver) hooks.lost(reason);
  };
  const onNotification = (told: PgNotification): void => {
    if (!isOver && told.channel === channel) hooks.heard(told.payload ?? "");
  };
  client.on?.("notification", onNotification);
  client.on?.("error", lose);
  client.on?.("end", () => lose(new StoreError("The connection that listens was closed")));
  await orAborted(client.query(`LISTEN "${channel}"`), signal);
  hooks.up();
  return {
    isKeptUp: false,
    close: async () => {
      if (isOver) return;
      isOver = true;
      giveBack(client, { isSpent: true });
    },
  };
}
