/**
 * What the options of consuming must be, looked at before anything is asked of the broker. Numbers and policies are looked at where
 * they are used.
 *
 * @module
 */

import { assertName } from "../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../internal/option_kinds.ts";
import type { ConsumeOptions, DeliveriesOptions, ReceiveOptions } from "./options.ts";

const RECEIVE_KINDS: Readonly<OptionKinds<ReceiveOptions>> = {
  codec: "checked",
  schema: "checked",
  retry: "object",
  rungsMs: "list",
  prefetch: "checked",
  declare: "boolean",
  consumerTag: "text",
  arguments: "record",
};

const DELIVERIES_KINDS: Readonly<OptionKinds<DeliveriesOptions>> = { ...RECEIVE_KINDS, signal: "signal" };

const CONSUME_KINDS: Readonly<OptionKinds<ConsumeOptions>> = {
  ...DELIVERIES_KINDS,
  concurrency: "checked",
  idempotency: "object",
  interceptors: "functions",
};

/** Throws for what is no option of a consumer, or of the wrong kind. */
export function assertConsumeOptions(options: unknown): void {
  assertOptions("a consumer", options, CONSUME_KINDS);
}

/** Throws for what is no name of a queue, and for what is no option of a loop over deliveries, or of the wrong kind. */
export function assertDeliveries(queue: string, options: unknown): void {
  assertName("a queue name", queue);
  assertOptions("deliveries", options, DELIVERIES_KINDS);
}
