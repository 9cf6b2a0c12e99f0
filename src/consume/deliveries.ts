/**
 * The pull form of consuming: messages as an async iterable, settled by whoever loops over it.
 *
 * @module
 */

import { settledOrAborted, whenAborted } from "../internal/abort.ts";
import type { Clock } from "../clock.ts";
import { Message } from "../message/message.ts";
import type { Ack } from "./ack.ts";
import type { ConsumerContext } from "./context.ts";
import type { Feed } from "./feed.ts";
import type { InHand } from "./in_hand.ts";
import { ConsumeMeter } from "./meter.ts";
import { openFeed } from "./open_feed.ts";
import type { DeliveriesOptions } from "./options.ts";
import { conclude, type ProcessContext } from "./process.ts";
import { decodeBody } from "./receive.ts";

/** A message that waits to be settled. */
export class Delivery<T = unknown> extends Message<T> {
  readonly #conclude: (ack: Ack) => Promise<void>;
  #settled: Promise<void> | undefined;

  /** Made by `mq.deliveries(…)`. */
  constructor(
    payload: T,
    item: InHand,
    source: { readonly queue: string; readonly conclude: (ack: Ack) => Promise<void> },
  ) {
    super(payload, item.envelope, { queue: source.queue, received: item.received, signal: () => item.signal });
    this.#conclude = source.conclude;
  }

  /**
   * Settles the message as a handler's word would: `accept()`, `retry(…)`, `reject(…)`, `park(…)`. Resolves when it is done; a short
   * wait before another attempt is part of it. Only the first call counts.
   */
  settle(ack: Ack): Promise<void> {
    return this.#settled ??= this.#conclude(ack);
  }
}

/**
 * Messages of a queue, one at a time. An undecodable one is parked and never seen here. Leaving the loop hands back whatever was
 * fetched and not settled.
 */
export async function* openDeliveries<T>(
  queue: string,
  context: ConsumerContext<T>,
  options: DeliveriesOptions<T>,
): AsyncGenerator<Delivery<T>, void, undefined> {
  options.signal?.throwIfAborted();
  const bell = new Bell();
  const stopping = new AbortController();
  const meter = new ConsumeMeter(context.environment.recorder, queue);
  const { feed, intake } = await openFeed(queue, context, { options, onChange: () => bell.ring() });
  const processing: ProcessContext<T> = {
    queue,
    consumer: context,
    ladder: intake.ladder,
    meter,
    stopping: stopping.signal,
  };
  if (options.signal !== undefined) void whenAborted(options.signal).then(() => bell.ring());
  try {
    while (!options.signal?.aborted) {
      const item = feed.take();
      if (item === undefined) await bell.rung();
      else {
        const delivery = await open(item, feed, processing);
        if (delivery !== undefined) yield delivery;
      }
    }
  } finally {
    stopping.abort();
    await end(feed, context);
  }
}

/** The delivery a caller settles; undefined for a body that cannot be read, which is dealt with here. */
async function open<T>(item: InHand, feed: Feed, processing: ProcessContext<T>): Promise<Delivery<T> | undefined> {
  const { clock } = processing.consumer.environment;
  const decoded = await decodeBody(item.received, processing.consumer.codec);
  if (decoded.status !== "decoded") {
    await conclude(item, { handled: decoded }, processing);
    feed.done(item);
    return undefined;
  }
  const started = clock.elapsed();
  const settled = async (ack: Ack): Promise<void> => {
    await conclude(
      item,
      { handled: { status: "returned", value: ack }, handlerMs: clock.elapsed() - started },
      processing,
    );
    feed.done(item);
  };
  return new Delivery(decoded.payload, item, { queue: processing.queue, conclude: settled });
}

async function end(feed: Feed, { environment, drainTimeoutMs }: ConsumerContext): Promise<void> {
  const { signal, cancel } = timeout(environment.clock, drainTimeoutMs);
  await settledOrAborted(feed.stop(), signal);
  await feed.close();
  cancel();
}

function timeout(clock: Clock, ms: number): { signal: AbortSignal; cancel: () => void } {
  const over = new AbortController();
  const timer = new AbortController();
  clock.delay(ms, { signal: timer.signal }).then(() => over.abort(), () => {});
  return { signal: over.signal, cancel: () => timer.abort() };
}

/** Rung when something changed; a ring while nobody waits is kept. */
class Bell {
  #wake: (() => void) | undefined;
  #isRung = false;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  async rung(): Promise<void> {
    if (!this.#isRung) await new Promise<void>((resolve) => this.#wake = resolve);
    this.#wake = undefined;
    this.#isRung = false;
  }
}
