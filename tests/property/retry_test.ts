/** What holds for every retry policy: schedules, jitter, rungs and their names (contract core 4). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { rungName } from "../../src/naming/queue_names.ts";
import { decideRetry, type Ladder, ladderOf } from "../../src/retry/ladder.ts";
import { exponentialRetry, fixedRetry, type RetryPolicy, retrySchedule } from "../../src/retry/policy.ts";

const delayMs = fc.oneof(fc.constantFrom(0, 1, 999, 1_000, 29_999, 30_000, 60_000), fc.nat(7_200_000));
const jitterFactor = fc.oneof(fc.constantFrom(0, 0.2, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const thresholdMs = fc.oneof(fc.constantFrom(0, 30_000), fc.nat(120_000));

const exponential = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 40 }),
  initialDelayMs: delayMs,
  multiplier: fc.oneof(fc.constantFrom(1, 1.1, 1.5, 2, 3), fc.double({ min: 1, max: 10, noNaN: true })),
  maxDelayMs: fc.oneof(fc.constant(0), delayMs),
  jitterFactor,
  brokerWaitThresholdMs: thresholdMs,
}).map(({ maxAttempts, ...options }) => exponentialRetry(maxAttempts, options));

const fixed = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 40 }),
  delayMs,
  jitterFactor,
  brokerWaitThresholdMs: thresholdMs,
}).map(({ maxAttempts, ...options }) => fixedRetry(maxAttempts, options));

const policy: fc.Arbitrary<RetryPolicy> = fc.oneof(exponential, fixed);

/** Policies whose waits on the broker, if any, are whole seconds. */
const wholeSeconds = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 12 }),
  initialDelayMs: fc.nat(600).map((seconds) => seconds * 1_000),
  multiplier: fc.integer({ min: 1, max: 3 }),
  maxDelayMs: fc.nat(7_200).map((seconds) => seconds * 1_000),
  jitterFactor,
  brokerWaitThresholdMs: thresholdMs,
}).map(({ maxAttempts, ...options }) => exponentialRetry(maxAttempts, options));

/** The ladder, or undefined for a policy that is refused. */
function ladderIfAny(from: RetryPolicy): Ladder | undefined {
  try {
    return ladderOf(from);
  } catch (error) {
    assert.ok(error instanceof RangeError);
    return undefined;
  }
}

function isHeldByBroker(from: RetryPolicy, waitMs: number): boolean {
  return from.brokerWaitThresholdMs > 0 && waitMs > 0 && waitMs >= from.brokerWaitThresholdMs;
}

describe("every schedule", () => {
  it("is min(initial * multiplier^i, max), each entry cut to whole milliseconds", () => {
    fc.assert(fc.property(policy, (one) => {
      const schedule = retrySchedule(one);
      assert.equal(schedule.length, one.maxAttempts - 1);
      for (const [index, waitMs] of schedule.entries()) {
        const grown = one.initialDelayMs * one.multiplier ** index;
        const capped = one.maxDelayMs === 0 ? grown : Math.min(grown, one.maxDelayMs);
        assert.equal(waitMs, Math.min(Math.trunc(capped), Number.MAX_SAFE_INTEGER));
      }
    }));
  });

  it("never shrinks and never passes its ceiling", () => {
    fc.assert(fc.property(policy, (one) => {
      let last = 0;
      for (const waitMs of retrySchedule(one)) {
        assert.ok(Number.isSafeInteger(waitMs) && waitMs >= last);
        if (one.maxDelayMs > 0) assert.ok(waitMs <= one.maxDelayMs);
        last = waitMs;
      }
    }));
  });
});

describe("every ladder", () => {
  it("has exactly the waits that the broker holds, once each, shortest first", () => {
    fc.assert(
      fc.property(policy, (one) => {
        const held = [...new Set(retrySchedule(one).filter((waitMs) => isHeldByBroker(one, waitMs)))];
        const ladder = ladderIfAny(one);
        if (ladder !== undefined) assert.deepEqual(ladder.rungsMs, held);
        else assert.ok(held.some((waitMs) => waitMs % 1_000 !== 0 || waitMs > 4_294_967_295));
      }),
      { numRuns: 500 },
    );
  });

  it("of whole seconds is never refused", () => {
    fc.assert(fc.property(wholeSeconds, (one) => {
      const longest = Math.max(0, ...retrySchedule(one));
      fc.pre(longest <= 4_294_967_295);
      assert.notEqual(ladderIfAny(one), undefined);
    }));
  });

  it("declares every rung that a failure can choose, and the choice never varies [RET-06]", () => {
    fc.assert(fc.property(wholeSeconds, fc.array(chance, { minLength: 2, maxLength: 5 }), (one, draws) => {
      const ladder = ladderIfAny(one);
      if (ladder === undefined) return;
      for (const [index, waitMs] of retrySchedule(one).entries()) {
        if (!isHeldByBroker(one, waitMs)) continue;
        for (const drawn of draws) {
          const decision = decideRetry(ladder, { attempt: index + 1, ageMs: 0 }, () => drawn);
          assert.deepEqual(decision, { next: "wait_on_rung", delayMs: waitMs });
          assert.ok(ladder.rungsMs.includes(waitMs));
        }
      }
    }));
  });
});

