/**
 * Publish interceptors: what an application does to every message before it is encoded (contract core 9).
 *
 * @module
 */

import type { Envelope } from "../message/envelope.ts";
import type { OutgoingHeaders } from "../message/header_value.ts";
import type { Outbound } from "../message/outbound.ts";

/** A message about to be encoded. A change is a new context, handed to `next`. */
export interface PublishContext {
  readonly exchange: string;
  readonly routingKey: string;
  /** Copy it with `{ ...envelope, type }`: every other field then stays. */
  readonly envelope: Envelope;
  readonly payload: unknown;
  /** Reserved names stay refused here. */
  readonly headers: OutgoingHeaders;
  readonly persistent: boolean;
  readonly mandatory: boolean;
  readonly replyTo: string | undefined;
  readonly priority: number | undefined;
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
    return await interceptor(Object.freeze(current), (changed) => step(index + 1, changed));
  };
  return step(0, context);
}
