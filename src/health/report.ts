/**
 * Health reports and how several become one (contract core 7.4).
 *
 * @module
 */

import { type Clock, systemClock } from "../clock.ts";
import { assertFiniteNumber } from "../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../internal/option_kinds.ts";

/** Up: works. Degraded: works in part, look at it. Down: does not work. */
export type HealthStatus = "up" | "degraded" | "down";

/** One report; parts are reports of their own, or plain facts. */
export interface HealthReport {
  /** The worst of its parts. */
  readonly status: HealthStatus;
  /** Why, for a person. */
  readonly detail?: string;
  /** When it was made, RFC 3339. */
  readonly checked: string;
  /** What it was made from. */
  readonly parts?: { readonly [name: string]: HealthReport | string | number | boolean | null };
}

/** One thing to look at. */
export type HealthCheck = (signal: AbortSignal) => HealthReport | Promise<HealthReport>;

/** Options of {@linkcode aggregateHealth}. */
export interface AggregateHealthOptions {
  /** Measures the time that checks take, and stamps the report. @default {systemClock()} */
  readonly clock?: Clock;
  /** Ends the wait; the call then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long a check may take, milliseconds; then it is down. @default {5_000} */
  readonly timeoutMs?: number;
}

const KINDS: Readonly<OptionKinds<AggregateHealthOptions>> = {
  clock: "object",
  signal: "signal",
  timeoutMs: "checked",
};

/** No check may hold up the whole (contract core 7.4). */
const AGGREGATE_TIMEOUT_MS = 5_000;

const RANK: Readonly<Record<HealthStatus, number>> = { up: 0, degraded: 1, down: 2 };

/**
 * Runs every check at once; the worst status is the whole's. A check that throws or hangs is down, by name; the others keep their
 * details.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { aggregateHealth } from "@acemq/amqp/core";
 *
 * const checked = new Date().toISOString();
 * const report = await aggregateHealth({
 *   broker: () => ({ status: "up", checked }),
 *   ledger: () => ({ status: "degraded", detail: "reading from the replica", checked }),
 * });
 * assert.equal(report.status, "degraded");
 * ```
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 * @throws the signal's reason, when it aborts first
 */
export async function aggregateHealth(
  checks: { readonly [name: string]: HealthCheck },
  options: AggregateHealthOptions = {},
): Promise<HealthReport> {
  assertOptions("health", options, KINDS);
  const { clock = systemClock(), signal, timeoutMs = AGGREGATE_TIMEOUT_MS } = options;
  assertFiniteNumber("timeoutMs", timeoutMs, 0);
  signal?.throwIfAborted();
  const over = new AbortController();
  const timer = new AbortController();
  const ends = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const expired = clock.delay(timeoutMs, { signal: timer.signal }).then(() => over.abort(), () => {});
  const checked = new Date(clock.now()).toISOString();
  try {
    const entries = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const late: HealthReport = { status: "down", detail: `no answer within ${timeoutMs / 1_000}s`, checked };
        return [name, await answer(check, ends, late)] as const;
      }),
    );
    signal?.throwIfAborted();
    return { status: worst(entries.map(([, report]) => report.status)), checked, parts: Object.fromEntries(entries) };
  } finally {
    timer.abort();
    await expired;
  }
}

/** The worst of several statuses; up for none. */
export function worst(statuses: readonly HealthStatus[]): HealthStatus {
  return statuses.reduce<HealthStatus>((found, status) => RANK[status] > RANK[found] ? status : found, "up");
}

async function answer(check: HealthCheck, ends: AbortSignal, late: HealthReport): Promise<HealthReport> {
  const done = new AbortController();
  const over = new Promise<HealthReport>((resolve) => {
    ends.addEventListener("abort", () => resolve(late), { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([Promise.resolve(check(ends)), over]);
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    return { status: "down", detail: `the check failed with ${name}`, checked: late.checked };
  } finally {
    done.abort();
  }
}
