/** The options of consuming: contract core 3.1 and 4.3. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { intakeOf, prefetchOf } from "../../../src/consume/options.ts";
import { exponentialRetry, fixedRetry, noRetry } from "../../../src/retry/policy.ts";

describe("the options of a consumer", () => {
  it("ask for fifty unsettled deliveries, no further attempt and a declared failure side by default", () => {
    const { prefetch, ladder, declare } = intakeOf({});
    assert.deepEqual([prefetch, ladder.policy.maxAttempts, ladder.rungsMs, declare], [50, 1, [], true]);
  });

  it("bring the rungs of the policy and the ones handlers may ask for", () => {
    const retry = exponentialRetry(6, { initialDelayMs: 10_000, maxDelayMs: 60_000 });
    assert.deepEqual(intakeOf({ retry, rungsMs: [120_000, 40_000] }).ladder.rungsMs, [40_000, 60_000, 120_000]);
  });

  it("refuse a prefetch of 0, which AMQP takes for no bound at all, and say what is out of range [CN-32]", () => {
    for (const prefetch of [0, -1, 1.5, Number.NaN, Infinity]) {
      assert.throws(() => prefetchOf(prefetch), RangeError);
      assert.throws(() => intakeOf({ prefetch }), {
        name: "RangeError",
        message: new RegExp(`'prefetch'.*found ${prefetch}$`),
      });
    }
    assert.throws(() => prefetchOf(65_536), {
      message: "Cannot use option 'prefetch': it must be at most 65535, found 65536",
    });
    assert.deepEqual([prefetchOf(1), prefetchOf(65_535), prefetchOf("unlimited")], [1, 65_535, 0]);
  });

  it("refuse a wait on the broker that is not whole seconds, from the policy and from the handlers' list", () => {
    const message = /a wait held by the broker must be whole seconds, found 67500 ms$/;
    const retry = exponentialRetry(3, { initialDelayMs: 45_000, multiplier: 1.5 });
    assert.throws(() => intakeOf({ retry }), { name: "RangeError", message });
    assert.throws(() => intakeOf({ rungsMs: [67_500] }), { name: "RangeError", message });
    assert.throws(
      () => intakeOf({ retry: fixedRetry(3, { delayMs: 1_200, brokerWaitThresholdMs: 1_000 }) }),
      RangeError,
    );
  });

  it("refuse further attempts together with a place in a stream, whose entries are not tried again [STR-03]", () => {
    const from = { "x-stream-offset": "first" };
    for (
      const [options, found] of [[{ retry: fixedRetry(3) }, "'retry' with 3 attempts"], [
        { rungsMs: [2_000] },
        "'rungsMs'",
      ]] as const
    ) {
      assert.throws(() => intakeOf({ ...options, arguments: from }), {
        name: "TypeError",
        message: `Cannot use option ${found} on a stream: its entries are not tried again`,
      });
      assert.equal(intakeOf({ ...options, arguments: { "x-priority": 1 } }).declare, true);
    }
    assert.equal(intakeOf({ arguments: from, retry: noRetry() }).ladder.policy.maxAttempts, 1);
  });
});
