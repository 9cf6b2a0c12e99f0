/**
 * SQL as a value: text with holes, which each database writes its own way. What stands in a hole is known at once, or is made of the
 * facts a statement is run with: its text is then written once, however often it is run.
 *
 * @module
 */

import type { SqlValue } from "../../src/ports/sql_session.ts";

/** What stands in a hole, by the facts the statement is run with. */
export type Hole<Facts> = (facts: Facts) => SqlValue;

/** A piece of SQL. */
export interface Fragment<Facts = unknown> {
  /** What stands around the holes: one more than there are holes, or one text without any. */
  readonly texts: readonly string[];
  /** What stands in the holes. */
  readonly parts: readonly (SqlValue | ((facts: Facts) => SqlValue) | Fragment<Facts>)[];
}

/** A statement as a session takes it, but for what it is run with. */
export interface Statement<Facts = unknown> {
  readonly text: string;
  /** What is bound, in the order of the placeholders. */
  readonly bind: (facts: Facts) => readonly SqlValue[];
}

/** Makes a fragment of a template: what stands in the braces is a parameter, or a fragment that is put in there. */
export function sql<Facts = unknown>(
  texts: TemplateStringsArray,
  ...parts: readonly (SqlValue | Hole<Facts> | Fragment<Facts>)[]
): Fragment<Facts> {
  return { texts, parts };
}

/** Text that is no parameter: a name that was checked. */
export function raw(text: string): Fragment {
  return { texts: [text], parts: [] };
}

/** Fragments one behind another, with a text between. */
export function joined<Facts>(fragments: readonly Fragment<Facts>[], between: string): Fragment<Facts> {
  if (fragments.length === 0) return raw("");
  return { texts: ["", ...fragments.slice(1).map(() => between), ""], parts: fragments };
}

/** Writes a fragment for a database. */
export function compile<Facts>(
  fragment: Fragment<Facts>,
  placeholder: (number: number) => string,
): Statement<Facts> {
  const holes: (SqlValue | Hole<Facts>)[] = [];
  const write = ({ texts, parts }: Fragment<Facts>): string =>
    texts.map((text, index) => index < parts.length ? text + fill(parts[index] ?? null) : text).join("");
  const fill = (part: SqlValue | Hole<Facts> | Fragment<Facts>): string =>
    isFragment(part) ? write(part) : placeholder(holes.push(part));
  const text = write(fragment);
  return { text, bind: (facts) => holes.map((hole) => typeof hole === "function" ? hole(facts) : hole) };
}

function isFragment<Facts>(part: SqlValue | Hole<Facts> | Fragment<Facts>): part is Fragment<Facts> {
  return typeof part === "object" && part !== null && "texts" in part;
}
