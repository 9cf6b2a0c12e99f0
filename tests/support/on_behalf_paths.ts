/**
 * The ways on which the library publishes on a message's behalf.
 *
 * @module
 */
import assert from "node:assert/strict";
import { park, reject } from "../../src/consume/ack.ts";
import type { Handler } from "../../src/consume/interceptor.ts";
import type { ConsumeOptions } from "../../src/consume/options.ts";
import { fixedRetry, type RetryPolicy } from "../../src/retry/policy.ts";

/** One way a copy can go. */
export interface Path {
  readonly name: string;
  /** What the target is called after the queue. */
  readonly suffix: "" | ".retry.1s" | ".dlq" | ".parked";
  readonly retry?: RetryPolicy;
  readonly handler: Handler;
  readonly body?: string;
}

const failing: Handler = ({ envelope }) => {
  if (envelope.attempt === 1) throw new Error("no");
};

/** Every way there is now. */
export const PATHS: readonly Path[] = [
  { name: "a retry from the consumer", suffix: "", retry: fixedRetry(2, { delayMs: 50 }), handler: failing },
  {
    name: "a retry on a rung",
    suffix: ".retry.1s",
    retry: fixedRetry(2, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 }),
    handler: failing,
  },
  { name: "a dead letter after the last attempt", suffix: ".dlq", handler: () => Promise.reject(new Error("no")) },
  { name: "a rejection", suffix: ".dlq", handler: () => reject("no") },
  { name: "a message parked by its handler", suffix: ".parked", handler: () => park("whose?") },
  { name: "a body that cannot be read", suffix: ".parked", handler: () => assert.fail("It must not run"), body: "{" },
];

/** The options a path is consumed with. */
export function consumeOptions({ retry }: Path): ConsumeOptions {
  return { prefetch: 1, ...(retry === undefined ? {} : { retry }) };
}
