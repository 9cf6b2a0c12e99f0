/**
 * The pull form of consuming: messages as an async iterable, settled by whoever loops over it.
 *
 * @module
 */

import { settledOrAborted } from "../internal/abort.ts";
import { Message } from "../message/message.ts";
import type { Ack } from "./ack.ts";
import type { ConsumerContext } from "./context.ts";
import type { DrainReport, OpenLoop } from "./drain.ts";
import type { Feed } from "./feed.ts";
import type { InHand } from "./in_hand.ts";
import { ConsumeMeter } from "./meter.ts";
import { openFeed } from "./open_feed.ts";
import type { DeliveriesOptions } from "./options.ts";
import { conclude, type ProcessContext } from "./process.ts";
import { decodeBody } from "./receive.ts";
import type { Handled } from "./settlement.ts";

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
   *
   * A delivery whose connection was lost is settled just the same, with no effect: its loop gives the message again only after that.
   */
  settle(ack: Ack): Promise<void> {
    return this.#settled ??= this.#conclude(ack);
  }
}

/**
 * Messages of a queue, one at a time. An undecodable one is parked and never seen here. Leaving the loop hands back whatever was
 * fetched and not settled; a settlement that is under way is waited for, as long as a close waits for handlers.
 */
export async function* openDeliveries<T>(
  queue: string,
  context: ConsumerContext<T>,
  options: DeliveriesOptions<unknown, unknown>,
): AsyncGenerator<Delivery<T>, void, undefined> {
  const { signal } = options;
  signal?.throwIfAborted();
  const bell = new Bell();
  const ring = (): void => bell.ring();
  const meter = new ConsumeMeter(context.environment.recorder, queue);
  const { feed, intake } = await openFeed(queue, context, { options, onChange: ring });
  const { broker, environment: { clock }, gate } = context;
  const processing: ProcessContext<T> = {
    queue,
    consumer: context,
    ladder: intake.ladder,
    settling: { queue, broker, gate, clock, meter, onWait: (item) => feed.wait(item) },
  };
  const loop: Loop<T> = { feed, processing, settling: new Set(), settled: new Bell() };
  const open: OpenLoop = { drain: (budget) => drain(loop, budget) };
  context.loops?.add(open);
  signal?.addEventListener("abort", ring);
  try {
    while (!signal?.aborted) {
      const item = feed.take();
      if (item === undefined) await bell.rung();
      else {
        const delivery = await openDelivery(item, loop);
        if (delivery !== undefined) yield delivery;
      }
    }
  } finally {
    signal?.removeEventListener("abort", ring);
    await end(loop, context);
    context.loops?.delete(open);
  }
}

/** What the deliveries of one loop have in common. */
interface Loop<T> {
  readonly feed: Feed;
  readonly processing: ProcessContext<T>;
  /** Settlements under way. */
  readonly settling: Set<Promise<void>>;
  /** Rung when a delivery is settled, and when the loop was left. */
  readonly settled: Bell;
}

/** The delivery a caller settles; undefined for a body that cannot be read, which is dealt with here. */
async function openDelivery<T>(item: InHand, loop: Loop<T>): Promise<Delivery<T> | undefined> {
  const { queue, consumer } = loop.processing;
  const { clock } = consumer.environment;
  const decoded = await decodeBody(item.received, consumer.codec);
  if (decoded.status !== "decoded") {
    void settle(item, { handled: decoded }, loop);
    return undefined;
  }
  const started = clock.elapsed();
  const settleAs = (ack: Ack): Promise<void> =>
    settle(item, { handled: { status: "returned", value: ack }, handlerMs: clock.elapsed() - started }, loop);
  return new Delivery(decoded.payload, item, { queue, conclude: settleAs });
}

function settle<T>(
  item: InHand,
  handling: { readonly handled: Handled; readonly handlerMs?: number },
  { feed, processing, settling, settled }: Loop<T>,
): Promise<void> {
  const done = Promise.resolve(conclude(item, handling, processing)).then(() => {
    feed.done(item);
    settling.delete(done);
    settled.ring();
  });
  settling.add(done);
  return done;
}

/** The connection closes: what the caller has in hand is waited for, and goes back when the budget ends. */
async function drain<T>({ feed, settled }: Loop<T>, budget: AbortSignal): Promise<DrainReport> {
  await settledOrAborted(feed.stop(), budget);
  while (feed.taken.size > 0 && !budget.aborted) await settledOrAborted(settled.rung(), budget);
  const stranded = feed.taken.size;
  for (const item of feed.taken) item.abort(new DOMException("The drain budget has ended", "AbortError"));
  await settledOrAborted(feed.close(), budget);
  return { drained: stranded === 0, stranded };
}

/** The loop was left: a settlement under way is waited for, everything else goes back. */
async function end<T>(
  { feed, settling, settled }: Loop<T>,
  { environment, drainTimeoutMs }: ConsumerContext<T>,
): Promise<void> {
  const timer = new AbortController();
  const over = new AbortController();
  environment.clock.delay(drainTimeoutMs, { signal: timer.signal }).then(() => over.abort(), () => {});
  await settledOrAborted(feed.stop(), over.signal);
  await settledOrAborted(Promise.all(settling), over.signal);
  await settledOrAborted(feed.close(), over.signal);
  timer.abort();
  for (const item of feed.taken) feed.done(item);
  settled.ring();
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
