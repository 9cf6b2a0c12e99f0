/** What becomes of a delivery: contract core 3.3 to 3.6, 4.2, 4.4 and 4.7. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, park, reject, retry } from "../../../src/consume/ack.ts";
import { decideSettlement, type Handled, type Settlement } from "../../../src/consume/settlement.ts";
import { DecodeError, FatalError, RetryableError } from "../../../src/errors.ts";
import { type Ladder, ladderOf } from "../../../src/retry/ladder.ts";
import { exponentialRetry, fixedRetry, noRetry } from "../../../src/retry/policy.ts";

const RUNGS = ladderOf(exponentialRetry(4, { initialDelayMs: 20_000, maxDelayMs: 300_000 }));

interface Case {
  readonly attempt?: number;
  readonly ageMs?: number;
  readonly ladder?: Ladder;
  readonly isFromStream?: boolean;
}

function decide(
  handled: Handled,
  { attempt = 1, ageMs = 0, isFromStream = false, ladder = RUNGS }: Case = {},
): Settlement {
  return decideSettlement(handled, { attempt, ageMs, isFromStream }, { ladder, random: () => 0.5 });
}

function returned(value: unknown, some?: Case): Settlement {
  return decide({ status: "returned", value }, some);
}

function threw(error: unknown, some?: Case): Settlement {
  return decide({ status: "threw", error, by: "handler" }, some);
}

function aside(target: "dlq" | "parked", outcome: string, reason: string): object {
  return { next: "set_aside", target, outcome, reason };
}

describe("a delivery whose handler", () => {
  it("returned nothing or accept() is acknowledged", () => {
    for (const value of [undefined, accept()]) {
      assert.deepEqual(returned(value), { next: "acknowledge", outcome: "acked" });
    }
  });

  it("threw or asked for another try waits as its policy says: in the consumer below the threshold, on a rung above", () => {
    const error = new Error("The gateway did not answer");
    const reason = "Error: The gateway did not answer";
    for (const handled of [threw(error), returned(retry(error))]) {
      assert.deepEqual(handled, { next: "wait_in_consumer", outcome: "retried", delayMs: 20_000, reason });
    }
    for (const handled of [threw(error, { attempt: 2 }), returned(retry(error), { attempt: 2 })]) {
      assert.deepEqual(handled, { next: "wait_on_rung", outcome: "retried", delayMs: 40_000, reason });
    }
  });

  it("failed for the last time is dead-lettered, whatever it asked for, with the count and the cause", () => {
    const timeout = Object.assign(new Error("payment gateway did not answer"), { name: "TimeoutError" });
    const expected = aside(
      "dlq",
      "dead_lettered",
      "exhausted 4 attempts: TimeoutError: payment gateway did not answer",
    );
    assert.deepEqual(threw(timeout, { attempt: 4 }), expected);
    assert.deepEqual(returned(retry(timeout, { delayMs: 1 }), { attempt: 4 }), expected);
    assert.deepEqual(threw(timeout, { attempt: 5 }), {
      ...expected,
      reason: (expected as { reason: string }).reason.replace("4", "5"),
    });
  });

  it("failed without a policy is dead-lettered after one attempt", () => {
    assert.deepEqual(
      threw(new TypeError("x is not a function"), { ladder: ladderOf(noRetry()) }),
      aside("dlq", "dead_lettered", "exhausted 1 attempt: TypeError: x is not a function"),
    );
  });

  it("failed at the age limit is dead-lettered, a millisecond younger it is tried again", () => {
    const ladder = ladderOf(exponentialRetry(5, { maxMessageAgeMs: 120_000 }));
    assert.deepEqual(
      threw(new Error("no"), { ladder, ageMs: 120_000 }),
      aside("dlq", "dead_lettered", "exceeded the maximum message age of 120000 ms: Error: no"),
    );
    assert.equal(threw(new Error("no"), { ladder, ageMs: 119_999 }).outcome, "retried");
  });

  it("rejected the message is dead-lettered at once as rejected", () => {
    assert.deepEqual(
      returned(reject("nothing to charge")),
      aside("dlq", "rejected", "the handler rejected it: nothing to charge"),
    );
    assert.deepEqual(returned(reject()), aside("dlq", "rejected", "the handler rejected it: no reason given"));
  });

  it("parked the message has it parked at once", () => {
    assert.deepEqual(
      returned(park("unknown account")),
      aside("parked", "parked", "the handler parked it: unknown account"),
    );
    assert.deepEqual(returned(park()), aside("parked", "parked", "the handler parked it: no reason given"));
  });

  it("threw a fatal error has it rejected; asked for another try of a fatal error, dead-lettered", () => {
    const reason = "the handler reported an unprocessable message: FatalError: no such product";
    const fatal = new FatalError("no such product");
    assert.deepEqual(threw(fatal), aside("dlq", "rejected", reason));
    assert.deepEqual(returned(retry(fatal)), aside("dlq", "dead_lettered", reason));
  });

  it("wrapped a fatal error in others is stopped all the same", () => {
    const wrapped = new Error("outer", { cause: new Error("inner", { cause: new FatalError("no such product") }) });
    const reason = "the handler reported an unprocessable message: Error: outer";
    assert.deepEqual(threw(wrapped), aside("dlq", "rejected", reason));
    assert.deepEqual(returned(retry(wrapped)), aside("dlq", "dead_lettered", reason));
  });

  it("returned anything else is dead-lettered, and the reason names what it was", () => {
    for (
      const [value, name] of [
        [null, "null"],
        [true, "boolean"],
        [0, "number"],
        ["accept", "string"],
        [[], "an array"],
        [
          { kind: "ack" },
          "object",
        ],
        [() => accept(), "function"],
        [1n, "bigint"],
        [Symbol("accept"), "symbol"],
      ]
    ) {
      assert.deepEqual(
        returned(value),
        aside("dlq", "dead_lettered", `the handler returned no acknowledgement: ${String(name)}`),
      );
    }
  });
});

describe("a delivery whose interceptor", () => {
  it("threw is tried again like one whose handler threw", () => {
    const handled = decide({ status: "threw", error: new Error("no tenant"), by: "interceptor" });
    assert.deepEqual(handled, {
      next: "wait_in_consumer",
      outcome: "retried",
      delayMs: 20_000,
      reason: "Error: no tenant",
    });
  });

  it("threw a fatal error is rejected in the words the libraries share", () => {
    const handled = decide({ status: "threw", error: new FatalError("no tenant"), by: "interceptor" });
    assert.deepEqual(handled, aside("dlq", "rejected", "an interceptor refused it: FatalError: no tenant"));
  });
});

describe("a delivery whose body", () => {
  it("cannot be decoded is parked whatever attempts are left", () => {
    const error = new SyntaxError("Unexpected token");
    for (const attempt of [1, 4, 9]) {
      assert.deepEqual(
        decide({ status: "undecodable", error }, { attempt }),
        aside("parked", "parked", "could not be decoded: SyntaxError: Unexpected token"),
      );
    }
  });

  it("cannot be decoded just now is tried again, and given up in the end", () => {
    const away: Handled = { status: "threw", error: new RetryableError("The store is away"), by: "codec" };
    assert.equal(decide(away).outcome, "retried");
    assert.deepEqual(
      decide(away, { attempt: 4 }),
      aside("dlq", "dead_lettered", "exhausted 4 attempts: RetryableError: The store is away"),
    );
  });

  it("is undecodable and fatal in one is parked, not rejected", () => {
    const error = new DecodeError("Bad frame", { cause: new FatalError("never") });
    assert.equal(decide({ status: "undecodable", error }).outcome, "parked");
  });
});

describe("a wait the handler asked for", () => {
  const ladder = ladderOf(fixedRetry(5, { delayMs: 40_000 }), [120_000]);
  const reason = "busy";
  const waits = (delayMs: number, of: Ladder = ladder): Settlement =>
    returned(retry("busy", { delayMs }), { ladder: of });

  it("below the threshold is taken in the consumer without jitter", () => {
    const jittery = ladderOf(exponentialRetry(5, { jitterFactor: 1 }));
    const handled = decideSettlement(
      { status: "returned", value: retry("busy", { delayMs: 7_000 }) },
      { attempt: 1, ageMs: 0, isFromStream: false },
      { ladder: jittery, random: () => 0.99 },
    );
    assert.deepEqual(handled, { next: "wait_in_consumer", outcome: "retried", delayMs: 7_000, reason });
    assert.deepEqual(waits(0), { next: "wait_in_consumer", outcome: "retried", delayMs: 0, reason });
  });

  it("takes the policy's rung or one the consumer declared when it is exactly as long", () => {
    for (const delayMs of [40_000, 120_000]) {
      assert.deepEqual(waits(delayMs), { next: "wait_on_rung", outcome: "retried", delayMs, reason });
    }
  });

  it("takes the nearest rung that is not shorter when none is exact, else the longest", () => {
    const on = (delayMs: number, wantedRungMs: number): object => ({
      next: "wait_on_rung",
      outcome: "retried",
      delayMs,
      wantedRungMs,
      reason,
    });
    assert.deepEqual(waits(30_000), on(40_000, 30_000));
    assert.deepEqual(waits(60_000), on(120_000, 60_000));
    assert.deepEqual(waits(3_600_000), on(120_000, 3_600_000));
  });

  it("is taken in the consumer when there is no rung at all, or the broker is never to wait", () => {
    assert.deepEqual(waits(60_000, ladderOf(fixedRetry(5))), {
      next: "wait_in_consumer",
      outcome: "retried",
      delayMs: 60_000,
      wantedRungMs: 60_000,
      reason,
    });
    assert.deepEqual(waits(60_000, ladderOf(fixedRetry(5, { brokerWaitThresholdMs: 0 }), [60_000])), {
      next: "wait_in_consumer",
      outcome: "retried",
      delayMs: 60_000,
      reason,
    });
  });
});

describe("an error that breaks when it is looked at", () => {
  const thrower = (): never => {
    throw new Error("not for you");
  };
  const gone = Proxy.revocable(new Error("gone"), {});
  gone.revoke();
  const nasty: readonly unknown[] = [
    Object.defineProperty(new Error("hidden"), "message", { get: thrower }),
    Object.defineProperty(new Error("hidden"), "name", { get: thrower }),
    Object.defineProperty(new Error("hidden"), "cause", { get: thrower }),
    gone.proxy,
  ];

  it("is tried again like another, and given up without words", () => {
    for (const error of nasty) {
      for (const handled of [threw(error), returned(retry(error))]) assert.equal(handled.outcome, "retried");
      for (const handled of [threw(error, { attempt: 4 }), returned(retry(error), { attempt: 4 })]) {
        assert.equal(handled.next, "set_aside");
        assert.match((handled as { readonly reason: string }).reason, /^exhausted 4 attempts: /);
      }
    }
  });

  it("parks the body it was thrown over", () => {
    for (const error of nasty) assert.equal(decide({ status: "undecodable", error }).outcome, "parked");
  });

  it("is no worse as a result", () => {
    assert.equal(returned(gone.proxy).outcome, "retried");
  });
});

describe("an error that is no error", () => {
  it("is put in words as far as it has any", () => {
    const toString = (): never => {
      throw new Error("no words");
    };
    const reasons: readonly (readonly [unknown, string])[] = [
      ["plain text", "plain text"],
      [404, "404"],
      [undefined, "undefined"],
      [null, "null"],
      [{ toString }, "object"],
      [Object.create(null), "object"],
      [Symbol("busy"), "Symbol(busy)"],
    ];
    for (const [error, words] of reasons) {
      assert.deepEqual(threw(error, { attempt: 4 }), aside("dlq", "dead_lettered", `exhausted 4 attempts: ${words}`));
    }
  });
});

describe("an entry of a stream", () => {
  const entry = (handled: Handled): Settlement => decide(handled, { isFromStream: true });

  it("is not tried again, whatever the policy has left and whoever asks: a copy goes to the dead letters [STR-03]", () => {
    const expected = aside(
      "dlq",
      "dead_lettered",
      "a stream's entry is not tried again: Error: The gateway did not answer",
    );
    const error = new Error("The gateway did not answer");
    const asked: readonly Handled[] = [
      { status: "threw", error, by: "handler" },
      { status: "threw", error, by: "interceptor" },
      { status: "threw", error, by: "codec" },
      { status: "returned", value: retry(error) },
      { status: "returned", value: retry(error, { delayMs: 40_000 }) },
    ];
    for (const handled of asked) assert.deepEqual(entry(handled), expected);
    assert.deepEqual(decide({ status: "threw", error, by: "handler" }, { isFromStream: true, attempt: 9 }), expected);
  });

  it("that somebody else has claimed is not put back either: that would append it [IDM-23]", () => {
    assert.deepEqual(
      entry({ status: "in_progress", delayMs: 1_000 }),
      aside("dlq", "dead_lettered", "a stream's entry is not put back: somebody else has claimed it"),
    );
  });

  it("is decided about like any other message otherwise [STR-11]", () => {
    const others: readonly Handled[] = [
      { status: "duplicate" },
      { status: "returned", value: undefined },
      { status: "returned", value: reject("no") },
      { status: "returned", value: park("no") },
      { status: "returned", value: false },
      { status: "returned", value: retry(new FatalError("no")) },
      { status: "threw", error: new FatalError("no"), by: "handler" },
      { status: "undecodable", error: new DecodeError("no") },
    ];
    for (const handled of others) assert.deepEqual(entry(handled), decide(handled));
  });
});
