/**
 * Lengths of time as streams have them: a whole number and a unit.
 *
 * @module
 */

const DAY_MS = 86_400_000;

/** Years and months are as long as RabbitMQ has them. */
const UNITS_MS: Readonly<Record<string, number>> = {
  Y: 365 * DAY_MS,
  M: 30 * DAY_MS,
  D: DAY_MS,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
};

/** Milliseconds of an interval such as `10m`; undefined for text that is none. */
export function intervalMs(text: string): number | undefined {
  const [, count = "0", unit = ""] = /^(\d+)([YMDhms])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit] ?? 0);
  return ms > 0 ? ms : undefined;
}
