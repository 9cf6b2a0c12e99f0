/**
 * Whether what waits in outboxes is on its way.
 *
 * @module
 */

import type { RelayRun } from "../patterns/outbox/relay_run.ts";
import { type HealthReport, worst } from "./report.ts";

/**
 * One report for a relay; a part for each where there are several. Degraded when rows were retired, when one waits too long, when the
 * store does not answer, and when news of other processes do not arrive.
 */
export async function reportOutbox(
  runs: readonly RelayRun[],
  { checked, signal }: { readonly checked: string; readonly signal: AbortSignal },
): Promise<HealthReport> {
  const reports = await Promise.all(runs.map((run) => reportRun(run, { checked, signal })));
  const [first] = reports;
  if (first !== undefined && reports.length === 1) return first;
  const details = [...new Set(reports.flatMap(({ detail }) => detail === undefined ? [] : [detail]))];
  return {
    status: worst(reports.map(({ status }) => status)),
    ...(details.length === 0 ? {} : { detail: details.join("; ") }),
    checked,
    parts: Object.fromEntries(reports.map((report, index) => [`${index + 1}`, report])),
  };
}

async function reportRun(
  { watch, settings, rowsInHand }: RelayRun,
  { checked, signal }: { readonly checked: string; readonly signal: AbortSignal },
): Promise<HealthReport> {
  const stats = await watch.stats(signal);
  const { away, deaf } = watch;
  const { pending, retired = 0, oldestAgeMs = 0 } = stats ?? {};
  const limitMs = settings.oldestAgeLimitMs;
  const problems = [
    ...(away === undefined ? [] : [`the store does not answer: ${away}`]),
    ...(retired === 0 ? [] : [`${retired} rows failed too often and are retired`]),
    ...(oldestAgeMs < limitMs ? [] : [`the oldest row has waited ${Math.round(oldestAgeMs / 1_000)}s`]),
    ...(deaf === undefined ? [] : [`news of other processes do not arrive, and polling has to do: ${deaf}`]),
  ];
  const figures = pending === undefined ? {} : { pending, retired, oldestAgeMillis: Math.round(oldestAgeMs) };
  return {
    status: problems.length === 0 ? "up" : "degraded",
    ...(problems.length === 0 ? {} : { detail: problems.join("; ") }),
    checked,
    parts: { inHand: rowsInHand, ...figures },
  };
}