describe("every wait in the consumer", () => {
  it("lies within the jitter around the policy's, and is a millisecond at least when there is one", () => {
    fc.assert(fc.property(policy, chance, (one, drawn) => {
      const ladder = ladderIfAny(one);
      if (ladder === undefined) return;
      for (const [index, waitMs] of retrySchedule(one).entries()) {
        if (isHeldByBroker(one, waitMs)) continue;
        const decision = decideRetry(ladder, { attempt: index + 1, ageMs: 0 }, () => drawn);
        assert.ok(decision.next === "wait_in_consumer");
        if (waitMs === 0) assert.equal(decision.delayMs, 0);
        else {
          const slack = waitMs * 1e-9;
          assert.ok(decision.delayMs >= Math.max(1, waitMs * (1 - one.jitterFactor) - slack));
          assert.ok(decision.delayMs <= Math.max(1, waitMs * (1 + one.jitterFactor) + slack));
        }
      }
    }));
  });
});

describe("every failure", () => {
  const failure = fc.record({
    attempt: fc.integer({ min: 1, max: 60 }),
    ageMs: fc.oneof(fc.nat(600_000), fc.constant(NaN)),
    requestedDelayMs: fc.option(delayMs, { nil: undefined }),
  });

  it("is given up for its attempts or for its age, and for nothing else", () => {
    fc.assert(fc.property(wholeSeconds, fc.integer({ min: -5, max: 300_000 }), failure, (one, limit, failed) => {
      fc.pre(retrySchedule(one).every((waitMs) => waitMs <= 4_294_967_295));
      const limited = { ...one, maxMessageAgeMs: Math.max(limit, 0) };
      const decision = decideRetry(ladderOf(limited), failed, () => 0.5);
      const usedUp = failed.attempt >= one.maxAttempts;
      const tooOld = limit > 0 && failed.ageMs >= limit;
      assert.equal(decision.next === "give_up", usedUp || tooOld);
      if (decision.next === "give_up") assert.equal(decision.because, usedUp ? "attempts" : "age");
    }));
  });

  it("waits on a declared rung or in the consumer, for as long as was asked where that can be", () => {
    const rungsMs = fc.array(fc.integer({ min: 1, max: 7_200 }).map((seconds) => seconds * 1_000), { maxLength: 4 });
    fc.assert(fc.property(thresholdMs, rungsMs, delayMs, (brokerWaitThresholdMs, extra, requestedDelayMs) => {
      const ladder = ladderOf(fixedRetry(3, { delayMs: 0, brokerWaitThresholdMs }), extra);
      const decision = decideRetry(ladder, { attempt: 1, ageMs: 0, requestedDelayMs }, () => 0.9);
      assert.ok(decision.next !== "give_up");
      if (decision.next === "wait_in_consumer") assert.equal(decision.delayMs, requestedDelayMs);
      else {
        assert.ok(ladder.rungsMs.includes(decision.delayMs));
        const notShorter = ladder.rungsMs.filter((rungMs) => rungMs >= requestedDelayMs);
        assert.equal(decision.delayMs, Math.min(...notShorter, Math.max(...ladder.rungsMs)));
      }
      const isExact = decision.delayMs === requestedDelayMs;
      const isHeld = brokerWaitThresholdMs > 0 && requestedDelayMs > 0 && requestedDelayMs >= brokerWaitThresholdMs;
      assert.equal(decision.next === "wait_on_rung", isHeld && ladder.rungsMs.length > 0);
      assert.equal(
        decision.wantedRungMs === undefined,
        !isHeld || (isExact && ladder.rungsMs.includes(requestedDelayMs)),
      );
    }));
  });
});

describe("every name of a rung", () => {
  const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  const waitMs = fc.oneof(
    fc.integer({ min: 1, max: 10_000_000 }),
    fc.integer({ min: 1, max: 100_000 }).map((seconds) => seconds * 1_000),
    fc.integer({ min: 1, max: 2_000 }).map((minutes) => minutes * 60_000),
    fc.integer({ min: 1, max: 100 }).map((hours) => hours * 3_600_000),
  );

  it("says the wait in the largest unit that divides it", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z.-]{1,30}$/), waitMs, (queue, ms) => {
        const [, amount = "", unit = ""] =
          /^\.retry\.([1-9]\d*)(ms|s|m|h)$/.exec(rungName(queue, ms).slice(queue.length)) ?? [];
        const size = UNITS[unit] ?? NaN;
        assert.equal(Number(amount) * size, ms);
        for (const larger of Object.values(UNITS).filter((one) => one > size)) assert.notEqual(ms % larger, 0);
      }),
      { numRuns: 500 },
    );
  });

  it("is another one for another wait", () => {
    fc.assert(fc.property(waitMs, waitMs, (one, other) => {
      assert.equal(rungName("q", one) === rungName("q", other), one === other);
    }));
  });
});
