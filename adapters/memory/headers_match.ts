/**
 * How the arguments of a binding to a headers exchange meet the headers of a message.
 *
 * @module
 */

import { isWireTable, WireDecimal, WireDouble, type WireTable, type WireValue } from "../../src/message/wire_value.ts";

/** Why the arguments of a binding cannot be matched with, in the broker's words; undefined when they can. */
export function xMatchProblem(args: WireTable): string | undefined {
  const mode = Object.hasOwn(args, "x-match") ? args["x-match"] : "all";
  if (typeof mode !== "string") return "PRECONDITION_FAILED - Invalid x-match field type; expected longstr";
  if (["all", "any", "all-with-x", "any-with-x"].includes(mode)) return undefined;
  return `PRECONDITION_FAILED - Invalid x-match field value <<"${mode}">>; expected all, any, all-with-x, or any-with-x`;
}

/** Whether the headers have all (or with `x-match: any`, one) of the values the binding names; a null asks for presence. */
export function matchesHeaders(args: WireTable, headers: WireTable): boolean {
  const mode = args["x-match"] ?? "all";
  const withX = mode === "all-with-x" || mode === "any-with-x";
  const wanted = Object.keys(args).filter((name) => name !== "x-match" && (withX || !name.startsWith("x-")));
  const isThere = (name: string): boolean =>
    Object.hasOwn(headers, name) && (args[name] === null || sameValue(args[name], headers[name]));
  return mode === "any" || mode === "any-with-x" ? wanted.some(isThere) : wanted.every(isThere);
}

/** Equality of two values that have both crossed the wire: same kind, same value. */
export function sameValue(one: WireValue | undefined, other: WireValue | undefined): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length &&
      one.every((item: WireValue, index) => sameValue(item, other[index]));
  }
  if (isWireTable(one) && isWireTable(other)) {
    const names = Object.keys(one);
    return names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && sameValue(one[name], other[name]));
  }
  return sameScalar(one, other);
}

function sameScalar(one: object, other: object): boolean {
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime();
  if (one instanceof WireDouble && other instanceof WireDouble) return one.value === other.value;
  if (one instanceof WireDecimal && other instanceof WireDecimal) return one.toString() === other.toString();
  if (one instanceof Uint8Array && other instanceof Uint8Array) {
    return one.length === other.length && one.every((byte, index) => byte === other[index]);
  }
  return false;
}
