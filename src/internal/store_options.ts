/**
 * What the options of a store's calls must be, wherever it keeps its rows.
 *
 * The compiler holds no table here against the interface, which is in a layer above: the test over all options does.
 *
 * @module
 */

import { assertFiniteNumber, assertOneOf, assertWholeNumber } from "./assert_option.ts";
import { assertOptions, type OptionKind } from "./option_kinds.ts";

type Kinds = Record<string, OptionKind>;

const PURGE_CLAIMS: Readonly<Kinds> = { batchSize: "checked", signal: "signal" };
const GET_PAYLOAD: Readonly<Kinds> = { sha256: "text", signal: "signal" };
const CHECK_ROWS: Readonly<Kinds> = { mode: "checked", signal: "signal" };
const ADD_ROWS: Readonly<Kinds> = { orderingKey: "checked", outsideTransaction: "boolean" };
const CLAIM_ROWS: Readonly<Kinds> = {
  limit: "checked",
  leaseMs: "checked",
  mode: "checked",
  onRetired: "checked",
  signal: "signal",
};
const GIVE_ROWS_BACK: Readonly<Kinds> = { delayMs: "checked", signal: "signal" };
const PURGE_ROWS: Readonly<Kinds> = { olderThanMs: "checked", batchSize: "checked", signal: "signal" };

const MODES: readonly string[] = ["continue", "in_order"];
const RETIRED: readonly string[] = ["release", "hold"];

/** Of a payload that is read. */
export function assertGetOfPayload(options: object): void {
  assertOptions("get", options, GET_PAYLOAD);
}

/** Of a purge of claims. */
export function assertPurgeOfClaims(options: { readonly batchSize?: number }): void {
  assertOptions("purgeExpired", options, PURGE_CLAIMS);
  if (options.batchSize !== undefined) assertWholeNumber("batchSize", options.batchSize, 1);
}

/** Of a check of an outbox. */
export function assertCheckOfRows(options: { readonly mode?: string }): void {
  assertOptions("check", options, CHECK_ROWS);
  if (options.mode !== undefined) assertOneOf("mode", options.mode, MODES);
}

/** Of an addition to an outbox; the ordering key is looked at where it is read. */
export function assertAdditionOfRows(options: object): void {
  assertOptions("add", options, ADD_ROWS);
}

/** Of a claim of an outbox's rows. */
export function assertClaimOfRows(
  options: { readonly limit: number; readonly leaseMs: number; readonly mode: string; readonly onRetired: string },
): void {
  assertOptions("claim", options, CLAIM_ROWS);
  assertWholeNumber("limit", options.limit, 1);
  assertFiniteNumber("leaseMs", options.leaseMs, 1);
  assertOneOf("mode", options.mode, MODES);
  assertOneOf("onRetired", options.onRetired, RETIRED);
}

/** Of rows given back to an outbox. */
export function assertReturnOfRows(options: { readonly delayMs?: number }): void {
  assertOptions("giveBack", options, GIVE_ROWS_BACK);
  if (options.delayMs !== undefined) assertFiniteNumber("delayMs", options.delayMs, 0);
}

/** Of a purge of an outbox's published rows. */
export function assertPurgeOfRows(options: { readonly olderThanMs: number; readonly batchSize?: number }): void {
  assertOptions("purgePublished", options, PURGE_ROWS);
  assertFiniteNumber("olderThanMs", options.olderThanMs, 0);
  if (options.batchSize !== undefined) assertWholeNumber("batchSize", options.batchSize, 1);
}
