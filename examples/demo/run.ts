/**
 * One run of the flow, from the first order to the last ending.
 *
 * @module
 */
import { type FlowParts, startFlow } from "./flow.ts";
import type { Progress } from "./progress.ts";
import type { Stage } from "./stage.ts";

/** Longer than the longest wait of the ladder: when nothing has moved for this long, nothing will. */
const STALL_MS = 10_000;

/** What a run works with and is watched by. */
export interface Watch extends FlowParts {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Places orders from every source at once and waits until each of them has ended; answers with what was placed, in words. */
export async function runFlow({ mq, names, sources, forgets }: Stage, watch: Watch): Promise<readonly string[]> {
  const { payments, account, book, progress, signal } = watch;
  void narrate(mq.events(), progress);
  if (account.isContinued && forgets) await account.announceAgain();
  const before = await account.placed();
  const isPlaced = (name: string): boolean => before.has(name);
  book.placed(before.size);
  for (const { id, ending, reason } of await account.endings()) book.ended(id, ending, reason);
  for (const { outages } of sources) payments.failFirst(outages);
  await startFlow(mq, names, watch);
  const count = (messages: number): void => book.placed(messages);
  const feed = (copies: number): void => book.feed(copies);
  const placed = await Promise.all(
    sources.map((source) => source.place({ account, isPlaced, count, feed, signal })),
  );
  await book.settled({ stallMs: STALL_MS, signal });
  return placed;
}

/** Tells of the connection: try stopping the broker for a moment. */
async function narrate(events: AsyncIterable<{ readonly type: string }>, progress: Progress): Promise<void> {
  for await (const { type } of events) progress.note(`The connection says: ${type}`);
}
