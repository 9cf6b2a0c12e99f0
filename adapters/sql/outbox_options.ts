/**
 * What a caller may say about an outbox in a SQL table.
 *
 * @module
 */

import type { Clock, NewId, Random } from "../../src/clock.ts";
import { assertOneOf } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { OUTBOX_LAYOUTS, type OutboxLayoutName } from "./outbox_layout.ts";

/** How an outbox works. */
export interface SqlOutboxOptions {
  /** A name of letters, digits and underscores, with a schema before it or not. @default {"acemq_outbox"} */
  readonly table?: string;
  /** The layout the table must have, and is created with. Without it, the table's columns decide. */
  readonly layout?: OutboxLayoutName;
  /** Failures after which a row is retired: no longer handed out, but kept and listed. @default {10} */
  readonly maxAttempts?: number;
  /**
   * Leaves headers out that the layouts `java` and `dotnet` have no column for: all but id, type, correlation and causation.
   *
   * @default {false: such a message is refused}
   */
  readonly dropHeaders?: boolean;
  /** On SQLite leases run by it; PostgreSQL has a clock of its own. @default {systemClock()} */
  readonly clock?: Clock;
  /** Makes the tokens. @default {randomUuid} */
  readonly newId?: NewId;
  /** Makes the first token's last digits where a time is the token; the others count on from there. @default {systemRandom} */
  readonly random?: Random;
}

/** What its options must be. */
export const OUTBOX_KINDS: Readonly<OptionKinds<SqlOutboxOptions>> = {
  table: "checked",
  layout: "checked",
  maxAttempts: "checked",
  dropHeaders: "boolean",
  clock: "object",
  newId: "function",
  random: "function",
};

/** Throws for what is no option of an outbox, or of the wrong kind; numbers and names are looked at where they are used. */
export function assertOutboxOptions(options: SqlOutboxOptions): void {
  assertOptions("an outbox", options, OUTBOX_KINDS);
  if (options.layout !== undefined) assertOneOf("layout", options.layout, OUTBOX_LAYOUTS);
}
