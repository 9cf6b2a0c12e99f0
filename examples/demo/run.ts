/**
 * One run of the flow, from the first order to the last ending.
 *
 * @module
 */
import type { IdempotencyStore } from "@acemq/amqp";
import { startFlow } from "./flow.ts";
import type { Bookkeeper } from "./ledger.ts";
import type { Payments } from "./payments.ts";
import type { Progress } from "./progress.ts";
import type { Stage } from "./stage.ts";

/** Longer than the longest wait of the ladder: when nothing has moved for this long, nothing will. */
const STALL_MS = 10_000;

/** What a run works with and is watched by. */
export interface Watch {
  readonly payments: Payments;
  readonly seen: IdempotencyStore;
  readonly book: Bookkeeper;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Places orders from every source at once and waits until each of them has ended; answers with what was placed, in words. */
export async function runFlow(
  { mq, names, sources }: Stage,
  { payments, seen, book, progress, signal }: Watch,
): Promise<readonly string[]> {
  void narrate(mq.events(), progress);
  await startFlow(mq, names, { payments, book, seen });
  const count = (messages: number): void => book.placed(messages);
  const feed = (copies: number): void => book.feed(copies);
  const placed = await Promise.all(sources.map((source) => source.place({ count, feed, payments, signal })));
  await book.settled({ stallMs: STALL_MS, signal });
  return placed;
}

/** Tells of the connection: try stopping the broker for a moment. */
async function narrate(events: AsyncIterable<{ readonly type: string }>, progress: Progress): Promise<void> {
  for await (const { type } of events) progress.note(`The connection says: ${type}`);
}
