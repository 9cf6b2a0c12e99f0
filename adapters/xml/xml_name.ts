/**
 * Names of elements and attributes (contract codecs 2.4).
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";

/** What every reader takes for a name, without a namespace. */
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** Whether a name can be written. */
export function isWritable(name: string): boolean {
  return NAME.test(name);
}

/** More attributes than any element of a payload has. */
const MOST_ATTRIBUTES = 256;

const DECLARATION = "xmlns:";

/** The prefixes that are bound where a reader stands in a document. */
export class Scope {
  /** How many of the elements around declare each prefix; `xml` is bound in every document. */
  readonly #bound = new Map<string, number>([["xml", 1]]);

  /** Binds what an element declares, if there is anything among the names of its attributes. */
  enter(names: readonly string[]): void {
    if (names.length > MOST_ATTRIBUTES) {
      throw new DecodeError(`Cannot read the body as XML: an element has more than ${MOST_ATTRIBUTES} attributes`);
    }
    for (const name of names) if (name.startsWith(DECLARATION)) this.#count(name.slice(DECLARATION.length), 1);
  }

  /** At the end of that element. */
  leave(names: readonly string[]): void {
    for (const name of names) if (name.startsWith(DECLARATION)) this.#count(name.slice(DECLARATION.length), -1);
  }

  /** A name without the prefix of its namespace, which must be bound. */
  localName(name: string): string {
    const at = name.indexOf(":");
    if (at < 0) return name;
    const isWhole = at < name.length - 1 && at === name.lastIndexOf(":");
    if (isWhole && (this.#bound.get(name.slice(0, at)) ?? 0) > 0) return name.slice(at + 1);
    throw new DecodeError("Cannot read the body as XML: a name in it has a prefix that is not bound");
  }

  #count(prefix: string, by: number): void {
    this.#bound.set(prefix, (this.#bound.get(prefix) ?? 0) + by);
  }
}

/** Whether an attribute declares a namespace. */
export function isDeclaration(name: string): boolean {
  return name === "xmlns" || name.startsWith(DECLARATION);
}

/** Whether an attribute is about the document, and not of the payload: its types, the language of its text. */
export function isBookkeeping(name: string): boolean {
  return name.startsWith("xsi:") || name.startsWith("xml:");
}
