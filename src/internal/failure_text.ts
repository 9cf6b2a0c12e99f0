/**
 * Why something failed, as a table keeps it (contract patterns 5.6).
 *
 * @module
 */

/** Characters of a reason that are kept. */
const LONGEST = 1_000;

/** A thousand characters of a text: none of them split, none of them NUL, which PostgreSQL refuses together with the rest. */
export function failureText(reason: string): string {
  const text = reason.replaceAll("\0", "").toWellFormed();
  if (text.length <= LONGEST) return text;
  return Array.from(text.slice(0, 2 * LONGEST)).slice(0, LONGEST).join("");
}
