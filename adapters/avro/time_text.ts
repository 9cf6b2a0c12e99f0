/**
 * Days and times of day as the text of ISO 8601.
 *
 * @module
 */

const DAY_MS = 86_400_000;
const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/;

/** The day so many days after 1970-01-01; throws a `RangeError` where the year has not four digits. */
export function textOfDay(days: number): string {
  const text = new Date(days * DAY_MS).toISOString();
  if (text.length !== 24) throw new RangeError("The year has not four digits");
  return text.slice(0, 10);
}

/** Days after 1970-01-01; undefined for what is no day of the calendar. */
export function dayOf(text: unknown): number | undefined {
  if (typeof text !== "string" || !DAY.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00.000Z`);
  // A month has no 31st that it lacks: some parsers go on into the next one.
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text) ? undefined : ms / DAY_MS;
}

/** A time of day of so many digits behind the second; throws a `RangeError` for one that is no time of a day. */
export function textOfTime(units: bigint, digits: 3 | 6): string {
  const perSecond = 10n ** BigInt(digits);
  const seconds = Number(units / perSecond);
  if (units < 0n || seconds >= 86_400) throw new RangeError("A day is not that long");
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const fraction = String(units % perSecond).padStart(digits, "0");
  return `${parts.map((part) => String(part).padStart(2, "0")).join(":")}.${fraction}`;
}

/** The units after midnight; undefined for what is no time of day, or finer than the unit. */
export function timeOf(text: unknown, digits: 3 | 6): bigint | undefined {
  const [all, hours, minutes, seconds, fraction = ""] = TIME.exec(typeof text === "string" ? text : "") ?? [];
  if (all === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  if (fraction.length > digits) return undefined;
  const whole = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return BigInt(whole) * 10n ** BigInt(digits) + BigInt(fraction.padEnd(digits, "0"));
}
