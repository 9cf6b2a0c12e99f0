/**
 * Whether the dates of a TOML document exist: the library takes the thirtieth of February for the second of March.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";

/** What may be a date that does not exist. The month's first digit tells it apart from most that do. */
const SUSPECT = /\d{4}-(?:02-(?:29|30|31)|(?:04|06|09|11)-31)/;

/**
 * Throws a `DecodeError` for a date that does not exist. The text is a valid document otherwise.
 *
 * A key may look like any date, and so may a string: only values are dates.
 */
export function assertDatesExist(text: string): void {
  if (!SUSPECT.test(text)) return;
  const tokens = /"""|'''|["'#[\]{},=\n]|(\d{4})-(\d{2})-(\d{2})/g;
  /** What is open here: tables that have keys, lists that have values. */
  const open: ("table" | "list")[] = [];
  let isValue = false;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const [token, year, month, day] = match;
    if (year === undefined) {
      tokens.lastIndex = endOf(token, text, tokens.lastIndex);
      isValue = isValueAfter(token, isValue, open);
    } else if (isValue && !exists(Number(year), Number(month), Number(day))) {
      throw new DecodeError("Cannot read the body as TOML: a date in it does not exist");
    }
  }
}

/** The end of the string or the comment that a token opens; that of the token itself where it opens none. */
function endOf(token: string, text: string, from: number): number {
  if (token === "#") return endOrRest(text.indexOf("\n", from), text);
  const [quote] = token;
  if (quote !== '"' && quote !== "'") return from;
  let at = from;
  while (at < text.length && !text.startsWith(token, at)) at += quote === '"' && text[at] === "\\" ? 2 : 1;
  at += token.length;
  // A string of several lines may end with quotes of its own.
  while (token.length === 3 && text[at] === quote) at++;
  return at;
}

function endOrRest(at: number, text: string): number {
  return at < 0 ? text.length : at;
}

/** Whether a value follows a token, rather than a key; keeps what is open up to date. */
function isValueAfter(token: string, isValue: boolean, open: ("table" | "list")[]): boolean {
  switch (token) {
    case "=":
      return true;
    case "\n":
      return open.length > 0 && isValue;
    case "[":
      // Where a key is due, the bracket opens the header of a table.
      if (isValue) open.push("list");
      return isValue;
    case "{":
      open.push("table");
      return false;
    case ",":
      return open.at(-1) === "list";
    case "]":
    case "}":
      // What was open stood where a value does.
      return open.pop() !== undefined;
    default:
      return isValue;
  }
}

function exists(year: number, month: number, day: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);
}
