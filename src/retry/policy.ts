/**
 * Retry policies: how often a message is tried, and how long it waits in between (contract core 4.1).
 *
 * A policy is a value. It says nothing of queues; the ladder of rungs that holds its long waits is made from it in `ladder.ts`.
 *
 * @module
 */

import { assertFiniteNumber, assertWholeNumber } from "../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../internal/option_kinds.ts";

/** How often and how patiently a message is tried. */
export interface RetryPolicy {
  /** Deliveries including the first. */
  readonly maxAttempts: number;
  /** Wait before the second attempt, milliseconds. */
  readonly initialDelayMs: number;
  /** Growth of the wait from one attempt to the next. */
  readonly multiplier: number;
  /** Longest wait, milliseconds; 0 for no ceiling. */
  readonly maxDelayMs: number;
  /** Share by which a wait inside the consumer varies, both ways; waits on the broker are exact. */
  readonly jitterFactor: number;
  /** A message this old is given up on its next failure; 0 for no limit. Counted from the first publish, replays included. */
  readonly maxMessageAgeMs: number;
  /** Waits of this length or more are held by the broker; 0 for never. */
  readonly brokerWaitThresholdMs: number;
}

/** What every policy may set. */
export interface RetryOptions {
  /** A message this old is given up on its next failure, milliseconds; 0 or less for no limit. @default {0} */
  readonly maxMessageAgeMs?: number;
  /** Share by which a wait inside the consumer varies, 0 to 1. @default {0.2 exponential, 0 fixed} */
  readonly jitterFactor?: number;
  /** Waits of this length or more are held by the broker, milliseconds; 0 for never. @default {30_000} */
  readonly brokerWaitThresholdMs?: number;
}

/** Options of {@linkcode exponentialRetry}. */
export interface ExponentialRetryOptions extends RetryOptions {
  /** Wait before the second attempt, milliseconds. @default {1_000} */
  readonly initialDelayMs?: number;
  /** Longest wait, milliseconds; 0 for no ceiling. @default {300_000} */
  readonly maxDelayMs?: number;
  /** Growth from one wait to the next, at least 1. @default {2} */
  readonly multiplier?: number;
}

/** Options of {@linkcode fixedRetry}. */
export interface FixedRetryOptions extends RetryOptions {
  /** Every wait, milliseconds. @default {1_000} */
  readonly delayMs?: number;
}

const RETRY_KINDS: Readonly<OptionKinds<RetryOptions>> = {
  maxMessageAgeMs: "checked",
  jitterFactor: "checked",
  brokerWaitThresholdMs: "checked",
};

const FIXED_KINDS: Readonly<OptionKinds<FixedRetryOptions>> = { ...RETRY_KINDS, delayMs: "checked" };

const EXPONENTIAL_KINDS: Readonly<OptionKinds<ExponentialRetryOptions>> = {
  ...RETRY_KINDS,
  initialDelayMs: "checked",
  maxDelayMs: "checked",
  multiplier: "checked",
};

/** Waits from here are the broker's by default (contract core 4.1). */
const BROKER_WAIT_THRESHOLD_MS = 30_000;

/**
 * One attempt: the first failure puts the message in `.dlq`. What a consumer without a policy has.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { noRetry, retrySchedule } from "@acemq/amqp/core";
 *
 * assert.deepEqual(retrySchedule(noRetry()), []);
 * ```
 */
export function noRetry(): RetryPolicy {
  return policy({ maxAttempts: 1, initialDelayMs: 0, multiplier: 1, maxDelayMs: 0 }, {}, 0);
}

/**
 * The same wait before every attempt. What it costs is said at {@linkcode exponentialRetry}.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fixedRetry, retrySchedule } from "@acemq/amqp/core";
 *
 * assert.deepEqual(retrySchedule(fixedRetry(4, { delayMs: 30_000 })), [30_000, 30_000, 30_000]);
 * ```
 *
 * @param maxAttempts Deliveries including the first, at least 1
 * @throws {RangeError} a number out of range
 */
export function fixedRetry(maxAttempts: number, options: FixedRetryOptions = {}): RetryPolicy {
  assertOptions("a retry policy", options, FIXED_KINDS);
  const { delayMs = 1_000 } = options;
  assertFiniteNumber("delayMs", delayMs, 0);
  return policy({ maxAttempts, initialDelayMs: delayMs, multiplier: 1, maxDelayMs: 0 }, options, 0);
}

