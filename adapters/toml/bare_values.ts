/**
 * The values of a TOML document as they are written, strings left out.
 *
 * @module
 */

/** What strings, comments, keys and values are told apart by. */
const TOKENS = /"""|'''|["'#[\]{},=\n]/;

/** Where a pattern matches in a value that is no string. The text is a valid document. A key may look like any value. */
export function* valuesLike(text: string, pattern: RegExp): Iterable<RegExpExecArray> {
  const tokens = new RegExp(`(${TOKENS.source})|${pattern.source}`, "g");
  /** What is open here: tables that have keys, lists that have values. */
  const open: ("table" | "list")[] = [];
  let isValue = false;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const [, token] = match;
    if (token !== undefined) {
      tokens.lastIndex = endOf(token, text, tokens.lastIndex);
      isValue = isValueAfter(token, isValue, open);
    } else if (isValue) yield match;
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
