/**
 * What a handler may ask for (contract core 3.3).
 *
 * @module
 */

import { assertFiniteNumber } from "../internal/assert_option.ts";
import { assertOptions } from "../internal/option_kinds.ts";

/** A handler's word about its message. The engine decides what becomes of it. */
export type Ack =
  | { readonly kind: "accept" }
  | { readonly kind: "retry"; readonly error: unknown; readonly delayMs?: number | undefined }
  | { readonly kind: "reject"; readonly reason: string }
  | { readonly kind: "park"; readonly reason: string };

/** What a handler may return: nothing is {@linkcode accept}. */
export type HandlerResult = Ack | void;

const ACCEPT: Ack = Object.freeze({ kind: "accept" });

/**
 * Done: the message is acknowledged. The same as returning nothing.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { accept } from "@acemq/amqp/core";
 *
 * assert.equal(accept().kind, "accept");
 * ```
 */
export function accept(): Ack {
  return ACCEPT;
}

/**
 * Try again later: the same as throwing, with a say in the wait.
 *
 * The handler runs again from its beginning, after the messages that are in the queue by then. The attempt is spent. `delayMs` replaces the policy's wait, without jitter; a wait long enough for the broker takes the nearest
 * rung that was declared (`rungsMs`). With no attempt left the message goes to `{queue}.dlq`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { retry } from "@acemq/amqp/core";
 *
 * const ack = retry(new Error("The ledger is closing"), { delayMs: 60_000 });
 * assert.equal(ack.kind, "retry");
 * ```
 *
 * @throws {RangeError} a negative or unbounded delay
 */
export function retry(error: unknown, options: { readonly delayMs?: number } = {}): Ack {
  assertOptions<{ readonly delayMs?: number }>("retry", options, { delayMs: "checked" });
  const { delayMs } = options;
  if (delayMs !== undefined) assertFiniteNumber("delayMs", delayMs, 0);
  return { kind: "retry", error, delayMs };
}

/**
 * Never mind: the message goes to `{queue}.dlq` now, whatever attempts are left.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { reject } from "@acemq/amqp/core";
 *
 * assert.deepEqual(reject("nothing to charge"), { kind: "reject", reason: "nothing to charge" });
 * ```
 */
export function reject(reason: string = ""): Ack {
  return { kind: "reject", reason };
}

/**
 * For a person: the message goes to `{queue}.parked` now.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { park } from "@acemq/amqp/core";
 *
 * assert.deepEqual(park("unknown account"), { kind: "park", reason: "unknown account" });
 * ```
 */
export function park(reason: string = ""): Ack {
  return { kind: "park", reason };
}

/** Whether a value a handler returned is an {@linkcode Ack}. */
export function isAck(value: unknown): value is Ack {
  if (typeof value !== "object" || value === null || !("kind" in value)) return false;
  return value.kind === "accept" || value.kind === "retry" || value.kind === "reject" || value.kind === "park";
}
