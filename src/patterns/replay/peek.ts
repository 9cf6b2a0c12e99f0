/**
 * Looking into a queue without taking anything away.
 *
 * @module
 */

import type { CodecName } from "../../codec/codecs.ts";
import type { ConsumerContext } from "../../consume/context.ts";
import { assertWholeNumber } from "../../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../internal/option_kinds.ts";
import type { Codec } from "../../ports/codec.ts";
import { Reading } from "./reading.ts";
import { lookAt, type PeekedMessage } from "./peeked_message.ts";
import { type Places, placesOf, type SetAsideQueue } from "./places.ts";

/**
 * Options of `mq.peek`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect, reject, topology } from "@acemq/amqp/core";
 * import { memoryBroker, virtualClock } from "@acemq/amqp/memory";
 *
 * const clock = virtualClock();
 * const mq = await connect(memoryBroker({ clock }));
 * await mq.declare(topology().queue("orders.new", { deadLetter: true }));
 * await mq.consume("orders.new", () => reject("no such product"));
 * await mq.publisher("", "orders.new").send({ id: "A-1" });
 * await clock.advance(0);
 * for await (const dead of mq.peek("orders.new", { from: "dlq", limit: 20 })) {
 *   assert.equal(dead.envelope.error, "the handler rejected it: no such product");
 *   assert.deepEqual(await dead.decode(), { status: "decoded", payload: { id: "A-1" } });
 * }
 * await mq.close();
 * ```
 */
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
  readonly codec?: CodecName | Codec<never, T>;
  /** Ends the loop when it aborts; everything goes back at once, whatever the loop is doing. */
  readonly signal?: AbortSignal;
}

/** What looking works with; the connection provides it. */
export interface PeekContext<T> extends Pick<ConsumerContext<T>, "broker" | "environment" | "codec"> {
  /** Aborts when the connection begins to close. */
  readonly closing: AbortSignal;
}

const DEFAULT_LIMIT = 100;

const PEEK_KINDS: Readonly<OptionKinds<PeekOptions>> = {
  from: "checked",
  limit: "checked",
  codec: "checked",
  signal: "signal",
};

/** Throws before anything is touched. */
export function assertPeekOptions(options: PeekOptions): void {
  assertOptions("a peek", options, PEEK_KINDS);
  if (options.limit !== undefined) assertWholeNumber("limit", options.limit, 1);
}

/** Messages of a queue, head first, by options that were checked; all of them go back when the loop is left, however it is left. */
export function openPeek<T>(
  queue: string,
  context: PeekContext<T>,
  { from, limit = DEFAULT_LIMIT, signal }: PeekOptions<T>,
): AsyncGenerator<PeekedMessage<T>, void, undefined> {
  const ends = signal === undefined ? context.closing : AbortSignal.any([signal, context.closing]);
  return peek(placesOf(queue, from), context, { limit, signal: ends });
}

async function* peek<T>(
  { source }: Places,
  context: PeekContext<T>,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): AsyncGenerator<PeekedMessage<T>, void, undefined> {
  signal.throwIfAborted();
  const reading = new Reading(context, source, signal);
  // Also while whoever loops does something else.
  const onAbort = (): void => void reading.end();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await reading.begin();
    for (let left = limit; left > 0 && !signal.aborted; left--) {
      const delivery = await reading.next();
      if (delivery === null) return;
      reading.keep(delivery);
      yield lookAt(delivery.message, source, context);
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    await reading.end();
  }
}
