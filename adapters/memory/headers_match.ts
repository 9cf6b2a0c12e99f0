/**
 * How the arguments of a binding to a headers exchange meet the headers of a message.
 *
 * @module
 */

import type { WireTable, WireValue } from "../../src/message/wire_value.ts";
import { preconditionFailed, type Refusal } from "./refusals.ts";
import { kindOf, textOf } from "./wire_kind.ts";
import { isSameValue } from "./wire_equality.ts";

/** Why the broker refuses the arguments of a binding; undefined where it does not. */
export function xMatchRefusal(args: WireTable): Refusal | undefined {
  const mode = modeOf(args);
  if (typeof mode !== "string") {
    const found = `${kindOf(mode)} (value ${textOf(mode)})`;
    return preconditionFailed(`Invalid x-match field type ${found}; expected longstr`);
  }
  if (["all", "any", "all-with-x", "any-with-x"].includes(mode)) return undefined;
  const expected = "expected all, any, all-with-x, or any-with-x";
  return preconditionFailed(`Invalid x-match field value <<"${mode}">>; ${expected}`);
}

/** Whether the headers have all (or, with `x-match: any`, one) of the values the binding names; null asks for presence. */
export function matchesHeaders(args: WireTable, headers: WireTable): boolean {
  const mode = modeOf(args);
  const looksAtX = mode === "all-with-x" || mode === "any-with-x";
  const wanted = Object.keys(args).filter((name) => name !== "x-match" && (looksAtX || !name.startsWith("x-")));
  const isThere = (name: string): boolean =>
    Object.hasOwn(headers, name) && (args[name] === null || isSameValue(args[name], headers[name]));
  return mode === "any" || mode === "any-with-x" ? wanted.some(isThere) : wanted.every(isThere);
}

function modeOf(args: WireTable): WireValue {
  return (Object.hasOwn(args, "x-match") ? args["x-match"] : undefined) ?? "all";
}
