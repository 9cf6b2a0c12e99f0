/**
 * What a caller may say about a store of claims in a table.
 *
 * @module
 */

import type { Clock, NewId, Random } from "../../src/clock.ts";
import { assertOneOf } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { IDEMPOTENCY_LAYOUTS, type IdempotencyLayoutName } from "./idempotency_layout.ts";

/** How a store of claims works. */
export interface SqlIdempotencyOptions {
  /** How long a claim lasts unless it is confirmed, released or renewed. Milliseconds. @default {300_000} */
  readonly claimTimeoutMs?: number;
  /** How long a confirmation is remembered: longer than the longest retry ladder in front of it. Milliseconds. @default {86_400_000} */
  readonly retentionMs?: number;
  /** How long a consumer waits before it puts back what somebody else has claimed. Milliseconds. @default {1_000} */
  readonly inProgressDelayMs?: number;
  /**
   * How often a consumer with this store removes what has expired, a thousand rows at a time. Milliseconds.
   *
   * @default {undefined: call `purgeExpired` on a schedule of your own}
   */
  readonly purgeIntervalMs?: number;
  /** A name of letters, digits and underscores, with a schema before it or not. @default {"acemq_idempotency"} */
  readonly table?: string;
  /** The layout the table must have, and is created with. Without it, the table's columns decide. */
  readonly layout?: IdempotencyLayoutName;
  /** On SQLite leases run by it; PostgreSQL has a clock of its own. @default {systemClock()} */
  readonly clock?: Clock;
  /** Makes the tokens. @default {randomUuid} */
  readonly newId?: NewId;
  /** Makes the first token's last digits where a time is the token; the others count on from there. @default {systemRandom} */
  readonly random?: Random;
}

const KINDS: Readonly<OptionKinds<SqlIdempotencyOptions>> = {
  claimTimeoutMs: "checked",
  retentionMs: "checked",
  inProgressDelayMs: "checked",
  purgeIntervalMs: "checked",
  table: "checked",
  layout: "checked",
  clock: "object",
  newId: "function",
  random: "function",
};

/** Throws for what is no option of a store of claims, or of the wrong kind; numbers and names are looked at where they are used. */
export function assertIdempotencyOptions(options: SqlIdempotencyOptions): void {
  assertOptions("a store of claims", options, KINDS);
  if (options.layout !== undefined) assertOneOf("layout", options.layout, IDEMPOTENCY_LAYOUTS);
}
