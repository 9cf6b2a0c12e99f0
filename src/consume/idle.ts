/**
 * Waiting until a connection has nothing to do.
 *
 * That a queue is empty and no handler runs is not enough: the message may be between the two. So the queues are asked first, then
 * the subscriptions whether they have caught up, and it counts only when nothing has begun meanwhile.
 *
 * @module
 */

import { ConnectionError } from "../errors.ts";
import { orAborted } from "../internal/abort.ts";
import type { BrokerConnection, QueueState } from "../ports/broker.ts";
import type { Environment } from "../ports/environment.ts";
import type { Feed } from "./feed.ts";

/** What has to come to rest. */
export interface Restless {
  readonly broker: Pick<BrokerConnection, "state" | "checkQueue">;
  readonly environment: Pick<Environment, "clock" | "scope" | "work">;
  /** What is consumed from. */
  readonly feeds: ReadonlySet<Feed>;
}

/** Before the broker is asked again about what nobody tells: a queue that others empty, a link that comes back. */
const LOOK_AGAIN_MS = 20;

/**
 * Resolves when every queue that is consumed from is empty, nobody has a delivery in a handler and no publish waits for its answer.
 * Rejects with the reason of the signal.
 *
 * @throws {TypeError} called from inside a handler, which it would wait for
 */
export async function untilIdle(restless: Restless, signal: AbortSignal): Promise<void> {
  const { environment: { clock, work } } = restless;
  assertOutsideHandlers(restless);
  for (;;) {
    if (!work.isDone) await orAborted(work.ended(), signal);
    const { begun } = work;
    const isQuiet = await orAborted(looksQuiet(restless), signal);
    if (!work.isDone || work.begun !== begun) continue;
    if (isQuiet) return;
    const later = new AbortController();
    const delay = clock.delay(LOOK_AGAIN_MS, { signal: later.signal }).catch(() => {});
    try {
      await orAborted(Promise.race([work.ended(), delay]), signal);
    } finally {
      later.abort();
    }
  }
}

type Present = Extract<QueueState, { status: "present" }>;

/** What waits for time is quiet, and so is who takes nothing until somebody acts. */
async function looksQuiet({ broker, feeds }: Restless): Promise<boolean> {
  const open = [...feeds].filter(({ isOpen }) => isOpen);
  const isReachable = (): boolean => open.length === 0 || broker.state.status === "open";
  if (!isReachable()) return false;
  const emptying = open.filter(({ empties }) => empties);
  const queues = new Set(emptying.map(({ queue }) => queue));
  // A stream keeps what was read. It counts none of its readers, where any other queue counts the consumer that is asking.
  const isStream = ({ consumers }: Present): boolean => consumers === 0 && emptying.every(({ isLive }) => isLive);
  try {
    const states = await Promise.all([...queues].map((queue) => broker.checkQueue(queue)));
    if (states.some((state) => state.status === "present" && state.messages > 0 && !isStream(state))) return false;
    await Promise.all(open.map((feed) => feed.caughtUp()));
  } catch (error) {
    if (error instanceof ConnectionError) return false;
    throw error;
  }
  return isReachable() && open.every(({ held, isPaused, isFull }) => held === 0 || isPaused || isFull);
}

function assertOutsideHandlers({ environment: { scope }, feeds }: Restless): void {
  const within = scope?.current();
  if (![...feeds].some(({ taken }) => [...taken].some((item) => item === within))) return;
  throw new TypeError("Cannot wait for the connection to be idle: the handler that waits is one it waits for");
}
