/**
 * The budget of a drain: one span of time, shared by everything that closes together (contract core 3.8).
 *
 * @module
 */

import type { Clock } from "../clock.ts";
import { assertOptions, type OptionKinds } from "../internal/option_kinds.ts";

/** How a drain went. */
export interface DrainReport {
  /** Every handler finished in time. */
  readonly drained: boolean;
  /** Deliveries that were still in a handler when the budget ended; the broker delivers them again. */
  readonly stranded: number;
}

/** A loop over deliveries, as a closing connection sees it. */
export interface OpenLoop {
  /** Stops deliveries, and waits until those in the caller's hands are settled or the budget ends. */
  drain(budget: AbortSignal): Promise<DrainReport>;
}

/** Options of a close. */
export interface DrainOptions {
  /** Ends the wait for handlers; the close then rejects with its reason, everything released. */
  readonly signal?: AbortSignal | undefined;
  /** A budget that is shared with others and ends when this aborts; by default the close has one of its own. */
  readonly budget?: AbortSignal | undefined;
}

const DRAIN_KINDS: Readonly<OptionKinds<DrainOptions>> = { signal: "signal", budget: "signal" };

/**
 * Runs a drain within the budget of its options, by default that many milliseconds, and turns the caller's abort into a rejection once
 * the drain is through.
 */
export async function withBudget(
  options: DrainOptions,
  { clock, budgetMs }: { readonly clock: Clock; readonly budgetMs: number },
  drain: (budget: AbortSignal) => Promise<DrainReport>,
): Promise<DrainReport> {
  assertOptions("close", options, DRAIN_KINDS);
  const { signal, budget } = options;
  const timer = new AbortController();
  const own = new AbortController();
  if (budget === undefined) {
    clock.delay(budgetMs, { signal: timer.signal }).then(() => own.abort(), () => {});
  }
  const ends = [budget ?? own.signal, ...(signal === undefined ? [] : [signal])];
  try {
    const report = await drain(AbortSignal.any(ends));
    signal?.throwIfAborted();
    return report;
  } finally {
    timer.abort();
  }
}
