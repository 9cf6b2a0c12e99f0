/**
 * What a caller may say about a replay, and what a replay says of itself.
 *
 * @module
 */

import type { CodecName } from "../../codec/codecs.ts";
import { assertFiniteNumber, assertWholeNumber } from "../../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../internal/option_kinds.ts";
import type { Codec } from "../../ports/codec.ts";
import type { PeekedMessage } from "./peeked_message.ts";
import type { ReplayTarget, SetAsideQueue } from "./places.ts";

/**
 * Options of `mq.replay`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect, topology } from "@acemq/amqp/core";
 * import { memoryBroker } from "@acemq/amqp/memory";
 *
 * const mq = await connect(memoryBroker());
 * await mq.declare(topology().queue("orders.new", { deadLetter: true }));
 * await mq.publisher("", "orders.new.dlq").sendAll([{ id: "A-1" }, { id: "A-2" }]); // as a consumer would
 * const result = await mq.replay("orders.new", { limit: 1, ratePerSecond: 50 });
 * assert.deepEqual(result, { moved: 1, skipped: 0, reason: "limit" });
 * for await (const { envelope } of mq.peek("orders.new", { from: "queue" })) assert.equal(envelope.replayCount, 1);
 * await mq.close();
 * ```
 */
export interface ReplayOptions<T = unknown> {
  /**
   * Which messages: those that were given up, or those that were parked.
   *
   * @default {"dlq", or the named queue where its name ends with `.dlq`, `.parked` or .NET's `.dead`}
   */
  readonly from?: SetAsideQueue;
  /**
   * Where they go: a queue by its name, or an exchange. An exchange with several queues bound puts one copy into each of them, those
   * that had handled the message included.
   *
   * @default {the queue they were set aside from}
   */
  readonly into?: string | ReplayTarget;
  /** How many are moved at most. @default {all} */
  readonly limit?: number;
  /** A pass begins no further message after that long, and waits no longer for a filter, milliseconds. @default {no bound} */
  readonly deadlineMs?: number;
  /** How many are moved a second at most, evenly; may be below 1. @default {no bound} */
  readonly ratePerSecond?: number;
  /**
   * Which are moved. A message that is declined is held to the end of the pass and then given back, so that the pass does not meet
   * it again: nobody sees it meanwhile. What it throws ends the pass as `failed`. It is waited for until the signal aborts or the
   * deadline passes; a message it has not decided about then goes back.
   *
   * @default {every message}
   */
  readonly filter?: (message: PeekedMessage<T>) => boolean | Promise<boolean>;
  /** Moves nothing: the result and `onProgress` say what would be. @default {false} */
  readonly dryRun?: boolean;
  /** Leaves the attempt and the error as they are, for messages that are only to lie elsewhere. @default {false} */
  readonly keepAttempts?: boolean;
  /**
   * Called after every message, moved or passed over. It is waited for as the filter is, and what it throws meanwhile ends the pass as
   * `failed`.
   */
  readonly onProgress?: (progress: ReplayProgress<T>) => unknown;
  /** How `decode()` reads bodies: a name, or the codec itself. @default {the connection's} */
  readonly codec?: CodecName | Codec<never, T>;
  /** Ends the pass as `cancelled`. A copy that is out is waited for, since nobody can call it back; a filter is not. */
  readonly signal?: AbortSignal;
}

/** Where a pass stands. */
export interface ReplayProgress<T = unknown> {
  /** Messages moved so far; in a dry run, those that would be. */
  readonly moved: number;
  /** Messages the filter declined so far. */
  readonly skipped: number;
  /** What was just decided. */
  readonly outcome: "moved" | "skipped";
  /** About which message. */
  readonly message: PeekedMessage<T>;
}

/**
 * How a pass ended. Never ask `reason` alone: `moved` messages are where they should be, whatever ended it.
 *
 * `drained`: every message that lay there when the pass began was decided. `limit`, `deadline`, `cancelled`: by the options.
 * `failed`: `error` says why; the message it happened to is still in its queue.
 */
export type ReplayResult =
  | {
    /** Messages moved; in a dry run, those that would be. */
    readonly moved: number;
    /** Messages the filter declined; they are still where they were. */
    readonly skipped: number;
    /** Why the pass ended. */
    readonly reason: "drained" | "limit" | "deadline" | "cancelled";
  }
  | {
    /** Messages moved before it failed; in a dry run, those that would have been. */
    readonly moved: number;
    /** Messages the filter declined; they are still where they were. */
    readonly skipped: number;
    /** Why the pass ended. */
    readonly reason: "failed";
    /** What went wrong: mostly a `PublishError` or a `ConnectionError`, or what the filter threw. */
    readonly error: unknown;
  };

const REPLAY_KINDS: Readonly<OptionKinds<ReplayOptions>> = {
  from: "checked",
  into: "checked",
  limit: "checked",
  deadlineMs: "checked",
  ratePerSecond: "checked",
  filter: "function",
  dryRun: "boolean",
  keepAttempts: "boolean",
  onProgress: "function",
  codec: "checked",
  signal: "signal",
};

/** Throws before anything is touched. */
export function assertReplayOptions(options: ReplayOptions): void {
  assertOptions("a replay", options, REPLAY_KINDS);
  const { limit, deadlineMs, ratePerSecond } = options;
  if (limit !== undefined) assertWholeNumber("limit", limit, 1);
  if (deadlineMs !== undefined) assertFiniteNumber("deadlineMs", deadlineMs, 0);
  if (ratePerSecond !== undefined) assertRate(ratePerSecond);
}

function assertRate(ratePerSecond: number): void {
  if (typeof ratePerSecond === "number" && Number.isFinite(ratePerSecond) && ratePerSecond > 0) return;
  throw new RangeError(
    `Cannot use option 'ratePerSecond': it must be a finite number above 0, found ${String(ratePerSecond)}`,
  );
}
