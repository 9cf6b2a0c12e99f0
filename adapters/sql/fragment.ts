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
  // Runs for every statement: one text that grows costs half of what many that are joined do.
  let text = "";
  const write = ({ texts, parts }: Fragment): void => {
    for (let index = 0; index < texts.length; index++) {
      text += texts[index] ?? "";
      if (index < parts.length) fill(parts[index] ?? null);
    }
  };
  const fill = (part: SqlValue | Fragment): void => {
    if (typeof part === "object" && part !== null && "texts" in part) write(part);
    else text += placeholder(params.push(part));
  };
  write(fragment);
  return { text, params };
}
