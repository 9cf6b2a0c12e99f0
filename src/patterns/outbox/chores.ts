/**
 * What a relay does beside relaying, for as long as it runs: hears news of other processes, counts, and purges.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";
import { describeError } from "../../errors.ts";
import { whenAborted } from "../../internal/abort.ts";
import type { RelayStore } from "../../ports/outbox_store.ts";
import type { RelayRun } from "./relay_run.ts";

/** The table is counted that often. */
const COUNT_EVERY_MS = 15_000;
/** It is purged that often. */
const PURGE_EVERY_MS = 60_000;
/** Between attempts to hear news. */
const LISTEN_AGAIN_MS = 10_000;

/** Does all of it until the run stops. Never rejects. */
export async function doChores(run: RelayRun, store: RelayStore, clock: Clock): Promise<void> {
  const { purgeAfterMs } = run.settings;
  const chores = [listen(run, store, clock)];
  if (run.meter.measures && store.stats !== undefined) {
    chores.push(every(COUNT_EVERY_MS, { run, clock }, () => count(run)));
  }
  if (purgeAfterMs !== undefined) {
    chores.push(every(PURGE_EVERY_MS, { run, clock }, () => purge(run, store, purgeAfterMs)));
  }
  await Promise.all(chores);
}

async function every(
  intervalMs: number,
  { run, clock }: { readonly run: RelayRun; readonly clock: Clock },
  work: () => Promise<void>,
): Promise<void> {
  while (!run.stopping.aborted) {
    await work();
    await clock.delay(intervalMs, { signal: run.stopping }).catch(() => {});
  }
}

async function count(run: RelayRun): Promise<void> {
  const stats = await run.watch.stats(run.stopping);
  if (stats !== undefined) run.meter.stats(stats);
}

async function purge(run: RelayRun, store: RelayStore, olderThanMs: number): Promise<void> {
  try {
    await store.purgePublished?.({ olderThanMs, signal: run.stopping });
  } catch (error) {
    if (!run.stopping.aborted) run.meter.store("purge_failed", describeError(error));
  }
}

async function listen(run: RelayRun, store: RelayStore, clock: Clock): Promise<void> {
  while (store.listen !== undefined && !run.stopping.aborted) {
    try {
      const hears = (state: { readonly hearing: boolean; readonly reason?: string }): void => {
        run.watch.hears(state);
        // Whatever was added while nobody heard it.
        if (state.hearing) run.wake();
      };
      const stop = await store.listen({ added: () => run.wake(), hears }, { signal: run.stopping });
      await whenAborted(run.stopping);
      return await stop();
    } catch (error) {
      if (run.stopping.aborted) return;
      run.watch.hears({ hearing: false, reason: describeError(error) });
      await clock.delay(LISTEN_AGAIN_MS, { signal: run.stopping }).catch(() => {});
    }
  }
}
