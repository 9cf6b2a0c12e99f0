/**
 * What the steps of the gate answer with, and how answers add up.
 *
 * @module
 */

/** One test, example or check that did not pass. */
export interface Exception {
  readonly name: string;
  readonly reason: string;
}

/** Counts, with the names behind every number that is not a success. */
export interface Outcome {
  readonly passed: number;
  readonly failures: readonly Exception[];
  readonly skips: readonly Exception[];
}

/** Nothing was there to look at. */
export const NONE: Outcome = { passed: 0, failures: [], skips: [] } as const;

export function passed(count: number): Outcome {
  return { ...NONE, passed: count };
}

export function failed(name: string, reason: string): Outcome {
  return { ...NONE, failures: [{ name, reason }] };
}

export function skipped(name: string, reason: string): Outcome {
  return { ...NONE, skips: [{ name, reason }] };
}

export function sum(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((total, outcome) => total + outcome.passed, 0),
    failures: outcomes.flatMap((outcome) => outcome.failures),
    skips: outcomes.flatMap((outcome) => outcome.skips),
  };
}

const MAY_SKIP = /rabbitmq ?4|rabbitmq_4/i;

/** Where services are required a skip is a failure, but for the tests of RabbitMQ 4, which may not install. */
export function withServicesRequired(outcome: Outcome): Outcome {
  const excused = outcome.skips.filter(({ name }) => MAY_SKIP.test(name));
  const refused = outcome.skips.filter(({ name }) => !MAY_SKIP.test(name))
    .map(({ name, reason }) => ({ name, reason: `Skipped although services are required: ${reason}` }));
  return { passed: outcome.passed, failures: [...outcome.failures, ...refused], skips: excused };
}

/**
 * How many were skipped for which reason. Only Node reports a reason; what another runner skips is the same test, known by its
 * name without its file.
 */
export function skipsByReason(skips: readonly Exception[]): Map<string, number> {
  const title = (name: string): string => name.replace(/^tests\/\S+: /, "");
  const known = new Map(skips.filter(({ reason }) => reason !== "").map(({ name, reason }) => [title(name), reason]));
  const counts = new Map<string, number>();
  for (const { name, reason } of skips) {
    const why = reason || known.get(title(name)) || "the runner reports no reason";
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return counts;
}
