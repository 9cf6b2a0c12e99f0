/** Policies and their schedules: contract core 4.1. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ladderOf } from "../../../src/retry/ladder.ts";
import {
  delayAfter,
  exponentialRetry,
  fixedRetry,
  noRetry,
  type RetryPolicy,
  retrySchedule,
  waitsInBroker,
} from "../../../src/retry/policy.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("the pinned policies [RET-05]", () => {
  const pinned: readonly (readonly [string, RetryPolicy, readonly number[], readonly number[]])[] = [
    [
      "exponential(5, 1s, 24h)",
      exponentialRetry(5, { initialDelayMs: SECOND, maxDelayMs: DAY }),
      [1_000, 2_000, 4_000, 8_000],
      [],
    ],
    [
      "exponential(6, 10s, 1m)",
      exponentialRetry(6, { initialDelayMs: 10 * SECOND, maxDelayMs: MINUTE }),
      [10_000, 20_000, 40_000, 60_000, 60_000],
      [40_000, 60_000],
    ],
    [
      "exponential(5, 1s, 24h).giveUpAfter(2m)",
      exponentialRetry(5, { initialDelayMs: SECOND, maxDelayMs: DAY, maxMessageAgeMs: 2 * MINUTE }),
      [1_000, 2_000, 4_000, 8_000],
      [],
    ],
    ["fixed(4, 30s)", fixedRetry(4, { delayMs: 30 * SECOND }), [30_000, 30_000, 30_000], [30_000]],
    ["none()", noRetry(), [], []],
    [
      "exponential(6, 10s, 5m)",
      exponentialRetry(6, { initialDelayMs: 10 * SECOND, maxDelayMs: 5 * MINUTE }),
      [10_000, 20_000, 40_000, 80_000, 160_000],
      [40_000, 80_000, 160_000],
    ],
    [
      "exponential(5, 1s, 1m)",
      exponentialRetry(5, { initialDelayMs: SECOND, maxDelayMs: MINUTE }),
      [1_000, 2_000, 4_000, 8_000],
      [],
    ],
    [
      "exponential(4, 20s, 5m), the worked example",
      exponentialRetry(4, { initialDelayMs: 20 * SECOND, maxDelayMs: 5 * MINUTE }),
      [20_000, 40_000, 80_000],
      [40_000, 80_000],
    ],
  ];
  for (const [name, policy, schedule, rungsMs] of pinned) {
    it(`${name} waits ${schedule.join(", ") || "never"}`, () => assert.deepEqual(retrySchedule(policy), schedule));
    it(`${name} has rungs of ${rungsMs.join(", ") || "nothing"}`, () => {
      assert.deepEqual(ladderOf(policy).rungsMs, rungsMs);
    });
  }
});

describe("the defaults of a policy", () => {
  it("of growing waits are twice as long each time, from 1 s to 5 min, 20 % jitter, no age limit, broker from 30 s", () => {
    assert.deepEqual(exponentialRetry(5), {
      maxAttempts: 5,
      initialDelayMs: 1_000,
      multiplier: 2,
      maxDelayMs: 300_000,
      jitterFactor: 0.2,
      maxMessageAgeMs: 0,
      brokerWaitThresholdMs: 30_000,
    });
  });

  it("of equal waits are 1 s without jitter", () => {
    assert.deepEqual(fixedRetry(3), {
      maxAttempts: 3,
      initialDelayMs: 1_000,
      multiplier: 1,
      maxDelayMs: 0,
      jitterFactor: 0,
      maxMessageAgeMs: 0,
      brokerWaitThresholdMs: 30_000,
    });
  });

  it("of no retry are one attempt without jitter", () => {
    const { maxAttempts, jitterFactor, maxMessageAgeMs } = noRetry();
    assert.deepEqual([maxAttempts, jitterFactor, maxMessageAgeMs], [1, 0, 0]);
  });

  it("cannot be changed afterwards", () => {
    for (const policy of [noRetry(), fixedRetry(2), exponentialRetry(2)]) assert.equal(Object.isFrozen(policy), true);
  });
});

describe("a wait", () => {
  it("is cut to whole milliseconds, each by itself", () => {
    const policy = exponentialRetry(5, { initialDelayMs: 1, multiplier: 1.5 });
    assert.deepEqual(retrySchedule(policy), [1, 1, 2, 3]);
  });

  it("keeps doubling without a ceiling [RET-10]", () => {
    const schedule = retrySchedule(exponentialRetry(31, { initialDelayMs: SECOND, maxDelayMs: 0 }));
    assert.deepEqual(schedule, Array.from({ length: 30 }, (_, index) => SECOND * 2 ** index));
  });

  it("stays a whole number where doubling leaves what a number holds", () => {
    const policy = exponentialRetry(2_000, { maxDelayMs: 0 });
    for (const attempt of [1, 40, 60, 1_100, 1_999]) assert.ok(Number.isSafeInteger(delayAfter(policy, attempt)));
  });

  it("stays zero from a first wait of zero", () => {
    assert.equal(delayAfter(exponentialRetry(2_000, { initialDelayMs: 0 }), 1_999), 0);
  });

  it("is capped from the first one on", () => {
    const policy = exponentialRetry(4, { initialDelayMs: MINUTE, maxDelayMs: 10 * SECOND });
    assert.deepEqual(retrySchedule(policy), [10_000, 10_000, 10_000]);
  });
});

describe("the threshold of the broker", () => {
  const rows: readonly (readonly [number, number, boolean])[] = [
    [30_000, 0, false],
    [30_000, 1, false],
    [30_000, 29_999, false],
    [30_000, 30_000, true],
    [30_000, 30_001, true],
    [30_000, DAY, true],
    [1_000, 999, false],
    [1_000, 1_000, true],
    [1, 1, true],
    [1, 0, false],
    [0, 0, false],
    [0, 1, false],
  ];
  for (const [thresholdMs, delayMs, held] of rows) {
    it(`of ${thresholdMs} ms ${held ? "holds" : "does not hold"} a wait of ${delayMs} ms`, () => {
      assert.equal(waitsInBroker(fixedRetry(2, { brokerWaitThresholdMs: thresholdMs }), delayMs), held);
    });
  }

  it("of zero never uses the broker, however long the wait [RET-09]", () => {
    const policy = fixedRetry(3, { delayMs: HOUR, brokerWaitThresholdMs: 0 });
    assert.equal(waitsInBroker(policy, HOUR), false);
    assert.deepEqual(ladderOf(policy).rungsMs, []);
  });
});

describe("an option of a policy", () => {
  const refused: readonly (readonly [string, () => RetryPolicy])[] = [
    ["maxAttempts", () => fixedRetry(0)],
    ["maxAttempts", () => exponentialRetry(1.5)],
    ["maxAttempts", () => exponentialRetry(NaN)],
    ["maxAttempts", () => exponentialRetry(Infinity)],
    ["delayMs", () => fixedRetry(2, { delayMs: -1 })],
    ["delayMs", () => fixedRetry(2, { delayMs: NaN })],
    ["initialDelayMs", () => exponentialRetry(2, { initialDelayMs: -1 })],
    ["maxDelayMs", () => exponentialRetry(2, { maxDelayMs: -1 })],
    ["maxDelayMs", () => exponentialRetry(2, { maxDelayMs: Infinity })],
    ["multiplier", () => exponentialRetry(2, { multiplier: 0.9 })],
    ["multiplier", () => exponentialRetry(2, { multiplier: NaN })],
    ["jitterFactor", () => exponentialRetry(2, { jitterFactor: -0.1 })],
    ["jitterFactor", () => exponentialRetry(2, { jitterFactor: 1.1 })],
    ["jitterFactor", () => fixedRetry(2, { jitterFactor: NaN })],
    ["brokerWaitThresholdMs", () => fixedRetry(2, { brokerWaitThresholdMs: -1 })],
    ["maxMessageAgeMs", () => fixedRetry(2, { maxMessageAgeMs: NaN })],
  ];
  for (const [option, make] of refused) {
    it(`is refused out of range, by name: ${option}`, () => {
      assert.throws(make, (error: unknown) => error instanceof RangeError && error.message.includes(`'${option}'`));
    });
  }
});
