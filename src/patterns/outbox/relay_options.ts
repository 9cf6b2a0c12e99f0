/**
 * What a caller may say about relaying, and what a relay says of itself.
 *
 * @module
 */

import { assertFiniteNumber, assertOneOf, assertWholeNumber } from "../../internal/assert_option.ts";
import { assertOptions, describeKind, type OptionKinds } from "../../internal/option_kinds.ts";
import type { OnRetired, OutboxMode, RelayStore } from "../../ports/outbox_store.ts";

/** Options of `mq.relay`. */
export interface RelayOptions {
  /**
   * Rows that are claimed, published and marked together; up to three batches are in hand at once. More of them, and larger ones,
   * mean fewer statements, and more that is published twice when the process is killed. 1 to 10,000.
   *
   * @default {100}
   */
  readonly batchSize?: number;
  /**
   * How long claimed rows are this relay's: what a process had in hand that was killed goes out after that. Longer than the
   * connection's `publishTimeoutMs`. Milliseconds.
   *
   * @default {60_000}
   */
  readonly leaseMs?: number;
  /**
   * How often a relay looks that nobody wakes, and how long a row waits after its first failure; the wait doubles with each further
   * one, up to five minutes. Milliseconds.
   *
   * @default {1_000}
   */
  readonly pollIntervalMs?: number;
  /**
   * The store's own, said again: a row that has failed as often is retired. Another number than the store's is refused, since the
   * store is who lists and counts what is retired.
   *
   * @default {the store's, which is 10}
   */
  readonly maxAttempts?: number;
  /**
   * `continue`: oldest first, and a row that fails holds back nobody. `in_order`: the rows of one ordering key leave one at a time, in
   * the order they were written, however many relays there are, and a row that fails holds back those of its key.
   *
   * @default {"continue"}
   */
  readonly mode?: OutboxMode;
  /**
   * Of `in_order`: what becomes of the later rows of a key when one was retired. `release` lets them go, `hold` keeps them until
   * somebody has released or removed the retired one.
   *
   * @default {"release"}
   */
  readonly onRetired?: OnRetired;
  /** Health is degraded when a row has waited that long. Milliseconds. @default {300_000} */
  readonly oldestAgeLimitMs?: number;
  /**
   * Published rows are removed so long after, every minute and a thousand at a time. Milliseconds.
   *
   * @default {undefined: call the store's `purgePublished` on a schedule of your own}
   */
  readonly purgeAfterMs?: number;
}

/** Options of `relay.runOnce`. */
export interface RunOnceOptions {
  /**
   * Nothing is begun after that; what the broker has by then is waited for and marked, no longer than the connection's
   * `publishTimeoutMs`. Milliseconds.
   *
   * @default {20_000}
   */
  readonly budgetMs?: number;
  /** Ends the run early, as the end of the budget does. */
  readonly signal?: AbortSignal | undefined;
}

/** What one run has done. */
export interface RelayReport {
  /** Rows whose message a queue has. */
  readonly published: number;
  /** Attempts that the broker refused. */
  readonly failed: number;
  /**
   * Rows that are left to publish, those of other relays and those that wait for their next attempt included, the retired ones not;
   * undefined when the store does not count, or did not answer.
   */
  readonly remaining: number | undefined;
}

/** The options with their defaults. */
export interface RelaySettings {
  readonly batchSize: number;
  readonly leaseMs: number;
  readonly pollIntervalMs: number;
  readonly maxAttempts: number;
  readonly mode: OutboxMode;
  readonly onRetired: OnRetired;
  readonly oldestAgeLimitMs: number;
  readonly purgeAfterMs: number | undefined;
}

const RELAY_KINDS: Readonly<OptionKinds<RelayOptions>> = {
  batchSize: "checked",
  leaseMs: "checked",
  pollIntervalMs: "checked",
  maxAttempts: "checked",
  mode: "checked",
  onRetired: "checked",
  oldestAgeLimitMs: "checked",
  purgeAfterMs: "checked",
};

const RUN_ONCE_KINDS: Readonly<OptionKinds<RunOnceOptions>> = { budgetMs: "checked", signal: "signal" };

const LARGEST_BATCH = 10_000;

/** What a store without a limit of its own allows (contract patterns 5.6). */
const MAX_ATTEMPTS = 10;

/** Checks the options and fills in their defaults. Throws before anything is touched. */
export function relaySettings(store: RelayStore, options: RelayOptions): RelaySettings {
  assertStore(store);
  assertOptions("a relay", options, RELAY_KINDS);
  const { batchSize = 100, leaseMs = 60_000, pollIntervalMs = 1_000, oldestAgeLimitMs = 300_000 } = options;
  const { mode = "continue", onRetired = "release", purgeAfterMs } = options;
  assertWholeNumber("batchSize", batchSize, 1);
  if (batchSize > LARGEST_BATCH) {
    throw new RangeError(`Cannot use option 'batchSize': it must be at most ${LARGEST_BATCH}, found ${batchSize}`);
  }
  assertWholeNumber("leaseMs", leaseMs, 1);
  assertWholeNumber("pollIntervalMs", pollIntervalMs, 1);
  assertFiniteNumber("oldestAgeLimitMs", oldestAgeLimitMs, 0);
  assertOneOf("mode", mode, ["continue", "in_order"]);
  assertOneOf("onRetired", onRetired, ["release", "hold"]);
  assertPurge(store, purgeAfterMs);
  const maxAttempts = attemptsOf(store, options);
  return { batchSize, leaseMs, pollIntervalMs, maxAttempts, mode, onRetired, oldestAgeLimitMs, purgeAfterMs };
}

/** Checks the options of one run and fills in their defaults. */
export function runOnceSettings(options: RunOnceOptions): RunOnceOptions & { readonly budgetMs: number } {
  assertOptions("one run of a relay", options, RUN_ONCE_KINDS);
  const { budgetMs = 20_000, signal } = options;
  assertFiniteNumber("budgetMs", budgetMs, 0);
  return { budgetMs, signal };
}

function assertStore(store: unknown): void {
  const isStore = typeof store === "object" && store !== null && "claim" in store && "markPublished" in store;
  if (isStore) return;
  throw new TypeError(
    `Cannot relay: the first argument must be an outbox store such as memoryOutboxStore(), found ${
      describeKind(store)
    }`,
  );
}

function attemptsOf({ maxAttempts: own }: RelayStore, { maxAttempts }: RelayOptions): number {
  if (own !== undefined) assertWholeNumber("maxAttempts", own, 1);
  if (maxAttempts === undefined) return own ?? MAX_ATTEMPTS;
  assertWholeNumber("maxAttempts", maxAttempts, 1);
  if (own === undefined || own === maxAttempts) return maxAttempts;
  throw new RangeError(
    `Cannot use option 'maxAttempts': the store retires a row after ${own} failures, found ${maxAttempts}; say it where the store is made`,
  );
}

function assertPurge(store: RelayStore, purgeAfterMs: number | undefined): void {
  if (purgeAfterMs === undefined) return;
  assertFiniteNumber("purgeAfterMs", purgeAfterMs, 0);
  if (store.purgePublished !== undefined) return;
  throw new TypeError("Cannot use option 'purgeAfterMs': the store does not purge");
}