/**
 * A wait that grows from attempt to attempt up to a ceiling.
 *
 * Retries make duplicates: a handler runs again from its beginning, so what it did before it failed it does again. A retry is a
 * republish, so the message goes to the back of its queue and the order is lost for it: where order matters more than progress, use
 * {@linkcode noRetry}.
 *
 * Waits below `brokerWaitThresholdMs` occupy one prefetch slot of the consumer. Longer ones wait in a queue of the broker and survive
 * a restart; they cost one extra hop, which the broker itself makes by dead-lettering, without a confirm.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { exponentialRetry, retrySchedule } from "@acemq/amqp/core";
 *
 * const ladder = exponentialRetry(6, { initialDelayMs: 10_000, maxDelayMs: 60_000 });
 * assert.deepEqual(retrySchedule(ladder), [10_000, 20_000, 40_000, 60_000, 60_000]);
 * ```
 *
 * @param maxAttempts Deliveries including the first, at least 1
 * @throws {RangeError} a number out of range
 */
export function exponentialRetry(maxAttempts: number, options: ExponentialRetryOptions = {}): RetryPolicy {
  assertOptions("a retry policy", options, EXPONENTIAL_KINDS);
  const { initialDelayMs = 1_000, maxDelayMs = 300_000, multiplier = 2 } = options;
  assertFiniteNumber("initialDelayMs", initialDelayMs, 0);
  assertFiniteNumber("maxDelayMs", maxDelayMs, 0);
  assertFiniteNumber("multiplier", multiplier, 1);
  return policy({ maxAttempts, initialDelayMs, multiplier, maxDelayMs }, options, 0.2);
}

/**
 * The waits of a policy without jitter, one before each attempt but the first, whole milliseconds.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { exponentialRetry, retrySchedule } from "@acemq/amqp/core";
 *
 * assert.deepEqual(retrySchedule(exponentialRetry(5)), [1_000, 2_000, 4_000, 8_000]);
 * ```
 */
export function retrySchedule(policy: RetryPolicy): readonly number[] {
  return Array.from({ length: policy.maxAttempts - 1 }, (_, index) => delayAfter(policy, index + 1));
}

/** The wait after the failure of attempt `attempt`, without jitter, whole milliseconds; never shorter than the one before. */
export function delayAfter(policy: RetryPolicy, attempt: number): number {
  if (policy.initialDelayMs === 0) return 0;
  const grown = policy.initialDelayMs * policy.multiplier ** (attempt - 1);
  const capped = policy.maxDelayMs > 0 ? Math.min(grown, policy.maxDelayMs) : grown;
  return Math.trunc(Math.min(capped, Number.MAX_SAFE_INTEGER));
}

/**
 * Throws a `RangeError` for a policy that no factory made and that means nothing: a number that is missing or is none would try a
 * message for ever.
 */
export function assertRetryPolicy(policy: RetryPolicy): void {
  assertWholeNumber("retry.maxAttempts", policy.maxAttempts, 1);
  assertFiniteNumber("retry.initialDelayMs", policy.initialDelayMs, 0);
  assertFiniteNumber("retry.multiplier", policy.multiplier, 1);
  assertFiniteNumber("retry.maxDelayMs", policy.maxDelayMs, 0);
  assertFiniteNumber("retry.jitterFactor", policy.jitterFactor, 0);
  assertFiniteNumber("retry.maxMessageAgeMs", policy.maxMessageAgeMs, -Infinity);
  assertFiniteNumber("retry.brokerWaitThresholdMs", policy.brokerWaitThresholdMs, 0);
}

/** Whether the broker holds a wait of this length (contract core 4.2 rule 4). */
export function waitsInBroker(policy: RetryPolicy, delayMs: number): boolean {
  return policy.brokerWaitThresholdMs > 0 && delayMs > 0 && delayMs >= policy.brokerWaitThresholdMs;
}

function policy(
  core: Pick<RetryPolicy, "maxAttempts" | "initialDelayMs" | "multiplier" | "maxDelayMs">,
  options: RetryOptions,
  defaultJitter: number,
): RetryPolicy {
  const { maxMessageAgeMs = 0, jitterFactor = defaultJitter, brokerWaitThresholdMs = BROKER_WAIT_THRESHOLD_MS } =
    options;
  assertWholeNumber("maxAttempts", core.maxAttempts, 1);
  assertFiniteNumber("brokerWaitThresholdMs", brokerWaitThresholdMs, 0);
  assertFiniteNumber("jitterFactor", jitterFactor, 0);
  if (jitterFactor > 1) {
    throw new RangeError(`Cannot use option 'jitterFactor': it must be at most 1, found ${jitterFactor}`);
  }
  if (typeof maxMessageAgeMs !== "number" || Number.isNaN(maxMessageAgeMs)) {
    throw new RangeError(`Cannot use option 'maxMessageAgeMs': it must be a number, found ${String(maxMessageAgeMs)}`);
  }
  const limit = Math.max(maxMessageAgeMs, 0);
  return Object.freeze({ ...core, maxMessageAgeMs: limit, jitterFactor, brokerWaitThresholdMs });
}
