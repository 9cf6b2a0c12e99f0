/**
 * Looking into a queue without taking anything away.
 *
 * @module
 */

import type { CodecName } from "../../codec/codecs.ts";
import type { ConsumerContext } from "../../consume/context.ts";
import { assertWholeNumber } from "../../internal/assert_option.ts";
import type { Codec } from "../../ports/codec.ts";
import { assertQueue, Reading } from "./reading.ts";
import { lookAt, type PeekedMessage } from "./peeked_message.ts";
import { type Places, placesOf, type SetAsideQueue } from "./places.ts";

/** Options of `mq.peek`. */
export interface PeekOptions<T = unknown> {
  /**
   * Which queue beside the named one: `.dlq`, `.parked`, or the queue itself. A quorum queue counts in `x-delivery-count` that a
   * message came back: see the price at `mq.peek`.
   *
   * @default {"dlq", or the named queue where its name ends with `.dlq`, `.parked` or .NET's `.dead`}
   */
  readonly from?: SetAsideQueue | "queue";
  /** How many messages at most: nobody else sees them until the loop ends. @default {100} */
  readonly limit?: number;
  /** How `decode()` reads bodies: a name, or the codec itself. @default {the connection's} */
  readonly codec?: CodecName | Codec<T>;
  /** Ends the loop when it aborts. */
  readonly signal?: AbortSignal;
}

/** What looking works with; the connection provides it. */
export type PeekContext<T> = Pick<ConsumerContext<T>, "broker" | "environment" | "codec">;

const DEFAULT_LIMIT = 100;

/** Messages of a queue, head first; all of them go back when the loop is left, however it is left. */
export function openPeek<T>(
  queue: string,
  context: PeekContext<T>,
  { from, limit = DEFAULT_LIMIT, signal }: PeekOptions<T>,
): AsyncGenerator<PeekedMessage<T>, void, undefined> {
  assertWholeNumber("limit", limit, 1);
  return peek(placesOf(queue, from), context, { limit, signal });
}

async function* peek<T>(
  { source }: Places,
  context: PeekContext<T>,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<PeekedMessage<T>, void, undefined> {
  signal?.throwIfAborted();
  await assertQueue(context.broker, source);
  const reading = new Reading(context.broker, source);
  try {
    for (let left = limit; left > 0 && signal?.aborted !== true; left--) {
      const delivery = await reading.next();
      if (delivery === null) return;
      reading.keep(delivery);
      yield lookAt(delivery.message, source, context);
    }
  } finally {
    reading.giveBack();
  }
}
