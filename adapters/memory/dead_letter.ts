/**
 * What a message becomes when it leaves a queue without being acknowledged.
 *
 * @module
 */

import { type DeathReason, headersAfterDeath } from "./death_history.ts";
import { keysIn, type StoredMessage, withoutHeader } from "./stored_message.ts";

/** Where and why a message died, and where it goes. */
export interface DeathNotice {
  readonly queue: string;
  readonly reason: DeathReason;
  readonly exchange: string;
  /** Undefined keeps the message's own keys. */
  readonly routingKey: string | undefined;
  readonly atMs: number;
}

/** The message as it goes to the dead-letter exchange; `"lost"` where the broker loses it on the way. */
export function deadLettered(message: StoredMessage, notice: DeathNotice): StoredMessage | "lost" {
  const { queue, reason, atMs, routingKey } = notice;
  const headers = headersAfterDeath(message.headers, {
    queue,
    reason,
    atMs,
    exchange: message.exchange,
    routingKeys: [message.keys[0], ...keysIn(message.headers, "CC")],
    expiration: message.properties.expiration,
  });
  if (headers === "lost") return "lost";
  return {
    ...message,
    exchange: notice.exchange,
    keys: routingKey === undefined ? message.keys : [routingKey],
    headers: routingKey === undefined ? headers : withoutHeader(headers, "CC"),
    properties: { ...message.properties, expiration: undefined },
  };
}
