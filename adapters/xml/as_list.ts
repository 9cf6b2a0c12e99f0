/**
 * Lists, which XML does not have: what was one is told by whoever knows the member (contract codecs 2.4).
 *
 * @module
 */

/**
 * A member that is meant as a list, whatever shape it came in: repeated elements, one alone, wrapped ones, one alone in a wrapper,
 * an empty element or none (the empty list).
 *
 * Java classes and .NET write lists wrapped, everybody else repeats the element, and one item looks like a value. The nesting is
 * undone for `member` alone, and only where nothing else stands beside it: an item of a repeated list may have a member of that name.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { asList } from "@acemq/amqp/xml";
 *
 * assert.deepEqual(asList(["red", "blue"]), ["red", "blue"]);
 * assert.deepEqual(asList("red"), ["red"]);
 * assert.deepEqual(asList({ tag: ["red", "blue"] }, "tag"), ["red", "blue"]);
 * assert.deepEqual(asList({ tag: "red" }, "tag"), ["red"]);
 * assert.deepEqual([...asList(""), ...asList(undefined)], []);
 * ```
 *
 * @param value the member, as it was read
 * @param member the name of the items in a wrapper; without one nothing is unwrapped
 */
export function asList<T = unknown>(value: unknown, member?: string): readonly T[] {
  const items = member === undefined ? value : unwrapped(value, member);
  if (items === undefined || items === null || items === "") return [];
  // The cast is the caller's promise about the items, as the codec's is about the payload.
  return (Array.isArray(items) ? items : [items]) as readonly T[];
}

function unwrapped(value: unknown, member: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const names = Object.keys(value);
  return names.length === 1 && names[0] === member ? (value as Readonly<Record<string, unknown>>)[member] : value;
}
