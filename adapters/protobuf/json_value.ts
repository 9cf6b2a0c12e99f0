/**
 * What a field of type `google.protobuf.Struct` can hold: the JSON object it stands for.
 *
 * @module
 */

import { describeKind, isRecord } from "../../src/internal/option_kinds.ts";

/** What is wrong with the value of such a field; undefined when it fits. */
export function jsonProblem(name: string, value: unknown, levels: number): string | undefined {
  return isRecord(value) ? valueProblem(name, value, levels) : `${name} must be a JSON object, found ${kindOf(value)}`;
}

function valueProblem(name: string, value: unknown, levels: number): string | undefined {
  if (levels <= 0) return `${name} is nested too deeply`;
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return undefined;
  if (typeof value === "string" && value.isWellFormed()) return undefined;
  const parts = Array.isArray(value) ? value : isRecord(value) ? Object.entries(value).flat() : undefined;
  if (parts === undefined) return `${name} must hold JSON values, found ${kindOf(value)}`;
  for (const part of parts) {
    const problem = valueProblem(name, part, levels - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function kindOf(value: unknown): string {
  return typeof value === "number" ? "a number that is not finite" : describeKind(value);
}
