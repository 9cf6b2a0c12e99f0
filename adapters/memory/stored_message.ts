/**
 * A message as the broker keeps it: nobody outside holds a part of it.
 *
 * @module
 */

import { randomUuid } from "../../src/clock.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { ReceivedMessage, ReceivedProperties } from "../../src/message/received.ts";
import type { WireTable } from "../../src/message/wire_value.ts";
import { LONGEST_TIME_MS } from "./argument_reader.ts";
import { preconditionFailed } from "./refusals.ts";
import { fitsShortText, isFlat, tableAfterHop } from "./wire_hop.ts";
import { kindOf } from "./wire_kind.ts";

/** One message; shared between the queues it was routed to, and never changed. */
export interface StoredMessage {
  readonly exchange: string;
  /** The routing key it was published with, then those of its `CC` and `BCC` headers. */
  readonly keys: readonly [string, ...string[]];
  readonly properties: ReceivedProperties;
  readonly headers: WireTable;
  readonly body: Uint8Array;
}

/** A message as somebody else's client would publish it: raw properties, raw headers, raw bytes. */
export interface RecordedMessage {
  /** Where it was published to; empty for the default exchange. */
  readonly exchange: string;
  /** Under which key. */
  readonly routingKey: string;
  /** Its AMQP properties. */
  readonly properties?: ReceivedProperties;
  /** Its headers, with their wire kinds. */
  readonly headers?: WireTable;
  /** Its bytes. */
  readonly body: Uint8Array;
}

/** The properties an outbound message has on the wire: an empty text is the same as none, and no message is without an id. */
export function propertiesOf(outbound: Outbound): ReceivedProperties {
  return {
    contentType: outbound.contentType || undefined,
    messageId: usableId(outbound.messageId) ?? randomUuid(),
    replyTo: outbound.replyTo || undefined,
    deliveryMode: outbound.persistent ? 2 : 1,
    priority: outbound.priority,
    expiration: outbound.expirationMs === undefined ? undefined : String(outbound.expirationMs),
  };
}

function usableId(id: string | undefined): string | undefined {
  return id !== undefined && id !== "" && fitsShortText(id) ? id : undefined;
}

/**
 * Takes a message in. Its `BCC` header has done its work then and is gone (contract core 1.2).
 *
 * @throws {UnwritableError} a header value no AMQP kind holds
 * @throws {Refusal} a `CC` or `BCC` header that is no list, an expiration that is no whole number
 */
export function storedMessage(
  { exchange, routingKey, properties = {}, headers = {}, body }: RecordedMessage,
): StoredMessage {
  const arrived = tableAfterHop(headers);
  const { expiration } = properties;
  if (expiration !== undefined && !/^\d+$/.test(expiration)) {
    throw preconditionFailed(`invalid expiration '${expiration}'`);
  }
  if (Number(expiration) > LONGEST_TIME_MS) {
    throw preconditionFailed(`invalid expiration '${expiration}': {value_too_large,${expiration}}`);
  }
  return {
    exchange,
    keys: [routingKey, ...keysIn(arrived, "CC"), ...keysIn(arrived, "BCC")],
    properties: { ...properties },
    headers: Object.hasOwn(arrived, "BCC") ? withoutHeader(arrived, "BCC") : arrived,
    body: new Uint8Array(body),
  };
}

/** The headers but for one. */
export function withoutHeader(headers: WireTable, name: string): WireTable {
  const { [name]: _, ...others } = headers;
  return others;
}

/** A copy to hand out; `returns` is what a quorum queue tells in `x-delivery-count`, undefined where it tells nothing. */
export function receivedMessage(
  message: StoredMessage,
  { redelivered, returns }: { readonly redelivered: boolean; readonly returns?: number | undefined },
): ReceivedMessage {
  const headers = isFlat(message.headers) ? { ...message.headers } : tableAfterHop(message.headers);
  return {
    exchange: message.exchange,
    routingKey: message.keys[0],
    redelivered,
    properties: { ...message.properties },
    headers: returns === undefined ? headers : { ...headers, "x-delivery-count": returns },
    body: new Uint8Array(message.body),
  };
}

const NO_KEYS: readonly string[] = [];

/** The routing keys a `CC` or `BCC` header adds; what is no text in it adds none. Throws the broker's refusal of another kind. */
export function keysIn(headers: WireTable, name: "CC" | "BCC"): readonly string[] {
  if (!Object.hasOwn(headers, name)) return NO_KEYS;
  const value = headers[name] ?? null;
  if (Array.isArray(value)) return value.filter((key) => typeof key === "string");
  throw preconditionFailed(`invalid message: {unacceptable_type_in_header,"${name}",${kindOf(value)}}`);
}
