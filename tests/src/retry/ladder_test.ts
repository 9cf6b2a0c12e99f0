/** Rungs and what follows a failure: contract core 4.2, 4.3 and 4.4. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decideRetry, type FailedAttempt, ladderOf, type RetryDecision } from "../../../src/retry/ladder.ts";
import { exponentialRetry, fixedRetry, noRetry, type RetryPolicy } from "../../../src/retry/policy.ts";

const YEAR_MS = 31_536_000_000;

/** Chance in the middle: a jitter of nothing. */
function even(): number {
  return 0.5;
}

function decide(policy: RetryPolicy, failure: Partial<FailedAttempt>, rungsMs: readonly number[] = []): RetryDecision {
  return decideRetry(ladderOf(policy, rungsMs), { attempt: 1, ageMs: 0, ...failure }, even);
}

describe("the end of retrying", () => {
  const policy = exponentialRetry(5);

  it("is the last attempt, and anything beyond it", () => {
    assert.equal(decide(policy, { attempt: 4 }).next, "wait_in_consumer");
    for (const attempt of [5, 6, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(decide(policy, { attempt }), { next: "give_up", because: "attempts" });
    }
    assert.deepEqual(decide(noRetry(), { attempt: 1 }), { next: "give_up", because: "attempts" });
  });

  it("is the age limit, the limit itself included", () => {
    const limited = exponentialRetry(5, { maxMessageAgeMs: 120_000 });
    assert.equal(decide(limited, { ageMs: 119_999 }).next, "wait_in_consumer");
    assert.deepEqual(decide(limited, { ageMs: 120_000 }), { next: "give_up", because: "age" });
    assert.deepEqual(decide(limited, { ageMs: YEAR_MS }), { next: "give_up", because: "age" });
  });

  it("is no age at all for a limit of zero or less, and for a message as old as its limit it is [RET-08]", () => {
    for (const maxMessageAgeMs of [0, -1, -Infinity]) {
      assert.equal(decide(exponentialRetry(5, { maxMessageAgeMs }), { ageMs: YEAR_MS }).next, "wait_in_consumer");
    }
    assert.equal(decide(policy, { ageMs: YEAR_MS }).next, "wait_in_consumer");
    assert.deepEqual(decide(exponentialRetry(5, { maxMessageAgeMs: YEAR_MS }), { ageMs: YEAR_MS }), {
      next: "give_up",
      because: "age",
    });
  });

  it("never comes from an age that is unknown or from the future", () => {
    const limited = exponentialRetry(5, { maxMessageAgeMs: 1 });
    for (const ageMs of [NaN, -1, -YEAR_MS]) assert.equal(decide(limited, { ageMs }).next, "wait_in_consumer");
  });

  it("is laid to the attempts when both are used up", () => {
    const limited = fixedRetry(2, { maxMessageAgeMs: 1 });
    assert.deepEqual(decide(limited, { attempt: 2, ageMs: 5 }), { next: "give_up", because: "attempts" });
  });

  it("comes before a delay that the handler asks for", () => {
    assert.equal(decide(policy, { attempt: 5, requestedDelayMs: 1_000 }).next, "give_up");
    const limited = exponentialRetry(5, { maxMessageAgeMs: 1 });
    assert.equal(decide(limited, { ageMs: 1, requestedDelayMs: 1_000 }).next, "give_up");
  });
});

describe("the wait of the policy", () => {
  const ladder = exponentialRetry(6, { initialDelayMs: 10_000, maxDelayMs: 60_000 });

  const rows: readonly (readonly [number, RetryDecision])[] = [
    [1, { next: "wait_in_consumer", delayMs: 10_000 }],
    [2, { next: "wait_in_consumer", delayMs: 20_000 }],
    [3, { next: "wait_on_rung", delayMs: 40_000 }],
    [4, { next: "wait_on_rung", delayMs: 60_000 }],
    [5, { next: "wait_on_rung", delayMs: 60_000 }],
    [6, { next: "give_up", because: "attempts" }],
  ];
  for (const [attempt, decision] of rows) {
    it(`after attempt ${attempt} is ${JSON.stringify(decision)}`, () => {
      assert.deepEqual(decide(ladder, { attempt }), decision);
    });
  }

  it("in the consumer varies by the jitter, both ways", () => {
    const drawn = (chance: number): RetryDecision =>
      decideRetry(ladderOf(ladder), { attempt: 1, ageMs: 0 }, () => chance);
    assert.deepEqual(drawn(0), { next: "wait_in_consumer", delayMs: 8_000 });
    assert.deepEqual(drawn(0.75), { next: "wait_in_consumer", delayMs: 11_000 });
  });

  it("on a rung never varies: a thousand draws name one rung [RET-06]", () => {
    const certain = ladderOf(exponentialRetry(3, { initialDelayMs: 40_000, jitterFactor: 1 }));
    for (let draw = 0; draw < 1_000; draw++) {
      const decision = decideRetry(certain, { attempt: 1, ageMs: 0 }, () => draw / 1_000);
      assert.deepEqual(decision, { next: "wait_on_rung", delayMs: 40_000 });
    }
  });

  it("is a millisecond at least when there is a wait at all, and stays zero when there is none", () => {
    const brief = ladderOf(fixedRetry(2, { delayMs: 1, jitterFactor: 1 }));
    assert.deepEqual(decideRetry(brief, { attempt: 1, ageMs: 0 }, () => 0), { next: "wait_in_consumer", delayMs: 1 });
    const none = ladderOf(fixedRetry(2, { delayMs: 0, jitterFactor: 1 }));
    assert.deepEqual(decideRetry(none, { attempt: 1, ageMs: 0 }, () => 0.9), { next: "wait_in_consumer", delayMs: 0 });
  });
});

describe("a wait that the handler asks for", () => {
  const ladder = exponentialRetry(6, { initialDelayMs: 10_000, maxDelayMs: 60_000 });

  const rows: readonly (readonly [string, number, readonly number[], RetryDecision])[] = [
    ["is waited in the consumer below the threshold", 29_999, [], { next: "wait_in_consumer", delayMs: 29_999 }],
    ["may be nothing", 0, [], { next: "wait_in_consumer", delayMs: 0 }],
    ["takes a rung of the policy", 40_000, [], { next: "wait_on_rung", delayMs: 40_000 }],
    ["takes a rung the consumer declares", 600_000, [600_000], { next: "wait_on_rung", delayMs: 600_000 }],
    [
      "takes the nearest rung that is not shorter when its own is not declared",
      45_000,
      [600_000],
      { next: "wait_on_rung", delayMs: 60_000, wantedRungMs: 45_000 },
    ],
    [
      "takes the longest rung when every one is shorter",
      3_600_000,
      [600_000],
      { next: "wait_on_rung", delayMs: 600_000, wantedRungMs: 3_600_000 },
    ],
  ];
  for (const [what, requestedDelayMs, rungsMs, decision] of rows) {
    it(what, () => assert.deepEqual(decide(ladder, { requestedDelayMs }, rungsMs), decision));
  }

  it("waits in the consumer when the queue has no rung at all", () => {
    assert.deepEqual(decide(exponentialRetry(5), { requestedDelayMs: 60_000 }), {
      next: "wait_in_consumer",
      delayMs: 60_000,
      wantedRungMs: 60_000,
    });
  });

  it("never uses the broker under a threshold of zero", () => {
    const policy = fixedRetry(3, { brokerWaitThresholdMs: 0 });
    assert.deepEqual(decide(policy, { requestedDelayMs: 3_600_000 }, [3_600_000]), {
      next: "wait_in_consumer",
      delayMs: 3_600_000,
    });
  });

  it("gets no jitter", () => {
    const jittery = ladderOf(fixedRetry(3, { jitterFactor: 1 }));
    const decision = decideRetry(jittery, { attempt: 1, ageMs: 0, requestedDelayMs: 5_000 }, () => 0);
    assert.deepEqual(decision, { next: "wait_in_consumer", delayMs: 5_000 });
  });
});

describe("the rungs of a ladder", () => {
  it("are distinct: equal waits need one [RET-12]", () => {
    assert.deepEqual(ladderOf(fixedRetry(4, { delayMs: 40_000 })).rungsMs, [40_000]);
    assert.deepEqual(ladderOf(fixedRetry(4, { delayMs: 40_000 }), [40_000, 40_000]).rungsMs, [40_000]);
  });

  it("are the policy's and the consumer's, shortest first", () => {
    const policy = exponentialRetry(6, { initialDelayMs: 10_000, maxDelayMs: 60_000 });
    assert.deepEqual(ladderOf(policy, [600_000, 45_000]).rungsMs, [40_000, 45_000, 60_000, 600_000]);
  });

  it("are found where short waits grow so slowly that two are alike", () => {
    const policy = exponentialRetry(30, { initialDelayMs: 1, multiplier: 1.5, maxDelayMs: 60_000 });
    const capped = exponentialRetry(30, {
      initialDelayMs: 1,
      multiplier: 1.5,
      maxDelayMs: 60_000,
      brokerWaitThresholdMs: 60_000,
    });
    assert.throws(() => ladderOf(policy), RangeError);
    assert.deepEqual(ladderOf(capped).rungsMs, [60_000]);
  });

  it("are found at once however many attempts there are", () => {
    assert.deepEqual(ladderOf(fixedRetry(Number.MAX_SAFE_INTEGER, { delayMs: 30_000 })).rungsMs, [30_000]);
    assert.deepEqual(ladderOf(exponentialRetry(Number.MAX_SAFE_INTEGER)).rungsMs, [
      32_000,
      64_000,
      128_000,
      256_000,
      300_000,
    ]);
  });

  it("cannot be changed afterwards", () => {
    const ladder = ladderOf(fixedRetry(2, { delayMs: 30_000 }));
    assert.equal(Object.isFrozen(ladder) && Object.isFrozen(ladder.rungsMs), true);
  });

  it("are whole seconds: a policy that needs another is refused, 1.2 s and 1.4 s among them [RET-12]", () => {
    const policy = exponentialRetry(3, { initialDelayMs: 1_200, multiplier: 1.4 / 1.2, brokerWaitThresholdMs: 1_000 });
    assert.throws(() => ladderOf(policy), {
      name: "RangeError",
      message: "Cannot use the retry policy: a wait held by the broker must be whole seconds, found 1200 ms",
    });
  });

  it("are whole seconds: half a second on the broker is refused, in the consumer it is not [RET-13]", () => {
    assert.throws(() => ladderOf(fixedRetry(2, { delayMs: 500, brokerWaitThresholdMs: 500 })), RangeError);
    assert.deepEqual(ladderOf(fixedRetry(2, { delayMs: 500 })).rungsMs, []);
  });

  it("are whole seconds: a growth of 1.5 past the threshold is refused", () => {
    assert.throws(() => ladderOf(exponentialRetry(3, { initialDelayMs: 45_000, multiplier: 1.5 })), {
      name: "RangeError",
      message: "Cannot use the retry policy: a wait held by the broker must be whole seconds, found 67500 ms",
    });
  });

  it("that a consumer asks for are whole seconds as well", () => {
    for (const rungMs of [500, 1_500, 0, -1_000, NaN, 1.5]) {
      assert.throws(
        () => ladderOf(noRetry(), [rungMs]),
        (error: unknown) => error instanceof RangeError && error.message.includes("'rungsMs'"),
      );
    }
  });

  it("are no longer than a queue can hold a message", () => {
    assert.deepEqual(ladderOf(noRetry(), [4_294_967_000]).rungsMs, [4_294_967_000]);
    assert.throws(() => ladderOf(noRetry(), [4_294_968_000]), {
      name: "RangeError",
      message: "Cannot use option 'rungsMs': a queue can hold a message for at most 4294967295 ms, found 4294968000 ms",
    });
  });
});

describe("a policy made by hand", () => {
  it("is refused when a number is missing or is none: it would try a message for ever", () => {
    const whole = exponentialRetry(3);
    for (const name of Object.keys(whole)) {
      for (const wrong of [NaN, undefined]) {
        // As a program without types would hand it over.
        const policy = { ...whole, [name]: wrong } as RetryPolicy;
        assert.throws(() => ladderOf(policy), new RegExp(`^RangeError: .*'retry\\.${name}'`), name);
      }
    }
  });
});
