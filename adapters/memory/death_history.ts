/**
 * The `x-death` header: where a message died, why and how often, as RabbitMQ 3.10 writes it.
 *
 * @module
 */

import { isWireTable, type WireTable, type WireValue } from "../../src/message/wire_value.ts";

/** Why a message left a queue without being acknowledged. */
export type DeathReason = "rejected" | "expired" | "maxlen" | "delivery_limit";

/** One death. */
export interface Death {
  readonly queue: string;
  readonly reason: DeathReason;
  /** The exchange the message had been published to. */
  readonly exchange: string;
  /** Its routing key, then those of `CC`. */
  readonly routingKeys: readonly string[];
  readonly atMs: number;
  /** Its own time to live, which it loses now: otherwise it would expire again where it lands. */
  readonly expiration: string | undefined;
}

/**
 * The headers with one more death, or `"lost"`: over an `x-death` that only a client can have written so, the broker's queue
 * crashes and the message is gone.
 */
export function headersAfterDeath(headers: WireTable, death: Death): WireTable | "lost" {
  const isFirst = !Object.hasOwn(headers, "x-death");
  const earlier = isFirst ? undefined : headers["x-death"];
  const deaths = Array.isArray(earlier) ? addDeath(earlier, death) : [newEntry(death)];
  if (deaths === "lost") return "lost";
  if (!isFirst) return { ...headers, "x-death": deaths };
  return {
    ...headers,
    "x-death": deaths,
    "x-first-death-reason": death.reason,
    "x-first-death-queue": death.queue,
    "x-first-death-exchange": death.exchange,
  };
}

/**
 * Whether the broker drops a dead-lettered message rather than put it into `queue`: it has died there before, and nobody has
 * rejected it since, so that it would go round for ever.
 */
export function isDeathCycle(headers: WireTable, queue: string): boolean {
  const deaths = headers["x-death"];
  if (!Array.isArray(deaths)) return false;
  const last = deaths.findIndex((entry: WireValue) => isWireTable(entry) && entry["queue"] === queue);
  return last >= 0 &&
    deaths.slice(0, last + 1).every((entry: WireValue) => isWireTable(entry) && entry["reason"] !== "rejected");
}

/** Same queue and reason: the entry moves to the front, its count raised, everything else in it as it was. */
function addDeath(earlier: readonly WireValue[], death: Death): WireValue[] | "lost" {
  const entries = grouped(earlier);
  if (entries === "lost") return "lost";
  const same = entries.find((entry) => entry["queue"] === death.queue && entry["reason"] === death.reason);
  if (same === undefined) return [newEntry(death), ...entries];
  const count = countOf(same);
  if (count === undefined) return "lost";
  return [{ ...same, count: count + 1 }, ...entries.filter((entry) => entry !== same)];
}

/**
 * Of several entries of one queue and reason the broker keeps the first, and turns the order round: that decides which of them
 * it finds first when it looks for a cycle.
 */
function grouped(earlier: readonly WireValue[]): readonly WireTable[] | "lost" {
  const tables = earlier.filter((entry) => isWireTable(entry));
  if (tables.length < earlier.length) return "lost";
  if (tables.length === 1) return tables;
  const isSame = (one: WireTable, other: WireTable): boolean =>
    one["queue"] === other["queue"] && one["reason"] === other["reason"];
  return tables.filter((entry, index) => tables.findIndex((other) => isSame(entry, other)) === index)
    .map((entry) => ({ count: tables.filter((other) => isSame(entry, other)).length, ...entry }))
    .reverse();
}

/** Undefined where the broker cannot count on. */
function countOf(entry: WireTable): number | undefined {
  const count = Object.hasOwn(entry, "count") ? entry["count"] : 0;
  return typeof count === "number" || typeof count === "bigint" ? Number(count) : undefined;
}

function newEntry({ queue, reason, exchange, routingKeys, atMs, expiration }: Death): WireTable {
  return {
    count: 1,
    reason,
    queue,
    time: new Date(Math.floor(atMs / 1_000) * 1_000),
    exchange,
    "routing-keys": routingKeys,
    ...(expiration === undefined ? {} : { "original-expiration": expiration }),
  };
}
