/** What an answer of the broker means for a row. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type FateFacts,
  fateOf,
  fateOfUnreadable,
  givenBack,
  mustGoAlone,
  retryDelayAfter,
} from "../../../../src/patterns/outbox/fate.ts";
import type { OnBehalfAnswer } from "../../../../src/publish/on_behalf.ts";

const FACTS: FateFacts = { pollIntervalMs: 1_000, tookMs: 10_000, isLinked: true };

describe("the fate of a row", () => {
  it("is published when a queue has it, and only then", () => {
    assert.deepEqual(fateOf({ attempts: 3 }, { status: "routed" }, FACTS), { is: "published" });
  });

  for (const because of ["unroutable", "nacked", "refused"] as const) {
    it(`is a spent attempt when the broker says ${because}`, () => {
      const answer: OnBehalfAnswer = { status: "not_routed", because, reason: "the broker's words" };
      assert.deepEqual(fateOf({ attempts: 3 }, answer, FACTS), {
        is: "failed",
        reason: `${because}: the broker's words`,
        attempts: 4,
        retryDelayMs: 8_000,
      });
    });
  }

  it("is to go back at once when nothing was written, or when the link is gone [OB-21]", () => {
    const back = { is: "given_back", reason: "why", delayMs: 0 };
    assert.deepEqual(fateOf({ attempts: 9 }, { status: "paused", reason: "why" }, FACTS), back);
    const unlinked = { ...FACTS, isLinked: false };
    assert.deepEqual(fateOf({ attempts: 9 }, { status: "unknown", reason: "why" }, unlinked), back);
  });

  it("is to rest for as long as an answer was waited for, in whole seconds, when the broker is there and gives none", () => {
    for (const [tookMs, delayMs] of [[10_000, 10_000], [9_001, 10_000], [1, 1_000], [0, 0]] as const) {
      const fate = fateOf({ attempts: 9 }, { status: "unknown", reason: "why" }, { ...FACTS, tookMs });
      assert.deepEqual(fate, { is: "given_back", reason: "why", delayMs });
    }
  });

  it("is to be retired when it cannot be made a message", () => {
    assert.deepEqual(fateOfUnreadable(new Error("no JSON"), 10), {
      is: "failed",
      reason: "unreadable: no JSON",
      attempts: 10,
      retryDelayMs: 0,
    });
  });

  it("says why a row went back", () => {
    assert.deepEqual(givenBack("closing"), { is: "given_back", reason: "closing", delayMs: 0 });
  });
});

describe("the wait for the next attempt", () => {
  it("begins with the poll interval and doubles, up to five minutes: ten attempts take eight and a half", () => {
    const waits = Array.from({ length: 11 }, (_, index) => retryDelayAfter(index + 1, 1_000));
    assert.deepEqual(waits.slice(0, 9), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000]);
    assert.deepEqual(waits.slice(9), [300_000, 300_000]);
    assert.equal(retryDelayAfter(1, 3_600_000), 300_000);
    assert.equal(retryDelayAfter(2_000, 1), 300_000);
  });
});

describe("an answer that names no message", () => {
  it("is told from every other", () => {
    const answers: readonly OnBehalfAnswer[] = [
      { status: "routed" },
      { status: "not_routed", because: "refused", reason: "404" },
      { status: "paused", reason: "" },
      { status: "unknown", reason: "lost" },
    ];
    assert.deepEqual(answers.filter(mustGoAlone), []);
    assert.equal(mustGoAlone({ status: "unknown", reason: "404", oneRefused: true }), true);
  });
});
