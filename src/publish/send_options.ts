/**
 * What a caller may say about a message, for all of a publisher's or for one.
 *
 * @module
 */

import { assertShortText, assertWholeNumber } from "../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../internal/option_kinds.ts";
import type { CodecName } from "../codec/codecs.ts";
import { causedBy, type Envelope, type EnvelopeFields, LARGEST_INT32, TYPE_OF_EMPTY_KEY } from "../message/envelope.ts";
import type { OutgoingHeaders } from "../message/header_value.ts";
import type { Codec } from "../ports/codec.ts";
import type { PublishInterceptor } from "./interceptor.ts";

/** What every message of a publisher has in common. */
export interface PublisherOptions<T = unknown, S = undefined> {
  /** How payloads become bytes: a name, or the codec itself. @default {the connection's} */
  readonly codec?: CodecName | Codec<T, unknown>;
  /**
   * What payloads must fit, of any library that speaks Standard Schema, whatever the codec; otherwise `send` throws an
   * {@linkcode EncodeError} with the schema's `issues`, and nothing is sent. Sent is the payload as it is given: defaults and
   * conversions of the schema are made where it is read. The price is one validation a message. `sendEncoded` and `sendPrepared`
   * have bytes, and look at no schema.
   *
   * @default {undefined: the codec alone decides what can be sent}
   */
  readonly schema?: S;
  /** Logical type. @default {the routing key} */
  readonly type?: string;
  /** Payload schema version, from 1. @default {1} */
  readonly version?: number;
  /** A message no queue is bound for is returned and thrown as `ACEMQ_PUBLISH_UNROUTABLE`; without it, it is dropped unseen. @default {true} */
  readonly mandatory?: boolean;
  /** Survives a restart of the broker in a durable queue. @default {true} */
  readonly persistent?: boolean;
  /** Added to every message; a message's own headers win. */
  readonly headers?: OutgoingHeaders;
  /** Run after the connection's. */
  readonly interceptors?: readonly PublishInterceptor[];
}

/** What one message, or every message of one batch, has of its own. */
export interface BatchOptions {
  /** Logical type. */
  readonly type?: string;
  /** Business correlation. @default {the message id} */
  readonly correlationId?: string;
  /** The message whose handling led to this one: its correlation and its id as causation are carried on. */
  readonly causedBy?: { readonly envelope: Envelope };
  /** Application headers. The prefix `x-acemq-` is refused; the broker's own bookkeeping is left out. */
  readonly headers?: OutgoingHeaders;
  /**
   * Where the payload is, for consumers that look it up themselves. Nothing relates that place to a queue: it has to keep the payload
   * for longer than the message can stay anywhere, dead letters and replays included.
   */
  readonly claim?: string;
  /** 0 to 255; what a queue with `x-max-priority` sorts by. */
  readonly priority?: number;
  /**
   * The message is dropped (or dead-lettered) when it waits longer in a queue, whole milliseconds. RabbitMQ looks at the head of the
   * queue only, so behind a message that expires later it expires late: this is no way to delay a message.
   */
  readonly expirationMs?: number;
  /** Overrides the publisher's. */
  readonly persistent?: boolean;
  /** Overrides the publisher's. */
  readonly mandatory?: boolean;
  /** AMQP `reply-to`. */
  readonly replyTo?: string;
  /** Before the write it takes the message back; after the write it ends the wait as `ACEMQ_PUBLISH_UNKNOWN`. */
  readonly signal?: AbortSignal;
}

/** What one message has of its own. */
export interface SendOptions extends BatchOptions {
  /** The id to resend an unknown outcome under. @default {a random UUID} */
  readonly messageId?: string;
}

const SEND_KINDS: Readonly<OptionKinds<SendOptions>> = {
  type: "text",
  correlationId: "text",
  causedBy: "object",
  headers: "record",
  claim: "text",
  priority: "checked",
  expirationMs: "checked",
  persistent: "boolean",
  mandatory: "boolean",
  replyTo: "text",
  signal: "signal",
  messageId: "text",
};

/** Throws for what is no option, of the wrong kind or out of range: the fault is the call's. */
export function assertSendOptions(options: BatchOptions): void {
  assertOptions("a message", options, SEND_KINDS);
  const { priority, expirationMs, causedBy } = options;
  if (causedBy !== undefined && (typeof causedBy.envelope !== "object" || causedBy.envelope === null)) {
    throw new TypeError("Cannot use option 'causedBy': it must be a message, found an object without an envelope");
  }
  if (priority !== undefined) {
    assertWholeNumber("priority", priority, 0);
    if (priority > 255) throw new RangeError(`Cannot use option 'priority': it must be at most 255, found ${priority}`);
  }
  if (expirationMs === undefined) return;
  assertWholeNumber("expirationMs", expirationMs, 0);
  if (expirationMs > LONGEST_EXPIRATION_MS) {
    throw new RangeError(
      `Cannot use option 'expirationMs': it must be at most ${LONGEST_EXPIRATION_MS}, found ${expirationMs}`,
    );
  }
}

/** Ten years: beyond it RabbitMQ closes the channel, and whatever else is in flight there. */
const LONGEST_EXPIRATION_MS = 315_360_000_000;

const PUBLISHER_KINDS: Readonly<OptionKinds<PublisherOptions>> = {
  codec: "checked",
  schema: "checked",
  type: "text",
  version: "checked",
  mandatory: "boolean",
  persistent: "boolean",
  headers: "record",
  interceptors: "functions",
};

/** Throws for names that are no text or too long, and for what is no option of a publisher, of the wrong kind or out of range. */
export function assertPublisher(exchange: string, routingKey: string, options: PublisherOptions): void {
  assertShortText("an exchange name", exchange);
  assertShortText("a routing key", routingKey);
  assertOptions("a publisher", options, PUBLISHER_KINDS);
  const { version } = options;
  if (version === undefined) return;
  assertWholeNumber("version", version, 1);
  if (version > LARGEST_INT32) {
    throw new RangeError(`Cannot use option 'version': it must fit 32 bits, found ${version}`);
  }
}

/** The logical type of a message; empty is not set. */
export function typeOf(routingKey: string, publisher: PublisherOptions, { type }: BatchOptions): string {
  return type || publisher.type || routingKey || TYPE_OF_EMPTY_KEY;
}

/** The envelope fields that a publisher's and a message's options decide; the message's win. */
export function envelopeFields(
  { routingKey, origin }: { readonly routingKey: string; readonly origin: string },
  publisher: PublisherOptions,
  message: SendOptions,
): EnvelopeFields {
  const cause = message.causedBy === undefined ? undefined : causedBy(message.causedBy.envelope);
  return {
    id: message.messageId,
    type: typeOf(routingKey, publisher, message),
    version: publisher.version,
    correlationId: message.correlationId || cause?.correlationId,
    causationId: cause?.causationId,
    origin,
    claim: message.claim,
  };
}
