/**
 * A received message as it goes out again: original bytes, properties rebuilt, the hop's own change in the envelope
 * (contract core 1.2 "On republish").
 *
 * @module
 */

import { truncateUtf8, utf8Length } from "../internal/bytes.ts";
import { type CopyKind, headersForCopy } from "./broker_headers.ts";
import type { Envelope } from "./envelope.ts";
import type { Outbound } from "./outbound.ts";
import type { ReceivedMessage } from "./received.ts";
import { renderHeaders } from "./render_envelope.ts";
import { contentHeaderSize } from "./wire_size.ts";

/** Where a copy goes. */
export interface CopyTarget {
  readonly kind: CopyKind;
  readonly queue: string;
}

/** The longest text an AMQP short string holds, bytes. */
const SHORT_TEXT_BYTES = 255;

/** What is kept of an error text, bytes of UTF-8 (contract core 4.7). */
const ERROR_BYTES = 8_192;

/** The copy of a received message under a new envelope, through the default exchange, persistent and mandatory. */
export function copyOf(received: ReceivedMessage, envelope: Envelope, target: CopyTarget): Outbound {
  const { contentType, replyTo } = received.properties;
  return {
    exchange: "",
    routingKey: target.queue,
    body: received.body,
    contentType,
    // An id that fits no property stays in its header; the publish then gets a property of its own for the broker's return.
    messageId: utf8Length(envelope.id) <= SHORT_TEXT_BYTES ? envelope.id : undefined,
    headers: renderHeaders(envelope, headersForCopy(received.headers, target.kind)),
    persistent: true,
    mandatory: true,
    replyTo: replyTo === "" ? undefined : replyTo,
  };
}

/**
 * The copy that is set aside, its reason cut at a character so that the header fits `maxHeaderBytes`: one long error text must
 * never make a set-aside impossible.
 */
export function setAsideCopy(
  received: ReceivedMessage,
  envelope: Envelope,
  { queue, reason, maxHeaderBytes = Infinity }: { queue: string; reason: string; maxHeaderBytes?: number | undefined },
): Outbound {
  const make = (error: string): Outbound => copyOf(received, { ...envelope, error }, { kind: "set_aside", queue });
  const kept = truncateUtf8(reason, ERROR_BYTES);
  const full = make(kept);
  const excess = contentHeaderSize(full) - maxHeaderBytes;
  if (!(excess > 0)) return full;
  return make(truncateUtf8(kept, utf8Length(kept) - excess));
}
