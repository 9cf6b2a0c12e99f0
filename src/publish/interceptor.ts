/**
 * Publish interceptors: what an application does to every message before it is encoded (contract core 9).
 *
 * @module
 */

import type { Envelope } from "../message/envelope.ts";
import type { OutgoingHeaders } from "../message/header_value.ts";
import type { Outbound } from "../message/outbound.ts";

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

/** Runs a context through the interceptors, then through `last`. */
export function intercept(
  interceptors: readonly PublishInterceptor[],
  context: PublishContext,
  last: (context: PublishContext) => Outbound | Promise<Outbound>,
): Promise<Outbound> {
  const step = async (index: number, current: PublishContext): Promise<Outbound> => {
    const interceptor = interceptors[index];
    if (interceptor === undefined) return await last(current);
    return assertOutbound(await interceptor(readOnly(current), (changed) => heard(step(index + 1, changed))));
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

function assertOutbound(outbound: Outbound): Outbound {
  if (typeof outbound === "object" && outbound !== null && outbound.body instanceof Uint8Array) return outbound;
  throw new TypeError("Cannot publish: an interceptor must return what next returned, found no message");
}
