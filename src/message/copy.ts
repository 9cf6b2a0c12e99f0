/**
 * A received message as it goes out again: original bytes, properties rebuilt, the hop's own change in the envelope
 * (contract core 1.2 "On republish").
 *
 * What arrived must always be able to leave: a copy that would not fit a frame gives up what the hop would have added, never what
 * came.
 *
 * @module
 */

import { truncateUtf8, utf8Length } from "../internal/bytes.ts";
import { type CopyKind, headersForCopy } from "./broker_headers.ts";
import type { Envelope } from "./envelope.ts";
import { HEADER_ATTEMPT, HEADER_ERROR, isReplayStamp, isReserved } from "./header_names.ts";
import type { Outbound } from "./outbound.ts";
import type { ReceivedMessage } from "./received.ts";
import { renderHeaders } from "./render_envelope.ts";
import { contentHeaderSize } from "./wire_size.ts";
import { setEntry, type WireTable, type WireValue } from "./wire_value.ts";

/** Where a copy goes, and what may hold it. */
export interface CopyTarget {
  readonly kind: CopyKind;
  readonly queue: string;
  /** Bytes of content header the broker takes; undefined for no limit. */
  readonly maxHeaderBytes?: number | undefined;
}

/** The longest text an AMQP short string holds, bytes. */
const SHORT_TEXT_BYTES = 255;

/** What is kept of an error text, bytes of UTF-8 (contract core 4.7). */
const ERROR_BYTES = 8_192;

/** What the error header takes beside its text: its name and its kind, each with a length. */
const ERROR_OVERHEAD_BYTES = 1 + HEADER_ERROR.length + 5;

/**
 * The copy of a received message under a new envelope, through the default exchange, persistent and mandatory.
 *
 * Where the whole envelope does not fit, only the names that came are written, and the attempt.
 */
export function copyOf(received: ReceivedMessage, envelope: Envelope, target: CopyTarget): Outbound {
  const whole = wholeCopy(received, envelope, target);
  return fits(whole, target) ? whole : leanCopy(whole, received);
}

/**
 * The copy that is set aside, its reason cut at a character so that the header fits: one long error text must never make a
 * set-aside impossible. Where nothing fits, the message goes aside as it came, without a reason.
 */
export function setAsideCopy(
  received: ReceivedMessage,
  envelope: Envelope,
  { reason, ...target }: {
    readonly queue: string;
    readonly reason: string;
    readonly maxHeaderBytes?: number | undefined;
  },
): Outbound {
  const aside: CopyTarget = { ...target, kind: "set_aside" };
  const whole = wholeCopy(received, { ...envelope, error: undefined }, aside);
  const lean = (): Outbound => leanCopy(whole, received);
  return withReason(whole, reason, aside) ?? withReason(lean(), reason, aside) ?? bareCopy(whole, received);
}

/**
 * The copy that is put back. Its stamps are those of the envelope, whatever the message came with; where they do not fit, it goes
 * back without any rather than never.
 */
export function replayCopy(
  received: ReceivedMessage,
  envelope: Envelope,
  target: Omit<CopyTarget, "kind">,
): Outbound {
  const headers = filtered(received.headers, (name) => !isReplayStamp(name));
  const back: CopyTarget = { ...target, kind: "onward" };
  const stamped = copyOf({ ...received, headers }, envelope, back);
  if (fits(stamped, back)) return stamped;
  const unstamped = { ...envelope, replayedFrom: undefined, replayedAt: undefined, replayCount: undefined };
  return copyOf({ ...received, headers }, unstamped, back);
}

function wholeCopy(received: ReceivedMessage, envelope: Envelope, { kind, queue }: CopyTarget): Outbound {
  const { contentType, replyTo } = received.properties;
  return {
    exchange: "",
    routingKey: queue,
    body: received.body,
    contentType: shortText(contentType),
    // An id that fits no property stays in its header; the publish then gets a property of its own for the broker's return.
    messageId: shortText(envelope.id),
    headers: renderHeaders(envelope, headersForCopy(received.headers, kind)),
    persistent: true,
    mandatory: true,
    replyTo: replyTo === "" ? undefined : shortText(replyTo),
  };
}

/** Without the engine's names that did not come, but for what the hop itself has to say. */
function leanCopy(whole: Outbound, { headers }: ReceivedMessage): Outbound {
  const isKept = (name: string): boolean =>
    !isReserved(name) || name === HEADER_ATTEMPT || Object.hasOwn(headers, name);
  return { ...whole, headers: filtered(whole.headers, isKept) };
}

/** The headers as they came, less what the broker must not get again. */
function bareCopy(whole: Outbound, { headers, properties }: ReceivedMessage): Outbound {
  const came = filtered(headers, (name) => isReserved(name) && name !== HEADER_ERROR);
  return { ...whole, messageId: properties.messageId, headers: { ...headersForCopy(headers, "onward"), ...came } };
}

/** With as much of a reason as there is room for; undefined when the copy does not even fit without one. */
function withReason(copy: Outbound, reason: string, { maxHeaderBytes = Infinity }: CopyTarget): Outbound | undefined {
  const room = maxHeaderBytes - contentHeaderSize(copy) - ERROR_OVERHEAD_BYTES;
  if (room < 0) return undefined;
  // The text of an error may be cut anywhere by whoever made it; half a surrogate pair cannot be written.
  const text = truncateUtf8(reason.toWellFormed(), Math.min(ERROR_BYTES, room));
  return text === "" ? copy : { ...copy, headers: { ...copy.headers, [HEADER_ERROR]: text } };
}

function fits(copy: Outbound, { maxHeaderBytes = Infinity }: CopyTarget): boolean {
  return maxHeaderBytes === Infinity || contentHeaderSize(copy) <= maxHeaderBytes;
}

function filtered(headers: WireTable, isKept: (name: string) => boolean): WireTable {
  const kept: Record<string, WireValue> = {};
  for (const name of Object.keys(headers)) if (isKept(name)) setEntry(kept, name, headers[name] as WireValue);
  return kept;
}

/** A property that arrived as invalid UTF-8 may have grown in reading; one that has no place any more is left out. */
function shortText(text: string | undefined): string | undefined {
  return text !== undefined && utf8Length(text) <= SHORT_TEXT_BYTES ? text : undefined;
}
