/**
 * How many bytes a message's content header takes on the wire: what has to fit one frame.
 *
 * @module
 */

import { utf8Length } from "../internal/bytes.ts";
import type { Outbound } from "./outbound.ts";
import {
  isWireTable,
  WireDecimal,
  WireDouble,
  WireNested,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "./wire_value.ts";

/** Frame type, channel, size and end: what every frame adds to its payload. */
export const FRAME_OVERHEAD = 8;

/** Class, weight and body size, then the property flags. */
const FIXED_PART = 14;

/** The size of the content header payload of an outbound message (AMQP 0-9-1 section 4.2.6.1). */
export function contentHeaderSize(outbound: Outbound): number {
  let size = FIXED_PART + 1 + tableSize(outbound.headers);
  for (const text of [outbound.contentType, outbound.messageId, outbound.replyTo]) {
    if (text !== undefined && text !== "") size += 1 + utf8Length(text);
  }
  if (outbound.priority !== undefined) size += 1;
  if (outbound.expirationMs !== undefined) size += 1 + String(outbound.expirationMs).length;
  return size;
}

/** The size of a header table, its length prefix included. */
export function tableSize(table: WireTable): number {
  let size = 4;
  for (const name of Object.keys(table)) size += 1 + utf8Length(name) + valueSize(table[name] as WireValue);
  return size;
}

/** The size of one value, its kind byte included. */
function valueSize(value: WireValue): number {
  if (value === null) return 1;
  if (typeof value === "boolean") return 2;
  if (typeof value === "string") return 5 + utf8Length(value);
  if (typeof value === "number") return Number.isInteger(value) && value === (value | 0) ? 5 : 9;
  if (typeof value === "bigint") return 9;
  if (value instanceof Uint8Array) return 5 + value.byteLength;
  if (value instanceof WireText || value instanceof WireNested) return 5 + value.bytes.byteLength;
  if (value instanceof WireDecimal) return 6;
  if (value instanceof Date || value instanceof WireDouble) return 9;
  if (value instanceof WireUnsigned || value instanceof WireTimestamp) return 9;
  if (isWireTable(value)) return 1 + tableSize(value);
  return value.reduce<number>((size, item) => size + valueSize(item), 5);
}
