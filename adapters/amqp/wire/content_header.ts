/**
 * The content header: size of the body, basic properties, headers (AMQP 0-9-1 section 4.2.6.1).
 *
 * Read are the properties the contract reads, the others are stepped over; written are those the contract writes (contract core
 * 1.2).
 *
 * @module
 */

import type { Outbound } from "../../../src/message/outbound.ts";
import type { ReceivedProperties } from "../../../src/message/received.ts";
import type { WireTable } from "../../../src/message/wire_value.ts";
import type { ByteReader } from "./byte_reader.ts";
import type { ByteWriter } from "./byte_writer.ts";
import { MalformedFrame } from "./malformed.ts";
import { readTable } from "./table_reader.ts";
import { writeTable } from "./table_writer.ts";
import { Unwritable } from "./unwritable.ts";

const CLASS_BASIC = 60;

const CONTENT_TYPE = 0x8000;
const CONTENT_ENCODING = 0x4000;
const HEADERS = 0x2000;
const DELIVERY_MODE = 0x1000;
const PRIORITY = 0x0800;
const CORRELATION_ID = 0x0400;
const REPLY_TO = 0x0200;
const EXPIRATION = 0x0100;
const MESSAGE_ID = 0x0080;
/** Type, user id, app id and cluster id: nothing after them is read, so they need no stepping over. */
const MORE_FLAGS = 0x0001;

/** What a content header says. */
export interface ContentHeader {
  readonly bodySize: number;
  readonly properties: ReceivedProperties;
  readonly headers: WireTable;
}

/** Reads the payload of a content header frame. */
export function readContentHeader(reader: ByteReader): ContentHeader {
  reader.skip(4);
  const bodySize = reader.count64();
  const flags = reader.uint16();
  if ((flags & MORE_FLAGS) !== 0) throw new MalformedFrame("has more property flags than there are properties");
  const contentType = (flags & CONTENT_TYPE) === 0 ? undefined : reader.shortText();
  if ((flags & CONTENT_ENCODING) !== 0) reader.skip(reader.uint8());
  const headers = (flags & HEADERS) === 0 ? {} : readTable(reader);
  const deliveryMode = (flags & DELIVERY_MODE) === 0 ? undefined : reader.uint8();
  const priority = (flags & PRIORITY) === 0 ? undefined : reader.uint8();
  if ((flags & CORRELATION_ID) !== 0) reader.skip(reader.uint8());
  const replyTo = (flags & REPLY_TO) === 0 ? undefined : reader.shortText();
  const expiration = (flags & EXPIRATION) === 0 ? undefined : reader.shortText();
  const messageId = (flags & MESSAGE_ID) === 0 ? undefined : reader.shortText();
  return { bodySize, properties: { contentType, messageId, replyTo, deliveryMode, priority, expiration }, headers };
}

/** Writes the payload of a content header frame; what cannot be written throws {@linkcode Unwritable}. */
export function writeContentHeader(writer: ByteWriter, outbound: Outbound, messageId: string): void {
  const { contentType, replyTo, priority, expirationMs } = outbound;
  writer.uint16(CLASS_BASIC);
  writer.uint16(0);
  writer.uint64(outbound.body.byteLength);
  writer.uint16(flagsOf(outbound));
  if (isPresent(contentType)) writeProperty(writer, "content type", contentType);
  writeHeaders(writer, outbound.headers);
  writer.uint8(outbound.persistent ? 2 : 1);
  if (priority !== undefined) writer.uint8(checkedPriority(priority));
  if (isPresent(replyTo)) writeProperty(writer, "reply-to", replyTo);
  if (expirationMs !== undefined) writer.shortText(expirationText(expirationMs));
  writeProperty(writer, "message id", messageId);
}

function flagsOf({ contentType, replyTo, priority, expirationMs }: Outbound): number {
  return HEADERS | DELIVERY_MODE | MESSAGE_ID |
    (isPresent(contentType) ? CONTENT_TYPE : 0) |
    (priority === undefined ? 0 : PRIORITY) |
    (isPresent(replyTo) ? REPLY_TO : 0) |
    (expirationMs === undefined ? 0 : EXPIRATION);
}

function writeHeaders(writer: ByteWriter, headers: WireTable): void {
  try {
    writeTable(writer, headers);
  } catch (error) {
    throw error instanceof Unwritable ? new Unwritable(`header ${error.message}`) : error;
  }
}

function writeProperty(writer: ByteWriter, name: string, value: string): void {
  try {
    writer.shortText(value);
  } catch (error) {
    throw error instanceof Unwritable ? new Unwritable(`the ${name} ${error.message}`) : error;
  }
}

function checkedPriority(priority: number): number {
  if (Number.isInteger(priority) && priority >= 0 && priority <= 255) return priority;
  throw new Unwritable(`the priority must be a whole number from 0 to 255, found ${priority}`);
}

/** The broker closes the channel over anything but a whole number (406). */
function expirationText(expirationMs: number): string {
  if (Number.isSafeInteger(expirationMs) && expirationMs >= 0) return String(expirationMs);
  throw new Unwritable(`the expiration must be a whole number of milliseconds, found ${expirationMs}`);
}

function isPresent(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
