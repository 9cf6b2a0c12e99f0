/**
 * Time and ids a test decides.
 *
 * @module
 */
import type { Clock, NewId } from "../../src/clock.ts";

/** 2026-09-21T14:13:20Z, the moment of the contract's worked examples. */
export const NOW_MS = 1_790_000_000_000;

/** The id {@linkcode stoppedSources} gives. */
export const FRESH_ID = "f0e1d2c3-b4a5-4697-8877-665544332211";

/** A clock that stands still: nothing can wait on it. */
export function stoppedClock(nowMs: number = NOW_MS): Clock {
  return {
    now: () => nowMs,
    elapsed: () => 0,
    delay: () => Promise.reject(new Error("Cannot wait: the clock stands still")),
  };
}

/** A stopped clock and one fresh id. */
export function stoppedSources(): { readonly clock: Clock; readonly newId: NewId } {
  return { clock: stoppedClock(), newId: () => FRESH_ID };
}
