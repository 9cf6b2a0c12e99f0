/**
 * The one function for every message the library publishes on somebody's behalf: retry hop, rung, dead letter, parking,
 * put-back, replay, pipeline hop, reply, relay, scheduler.
 *
 * Whatever the connection's own settings, such a message is mandatory, persistent and confirmed, and the answer is a value:
 * something is acknowledged, deleted or marked done only on `routed`.
 *
 * @module
 */

import type { Outbound } from "../message/outbound.ts";
import type { PublishReceipt } from "../ports/broker.ts";
import { ON_BEHALF_LANE, type PublishGate } from "./gate.ts";

/** Whether the message is in a queue. */
export type OnBehalfAnswer =
  | { readonly status: "routed" }
  /** No queue took it, or the broker refused it: it is nowhere. */
  | { readonly status: "not_routed"; readonly because: "unroutable" | "nacked" | "refused"; readonly reason: string }
  /** Nothing was written: the broker is away or has blocked the connection. Try again later. */
  | { readonly status: "paused"; readonly reason: string }
  /** It may be in a queue. `oneRefused`: the broker refused one of those in flight, and did not say which. */
  | { readonly status: "unknown"; readonly reason: string; readonly oneRefused?: true };

/** How a message is published on somebody's behalf. */
export interface OnBehalfOptions {
  /** Ends the wait for an answer. */
  readonly signal?: AbortSignal | undefined;
  /** Which messages it keeps its place among. @default {ON_BEHALF_LANE} */
  readonly lane?: number;
}

/** Publishes a message on somebody's behalf. Never rejects but with the reason of an aborted signal. */
export async function publishOnBehalf(
  gate: PublishGate,
  outbound: Outbound,
  { signal, lane = ON_BEHALF_LANE }: OnBehalfOptions = {},
): Promise<OnBehalfAnswer> {
  const safe: Outbound = {
    ...outbound,
    mandatory: true,
    persistent: true,
    priority: undefined,
    expirationMs: undefined,
  };
  return answerOf(await gate.publish(safe, lane, signal));
}

function answerOf(receipt: PublishReceipt): OnBehalfAnswer {
  switch (receipt.outcome) {
    case "confirmed":
      return { status: "routed" };
    case "unroutable":
    case "nacked":
    case "refused":
      return { status: "not_routed", because: receipt.outcome, reason: receipt.reason };
    case "paused":
      return { status: "paused", reason: receipt.reason };
    case "unknown": {
      const { reason, oneRefused } = receipt;
      return { status: "unknown", reason, ...(oneRefused === undefined ? {} : { oneRefused }) };
    }
    case "published":
      return { status: "unknown", reason: "the broker adapter did not wait for a confirm" };
  }
}
