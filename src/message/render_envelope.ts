/**
 * Envelope to headers (contract core 1.1): names, kinds and widths exactly as written there; what is absent writes nothing.
 *
 * @module
 */

import { type Envelope, LARGEST_INT32 } from "./envelope.ts";
import {
  HEADER_ATTEMPT,
  HEADER_CAUSATION,
  HEADER_CLAIM,
  HEADER_CORRELATION,
  HEADER_ERROR,
  HEADER_FIRST_SEEN,
  HEADER_ID,
  HEADER_ORIGIN,
  HEADER_REPLAY_COUNT,
  HEADER_REPLAYED_AT,
  HEADER_REPLAYED_FROM,
  HEADER_ROUTE,
  HEADER_ROUTE_ID,
  HEADER_ROUTE_POSITION,
  HEADER_TYPE,
  HEADER_VERSION,
  isReserved,
} from "./header_names.ts";
import { setEntry, type WireTable, type WireValue } from "./wire_value.ts";

/**
 * The whole header table of a message: the envelope's headers and the application's. An attempt that was read as more than 32 bits
 * hold leaves as the most they hold; a version is the sender's word, and leaves as it came.
 *
 * A reserved name among the application's is left out. The replay three, which both may have, stay as the application's: a copy
 * keeps what it came with, value and kind.
 */
export function renderHeaders(envelope: Envelope, application: WireTable): WireTable {
  const table: Record<string, WireValue> = {};
  table[HEADER_ID] = envelope.id;
  table[HEADER_TYPE] = envelope.type;
  table[HEADER_VERSION] = envelope.version;
  table[HEADER_CORRELATION] = envelope.correlationId;
  table[HEADER_ATTEMPT] = int32(envelope.attempt);
  // A bigint is what makes the 64-bit kind certain, also for a clock that stands near the epoch.
  table[HEADER_FIRST_SEEN] = BigInt(Math.trunc(envelope.firstSeenMs));
  addText(table, HEADER_ORIGIN, envelope.origin);
  addText(table, HEADER_CAUSATION, envelope.causationId);
  addText(table, HEADER_ERROR, envelope.error);
  addText(table, HEADER_CLAIM, envelope.claim);
  addRoute(table, envelope);
  addReplay(table, envelope);
  for (const name of Object.keys(application)) {
    if (!isReserved(name)) setEntry(table, name, application[name] as WireValue);
  }
  return table;
}

/** What the engine itself counts has the 32-bit kind: of more, another language may read the lower half, and begin at attempt one. */
function int32(value: number): number {
  return Math.min(value, LARGEST_INT32);
}

function addText(table: Record<string, WireValue>, name: string, value: string | undefined): void {
  if (value !== undefined && value !== "") table[name] = value;
}

function addRoute(table: Record<string, WireValue>, { route }: Envelope): void {
  if (route === undefined || route.steps.length === 0) return;
  table[HEADER_ROUTE] = route.steps.join(",");
  table[HEADER_ROUTE_POSITION] = route.position;
  addText(table, HEADER_ROUTE_ID, route.runId);
}

function addReplay(table: Record<string, WireValue>, { replayedFrom, replayedAt, replayCount }: Envelope): void {
  addText(table, HEADER_REPLAYED_FROM, replayedFrom);
  addText(table, HEADER_REPLAYED_AT, replayedAt?.toISOString());
  if (replayCount !== undefined && replayCount > 0) table[HEADER_REPLAY_COUNT] = int32(replayCount);
}
