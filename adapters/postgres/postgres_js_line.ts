/**
 * Listening with postgres.js.
 *
 * @module
 */

import type { PostgresJsListener } from "./drivers.ts";
import type { OpenLine } from "./notifications.ts";

/**
 * Has the driver listen on its own connection for that, one for the whole root, which it opens again by itself and keeps until the root
 * is ended. It also goes on with what it has rejected at first, and after a loss forgets who has stopped listening: so one call is all it
 * gets, and what it says afterwards is passed over.
 */
export function postgresJsLines(sql: PostgresJsListener): OpenLine {
  return async (channel, hooks, signal) => {
    signal.throwIfAborted();
    let isOver = false;
    const heard = (payload: string): void => {
      if (!isOver) hooks.heard(payload);
    };
    const up = (): void => {
      if (!isOver) hooks.up();
    };
    const listening = sql.listen(channel, heard, up).catch(() => undefined);
    return {
      isKeptUp: true,
      close: async () => {
        isOver = true;
        // Not waited for: the connection may be away, and what it still says is not heard.
        listening.then((made) => made?.unlisten()).catch(() => {});
      },
    };
  };
}
