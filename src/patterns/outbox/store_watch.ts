/**
 * Whether the store answers, and what it said of itself last.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";
import { describeError, StoreError } from "../../errors.ts";
import { endWait, orAborted } from "../../internal/abort.ts";
import type { OutboxStats, RelayStore } from "../../ports/outbox_store.ts";
import type { RelayMeter } from "./meter.ts";

/** Older figures are asked for again, milliseconds: however many look, the table is counted once a second. */
const FRESH_MS = 1_000;

/** How long the store may take to count, milliseconds: within what a health check may take. */
const STATS_TIMEOUT_MS = 3_000;

/** How a question is asked. */
export interface AskOptions<T> {
  /** What is to be done: of a store that does not answer nobody else says it. */
  readonly what: string;
  /** How long the store may take, milliseconds. */
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Takes an answer that comes when nobody waits any more. */
  readonly late?: (answer: T) => void;
}

/** How the store is, as far as this process has seen. */
export class StoreWatch {
  readonly #store: RelayStore;
  readonly #clock: Clock;
  readonly #meter: RelayMeter;
  #away: string | undefined;
  #deaf: string | undefined;
  #stats: OutboxStats | undefined;
  #statsAtMs = -Infinity;

  constructor(store: RelayStore, clock: Clock, meter: RelayMeter) {
    this.#store = store;
    this.#clock = clock;
    this.#meter = meter;
  }

  /** Why the store does not answer; undefined while it does. */
  get away(): string | undefined {
    return this.#away;
  }

  /** Why nothing is heard of what other processes add; undefined while it is. */
  get deaf(): string | undefined {
    return this.#deaf;
  }

  /**
   * Asks the store. A line that is half open answers nothing, ever: then the question counts as failed.
   *
   * @throws what the store throws, a `StoreError` when it does not answer in time, the signal's reason when it aborts first
   */
  async ask<T>(
    question: (options: { readonly signal: AbortSignal }) => T | PromiseLike<T>,
    { what, timeoutMs, signal, late }: AskOptions<T>,
  ): Promise<T> {
    const over = new AbortController();
    const timer = new AbortController();
    const silent = (): StoreError => new StoreError(`Cannot ${what}: the store did not answer within ${timeoutMs} ms`);
    this.#clock.delay(timeoutMs, { signal: timer.signal }).then(() => over.abort(silent()), () => {});
    const onAbort = (): void => over.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const asked = new Promise<T>((resolve) => resolve(question({ signal: over.signal })));
    try {
      const answer = await orAborted(asked, over.signal);
      this.#answered();
      return answer;
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
      asked.then(late, () => {});
      throw error;
    } finally {
      endWait(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Whether news of other processes arrive. */
  hears({ hearing, reason = "no reason is known" }: { readonly hearing: boolean; readonly reason?: string }): void {
    const deaf = hearing ? undefined : reason;
    if (deaf !== undefined && this.#deaf === undefined) this.#meter.store("deaf", deaf);
    if (deaf === undefined && this.#deaf !== undefined) this.#meter.store("hearing");
    this.#deaf = deaf;
  }

  /** Figures of the last second; undefined when the store does not count, or does not answer. */
  async stats(signal: AbortSignal): Promise<OutboxStats | undefined> {
    if (this.#store.stats === undefined) return undefined;
    if (this.#clock.elapsed() - this.#statsAtMs < FRESH_MS) return this.#stats;
    const what = "count the outbox";
    try {
      this.#stats = await this.ask((options) => this.#store.stats?.(options), {
        what,
        timeoutMs: STATS_TIMEOUT_MS,
        signal,
      });
      this.#statsAtMs = this.#clock.elapsed();
      return this.#stats;
    } catch {
      // What there is to say of it is known: see `away`.
      return undefined;
    }
  }

  #answered(): void {
    if (this.#away !== undefined) this.#meter.store("store_back");
    this.#away = undefined;
  }

  #failed(error: unknown): void {
    const reason = describeError(error);
    if (this.#away === undefined) this.#meter.store("store_away", reason);
    this.#away = reason;
  }
}
