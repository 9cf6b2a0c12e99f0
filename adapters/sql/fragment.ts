/**
 * SQL as a value: text with holes for parameters, which each database writes its own way.
 *
 * @module
 */

import type { SqlValue } from "../../src/ports/sql_session.ts";

/** A piece of SQL. */
export interface Fragment {
  /** What stands around the holes: one more than there are holes, or one text without any. */
  readonly texts: readonly string[];
  /** What stands in the holes. */
  readonly parts: readonly (SqlValue | Fragment)[];
}

/** A statement as a session takes it. */
export interface Statement {
  readonly text: string;
  readonly params: readonly SqlValue[];
}

/** Makes a fragment of a template: what stands in the braces is a parameter, or a fragment that is put in there. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (SqlValue | Fragment)[]): Fragment {
  return { texts, parts };
}

/** Text that is no parameter: a name that was checked. */
export function raw(text: string): Fragment {
  return { texts: [text], parts: [] };
}

/** Writes a fragment for a database. */
export function render(fragment: Fragment, placeholder: (number: number) => string): Statement {
  const params: SqlValue[] = [];
  const write = ({ texts, parts }: Fragment): string =>
    texts.map((text, index) => text + (index < parts.length ? hole(parts[index] ?? null) : "")).join("");
  const hole = (part: SqlValue | Fragment): string => {
    if (typeof part === "object" && part !== null && "texts" in part) return write(part);
    params.push(part);
    return placeholder(params.length);
  };
  return { text: write(fragment), params };
}
