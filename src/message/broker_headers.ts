/**
 * Headers the broker writes for its own bookkeeping, and what becomes of them when a message is published again
 * (contract core 1.2).
 *
 * Copied, they harm: an `x-death` of another life makes the broker see a dead-letter cycle and drop the message when it leaves a
 * rung; an `x-delivery-count` claims redeliveries that never were; an `x-stream-offset` claims that the copy lies in a stream; `CC`
 * and `BCC` route the copy to the other queues once more.
 *
 * @module
 */

import { isReserved } from "./header_names.ts";
import { isWireTable, setEntry, type WireTable, type WireValue } from "./wire_value.ts";

/** Where a copy goes: on to a queue that can dead-letter it, or aside to one that cannot. */
export type CopyKind = "onward" | "set_aside";

/** Where in a stream an entry lies; the broker writes it on every delivery of a stream, and on no other. */
const STREAM_OFFSET = "x-stream-offset";

/** Whether a name is the broker's dead-letter history, its delivery counter or its offset in a stream. */
export function isBrokerBookkeeping(name: string): boolean {
  return name === "x-delivery-count" || name === STREAM_OFFSET || isDeathRecord(name);
}

/** Where in a stream a delivery comes from; undefined when it comes from none. A header that somebody sent along looks the same. */
export function streamOffset(headers: WireTable): number | bigint | undefined {
  const offset = Object.hasOwn(headers, STREAM_OFFSET) ? headers[STREAM_OFFSET] : undefined;
  return typeof offset === "bigint" || (typeof offset === "number" && Number.isInteger(offset)) ? offset : undefined;
}

/** The application headers of a received message as a copy of the given kind may carry them: same values, same kinds. */
export function headersForCopy(headers: WireTable, kind: CopyKind): WireTable {
  const kept: Record<string, WireValue> = {};
  for (const name of Object.keys(headers)) {
    if (isReserved(name)) continue;
    const value = headers[name] as WireValue;
    if (survivesCopy(name, value, kind)) setEntry(kept, name, value);
  }
  return kept;
}

function survivesCopy(name: string, value: WireValue, kind: CopyKind): boolean {
  if (name === "x-delivery-count" || name === STREAM_OFFSET || name === "CC" || name === "BCC") return false;
  if (!isDeathRecord(name)) return true;
  return kind === "set_aside" && (name !== "x-death" || isWellFormedDeath(value));
}

function isDeathRecord(name: string): boolean {
  return name === "x-death" || name.startsWith("x-first-death-") || name.startsWith("x-last-death-");
}

/** Anything but a list of tables with whole counts crashes the queue process that dead-letters the message. */
function isWellFormedDeath(value: WireValue): boolean {
  return Array.isArray(value) && value.every((entry: WireValue) => {
    if (!isWireTable(entry)) return false;
    const count = Object.hasOwn(entry, "count") ? entry["count"] : undefined;
    return typeof count === "bigint" || Number.isInteger(count);
  });
}
