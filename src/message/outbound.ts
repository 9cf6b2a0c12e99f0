/**
 * An outbound message: encoded, enveloped, ready for the wire. Made once; sent now, stored with a commit, or kept for later.
 *
 * @module
 */

import { describeKind } from "../internal/option_kinds.ts";
import { readText } from "./read_value.ts";
import { own } from "./parse_envelope.ts";
import { HEADER_ID, HEADER_TYPE } from "./header_names.ts";
import type { WireTable } from "./wire_value.ts";

/** Everything a broker needs to publish one message. Immutable; nothing encodes it again. */
export interface Outbound {
  /** `""` is the default exchange, whose routing key is a queue's name. */
  readonly exchange: string;
  /** What the exchange routes by. */
  readonly routingKey: string;
  /** The encoded payload. */
  readonly body: Uint8Array;
  /** The AMQP property; absent for none. */
  readonly contentType?: string | undefined;
  /** The AMQP property; absent when the id does not fit its 255 bytes. */
  readonly messageId?: string | undefined;
  /** The whole header table, envelope included. */
  readonly headers: WireTable;
  /** Delivery mode 2 when true, 1 when false. */
  readonly persistent: boolean;
  /** The broker returns the message when no queue is bound for it. */
  readonly mandatory: boolean;
  /** The AMQP property: where a request wants its answer; absent for none. */
  readonly replyTo?: string | undefined;
  /** 0 to 255; absent for none. */
  readonly priority?: number | undefined;
  /** Time to live in the queue, whole milliseconds; absent for none. */
  readonly expirationMs?: number | undefined;
}

/** Refuses what is no such message; `what` says what was to be done with it. Throws a `TypeError`. */
export function assertOutbound(what: "send" | "add", value: unknown): Outbound {
  if (isOutbound(value)) return value;
  throw new TypeError(`Cannot ${what} the message: it must be what prepare made, found ${describeKind(value)}`);
}

/** Whether it is what `prepare` makes. */
export function isOutbound(value: unknown): value is Outbound {
  if (typeof value !== "object" || value === null) return false;
  const { exchange, routingKey, body, headers } = value as Readonly<Record<keyof Outbound, unknown>>;
  return typeof exchange === "string" && typeof routingKey === "string" && body instanceof Uint8Array &&
    typeof headers === "object" && headers !== null;
}

/** The message id an outbound message carries: its header, else its property, else empty. */
export function outboundId(outbound: Outbound): string {
  return readText(own(outbound.headers, HEADER_ID)) ?? outbound.messageId ?? "";
}

/** The logical type an outbound message carries, empty when it carries none. */
export function outboundType(outbound: Outbound): string {
  return readText(own(outbound.headers, HEADER_TYPE)) ?? "";
}
