/**
 * Publish interceptors: what an application does to every message before it is encoded (contract core 9).
 *
 * @module
 */

import type { Envelope } from "../message/envelope.ts";
import type { OutgoingHeaders } from "../message/header_value.ts";
import type { Outbound } from "../message/outbound.ts";
import { assertKinds, type OptionKinds } from "../internal/option_kinds.ts";

/** A message about to be encoded; frozen, headers and envelope too. A change is a new context, handed to `next`. */
export interface PublishContext {
  /** Where it goes. */
  readonly exchange: string;
  /** Under which key. */
  readonly routingKey: string;
  /** Copy it with `{ ...envelope, type }`: every other field then stays. */
  readonly envelope: Envelope;
  /** What the codec will encode. */
  readonly payload: unknown;
  /** Reserved names stay refused here. */
  readonly headers: OutgoingHeaders;
  /** Survives a restart of the broker. */
  readonly persistent: boolean;
  /** Is returned when no queue is bound for it. */
  readonly mandatory: boolean;
  /** AMQP `reply-to`. */
  readonly replyTo: string | undefined;
  /** 0 to 255. */
  readonly priority: number | undefined;
  /** Time to live in the queue, milliseconds. */
  readonly expirationMs: number | undefined;
}

/**
 * One interceptor. It calls `next` with the context, its own or a changed one, and returns what `next` returned. Throwing refuses
 * the message: the caller sees the error, and nothing was sent.
 *
 * Runs for `send`, `sendAll` and `prepare`, first registered outermost. Copies the library makes (retries, rungs, set-asides,
 * replays, put-backs) do not pass: they carry a message that has been through. In a batch, interceptors of several messages
 * interleave at their awaits.
 */
export type PublishInterceptor = (
  context: PublishContext,
  next: (context: PublishContext) => Promise<Outbound>,
) => Promise<Outbound>;

const CONTEXT_KINDS: Readonly<OptionKinds<PublishContext>> = {
  exchange: "text",
  routingKey: "text",
  envelope: "object",
  payload: "checked",
  headers: "record",
  persistent: "boolean",
  mandatory: "boolean",
  replyTo: "text",
  priority: "checked",
  expirationMs: "checked",
};

const ENVELOPE_KINDS: Readonly<OptionKinds<Envelope>> = {
  id: "text",
  type: "text",
  version: "checked",
  correlationId: "text",
  causationId: "text",
  attempt: "checked",
  firstSeenMs: "checked",
  origin: "text",
  error: "text",
  claim: "text",
  route: "object",
  replayedFrom: "text",
  replayedAt: "object",
  replayCount: "checked",
};

/** Runs a context through the interceptors, then through `last`. */
export function intercept(
  interceptors: readonly PublishInterceptor[],
  context: PublishContext,
  last: (context: PublishContext) => Outbound | Promise<Outbound>,
): Promise<Outbound> {
  const step = async (index: number, current: PublishContext): Promise<Outbound> => {
    const interceptor = interceptors[index];
    if (interceptor === undefined) return await last(current);
    return assertOutbound(await interceptor(readOnly(current), (changed) => heard(next(index + 1, changed))));
  };
  const next = async (index: number, changed: PublishContext): Promise<Outbound> => {
    assertContext(changed);
    return await step(index, changed);
  };
  return step(0, context);
}

/** A copy, so that nothing an interceptor tries to change in place is the caller's own object. */
function readOnly(context: PublishContext): PublishContext {
  return Object.freeze({
    ...context,
    envelope: Object.freeze({ ...context.envelope }),
    headers: Object.freeze({ ...context.headers }),
  });
}

/** An interceptor that does not wait for what it began must not end the process. */
function heard<T>(result: Promise<T>): Promise<T> {
  result.catch(() => {});
  return result;
}

const WANTED_TEXTS = ["exchange", "routingKey"] as const;
const WANTED_FIELDS = ["id", "type", "correlationId"] as const;

/** What cannot be what it is called, before anything reads it as that. */
function assertContext(context: PublishContext): void {
  assertKinds("a message that an interceptor hands on", context, CONTEXT_KINDS);
  for (const name of WANTED_TEXTS) assertThere(name, context[name]);
  assertKinds("an envelope", context.envelope, ENVELOPE_KINDS);
  for (const name of WANTED_FIELDS) assertThere(name, context.envelope[name]);
}

function assertThere(name: string, value: unknown): void {
  if (value !== undefined) return;
  throw new TypeError(`Cannot publish: an interceptor must hand on '${name}' as text, found undefined`);
}

function assertOutbound(outbound: Outbound): Outbound {
  if (typeof outbound === "object" && outbound !== null && outbound.body instanceof Uint8Array) return outbound;
  throw new TypeError("Cannot publish: an interceptor must return what next returned, found no message");
}
