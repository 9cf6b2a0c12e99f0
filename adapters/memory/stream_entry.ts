/**
 * One entry of a stream, and what becomes of the headers of a message there: RabbitMQ keeps entries as messages of AMQP 1.0.
 *
 * @module
 */

import {
  isWireTable,
  setEntry,
  WireDecimal,
  WireNested,
  type WireTable,
  WireUnsigned,
  type WireValue,
} from "../../src/message/wire_value.ts";
import type { StoredMessage } from "./stored_message.ts";

/** One entry; never changed. */
export interface StreamEntry {
  /** Its number: the one before it has a lower one. */
  readonly offset: number;
  /** When it was written, epoch milliseconds. */
  readonly atMs: number;
  /** What readers get. */
  readonly message: StoredMessage;
}

/** The entry a message becomes; undefined when it cannot be one. */
export function streamEntry(message: StoredMessage, offset: number, atMs: number): StreamEntry | undefined {
  const headers = headersInStream(message.headers);
  if (headers === undefined) return undefined;
  setEntry(headers, "x-stream-offset", offset);
  return { offset, atMs, message: { ...message, headers } };
}

/** Lists and tables are dropped; a decimal crashes whoever writes it. */
function headersInStream(headers: WireTable): Record<string, WireValue> | undefined {
  const kept: Record<string, WireValue> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value instanceof WireDecimal) return undefined;
    if (!isStructure(value)) setEntry(kept, name, value instanceof WireUnsigned ? signed(value) : value);
  }
  return kept;
}

function isStructure(value: WireValue): boolean {
  return Array.isArray(value) || value instanceof WireNested || isWireTable(value);
}

function signed({ value }: WireUnsigned): WireValue {
  const integer = BigInt.asIntN(64, value);
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}
