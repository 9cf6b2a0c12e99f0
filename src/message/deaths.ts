/**
 * The broker's own record of how a message came to be dead-lettered: `x-death`.
 *
 * Only what the broker moved by itself has one: expired, beyond a length or a delivery limit, rejected by another program, or come
 * home from a rung. What this library set aside says why in `envelope.error` instead.
 *
 * @module
 */

import { own } from "./parse_envelope.ts";
import { readInteger, readText } from "./read_value.ts";
import { isWireTable, type WireTable, type WireValue } from "./wire_value.ts";

/** One queue that the broker has dead-lettered a message from, for one reason. */
export interface Death {
  /** Where the message was. */
  readonly queue: string;
  /** `rejected`, `expired`, `maxlen`, `delivery_limit`; another word of a broker to come is passed on. */
  readonly reason: string;
  /** How often it died there of it. */
  readonly count: number;
  /** What it had last been published to before it died there; empty for the default exchange. */
  readonly exchange: string;
  /** By which keys, copies included. */
  readonly routingKeys: readonly string[];
  /** When, by the broker's word and to the second; nothing is ordered by it. Absent where it says nothing. */
  readonly at?: Date | undefined;
}

/** The deaths of a message, newest first (contract core 4.5); what a client has written there and nobody can read is left out. */
export function parseDeaths(headers: WireTable): readonly Death[] {
  const list = own(headers, "x-death");
  return Array.isArray(list) ? list.flatMap(parseDeath) : [];
}

function parseDeath(entry: WireValue): Death[] {
  if (!isWireTable(entry)) return [];
  const queue = readText(own(entry, "queue"));
  const reason = readText(own(entry, "reason"));
  if (queue === undefined || reason === undefined) return [];
  const keys = own(entry, "routing-keys");
  const time = own(entry, "time");
  return [{
    queue,
    reason,
    count: Math.max(readInteger(own(entry, "count")) ?? 1, 1),
    exchange: readText(own(entry, "exchange")) ?? "",
    routingKeys: Array.isArray(keys) ? keys.flatMap((key: WireValue) => readText(key) ?? []) : [],
    at: time instanceof Date ? new Date(time) : undefined,
  }];
}
