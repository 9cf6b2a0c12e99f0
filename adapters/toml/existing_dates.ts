/**
 * Whether the dates of a TOML document exist: the library takes the thirtieth of February for the second of March.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import { valuesLike } from "./bare_values.ts";

/** What may be a date that does not exist. The month's first digit tells it apart from most that do. */
const SUSPECT = /\d{4}-(?:02-(?:29|30|31)|(?:04|06|09|11)-31)/;

const DATE = /(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})/;

/** Throws a `DecodeError` for a date that does not exist. The text is a valid document otherwise. */
export function assertDatesExist(text: string): void {
  if (!SUSPECT.test(text)) return;
  for (const { groups } of valuesLike(text, DATE)) {
    if (exists(Number(groups?.["year"]), Number(groups?.["month"]), Number(groups?.["day"]))) continue;
    throw new DecodeError("Cannot read the body as TOML: a date in it does not exist");
  }
}

function exists(year: number, month: number, day: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);
}
