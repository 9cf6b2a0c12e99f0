/**
 * What the options of a contract must be: a misspelt one would leave cases out, or in, without a word.
 *
 * @module
 */

import { assertOptions, describeKind, type OptionKinds } from "../../src/internal/option_kinds.ts";

/** What every contract can be told. */
export interface SkipOptions {
  readonly skip?: string | false;
}

/** The options of a contract that has no others; throws a `TypeError` for what is none. */
export function contractOptions(options: SkipOptions): { readonly skip: string | false } {
  assertOptions("a contract", options, { skip: "checked" } satisfies OptionKinds<SkipOptions>);
  return { skip: skipOf(options) };
}

/** Why a contract's cases are skipped, false where they run. */
export function skipOf({ skip = false }: SkipOptions): string | false {
  if (skip === false || typeof skip === "string") return skip;
  throw new TypeError(`Cannot use option 'skip': it must be a reason as text, or false, found ${describeKind(skip)}`);
}
