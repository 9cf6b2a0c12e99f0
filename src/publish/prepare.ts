/**
 * Payload to {@linkcode Outbound}: envelope, interceptors, codec, headers, checks. Nothing is sent here, and nothing encodes the
 * result again.
 *
 * @module
 */

import { EncodeError, isRetryable, PublishError } from "../errors.ts";
import { utf8Length } from "../internal/bytes.ts";
import { describeKind } from "../internal/option_kinds.ts";
import { LARGEST_INT32 } from "../message/envelope.ts";
import { type OutgoingHeaders, writableHeaders } from "../message/header_value.ts";
import type { Outbound } from "../message/outbound.ts";
import { renderHeaders } from "../message/render_envelope.ts";
import type { Codec, EncodedPayload } from "../ports/codec.ts";
import { intercept, type PublishContext, type PublishInterceptor } from "./interceptor.ts";

/** What turns a payload into bytes, and who may change it before. */
export interface Preparation {
  readonly codec: Codec;
  readonly interceptors: readonly PublishInterceptor[];
}

/** Makes an outbound message; synchronously where neither an interceptor nor the codec waits. */
export function prepare(context: PublishContext, { codec, interceptors }: Preparation): Outbound | Promise<Outbound> {
  if (interceptors.length === 0) return encode(context, codec);
  return intercept(interceptors, context, (changed) => encode(changed, codec));
}

/** Makes an outbound message from bytes that are encoded already; the interceptors see the bytes as payload. */
export function prepareEncoded(
  context: PublishContext,
  encoded: EncodedPayload,
  { codec, interceptors }: Preparation,
): Outbound | Promise<Outbound> {
  if (interceptors.length === 0) return assemble(context, encoded, codec.contentType);
  return intercept(interceptors, context, (changed) => assemble(changed, encoded, codec.contentType));
}

function encode(context: PublishContext, codec: Codec): Outbound | Promise<Outbound> {
  let encoded: EncodedPayload;
  try {
    const made = codec.encode(context.payload);
    if ("then" in made) {
      return made.then(
        (done) => assemble(context, done, codec.contentType),
        (error) => Promise.reject(encodeError(error)),
      );
    }
    encoded = made;
  } catch (error) {
    throw encodeError(error);
  }
  return assemble(context, encoded, codec.contentType);
}

/** What a codec throws is a fault of the payload, unless the codec says that what it depends on is away. */
function encodeError(error: unknown): unknown {
  if (error instanceof EncodeError || isRetryable(error)) return error;
  const name = error instanceof Error ? error.name : typeof error;
  return new EncodeError(`Cannot encode the payload: the codec failed with ${name}`, { cause: error });
}

function assemble(context: PublishContext, encoded: EncodedPayload, ownContentType: string): Outbound {
  const { envelope, exchange, routingKey } = context;
  const body: unknown = encoded?.body;
  if (!(body instanceof Uint8Array)) {
    throw new EncodeError(`Cannot encode the payload: the body must be a Uint8Array, found ${describeKind(body)}`);
  }
  const { contentType = ownContentType } = encoded;
  if (typeof contentType !== "string") {
    throw new EncodeError(
      `Cannot encode the payload: the content type must be text, found ${describeKind(contentType)}`,
    );
  }
  const written = writableHeaders(joinHeaders(context.headers, encoded.headers));
  if ("problem" in written) throw refusal(context, written.problem);
  const problem = problemOfContext(context) ?? tooLong("the content type", contentType);
  if (problem !== undefined) throw refusal(context, problem);
  return {
    exchange,
    routingKey,
    body,
    contentType,
    messageId: envelope.id,
    headers: renderHeaders(envelope, written.table),
    persistent: context.persistent,
    mandatory: context.mandatory,
    replyTo: context.replyTo === "" ? undefined : context.replyTo,
    priority: context.priority,
    expirationMs: context.expirationMs,
  };
}

function joinHeaders(application: OutgoingHeaders, codec: OutgoingHeaders | undefined): OutgoingHeaders {
  return codec === undefined ? application : { ...application, ...codec };
}

/** What an interceptor may have put in, and the options could not check. */
function problemOfContext(context: PublishContext): string | undefined {
  const { envelope, exchange, routingKey, replyTo = "" } = context;
  return tooLong("the exchange name", exchange) ?? tooLong("the routing key", routingKey) ??
    tooLong("the message id", envelope.id) ?? tooLong("the reply address", replyTo) ??
    problemOfReplyTo(replyTo) ?? problemOfText(context) ?? problemOfNumbers(context);
}

/** The broker closes the channel over it: the name stands for a consumer that this channel does not have. */
function problemOfReplyTo(replyTo: string): string | undefined {
  return replyTo === "amq.rabbitmq.reply-to"
    ? "the reply address must be a queue of your own, found direct reply-to"
    : undefined;
}

function tooLong(what: string, text: string): string | undefined {
  if (text.length <= 85) return undefined;
  const bytes = utf8Length(text);
  return bytes <= 255 ? undefined : `${what} must fit 255 bytes of UTF-8, found ${bytes}`;
}

/** Written as it is, half a pair would become another text: another queue, another id. */
function problemOfText({ exchange, routingKey, replyTo = "", envelope }: PublishContext): string | undefined {
  const { id, type, correlationId, causationId = "", origin = "", claim = "" } = envelope;
  if (id === "") return "the message id must not be empty";
  const areWhole = id.isWellFormed() && type.isWellFormed() && correlationId.isWellFormed() &&
    causationId.isWellFormed() && origin.isWellFormed() && claim.isWellFormed() &&
    exchange.isWellFormed() && routingKey.isWellFormed() && replyTo.isWellFormed();
  return areWhole ? undefined : "the exchange, routing key, reply address or envelope holds half a surrogate pair";
}

function problemOfNumbers({ envelope, priority = 0, expirationMs = 0 }: PublishContext): string | undefined {
  if (!isWhole(priority, 0, 255)) return `the priority must be a whole number from 0 to 255, found ${priority}`;
  if (!isWhole(expirationMs, 0, Number.MAX_SAFE_INTEGER)) {
    return `the expiration must be a whole number of milliseconds, found ${expirationMs}`;
  }
  const { version, attempt, firstSeenMs } = envelope;
  if (!isWhole(version, 1, LARGEST_INT32) || !isWhole(attempt, 1, LARGEST_INT32)) {
    return `version and attempt must be whole numbers from 1, found ${version} and ${attempt}`;
  }
  return Number.isFinite(firstSeenMs) ? undefined : `the first sight must be a point in time, found ${firstSeenMs}`;
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}

function refusal({ exchange, routingKey, envelope }: PublishContext, reason: string): PublishError {
  return new PublishError({ code: "ACEMQ_PUBLISH_REFUSED", exchange, routingKey, messageId: envelope.id, reason });
}
