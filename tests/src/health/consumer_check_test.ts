import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ConsumerState } from "../../../src/consume/consumer.ts";
import { reportConsumers } from "../../../src/health/consumer_check.ts";

const CHECKED = "2026-01-01T00:00:00.000Z";

function consumer(queue: string, state: Partial<ConsumerState> = {}): ConsumerState {
  return { queue, live: true, paused: false, inFlight: 0, waiting: 0, held: 0, ...state };
}

describe("the health of consumers", () => {
  it("is up without any", () => {
    assert.deepEqual(reportConsumers([], CHECKED), { status: "up", checked: CHECKED, parts: {} });
  });

  it("adds up what the consumers of each queue are doing", () => {
    const states = [
      consumer("a", { inFlight: 2, held: 3 }),
      consumer("b", { paused: true }),
      consumer("a", { inFlight: 1, waiting: 4 }),
    ];
    assert.deepEqual(reportConsumers(states, CHECKED), {
      status: "up",
      checked: CHECKED,
      parts: {
        a: {
          status: "up",
          checked: CHECKED,
          parts: { consumers: 2, live: 2, paused: 0, inFlight: 3, waiting: 4, held: 3 },
        },
        b: {
          status: "up",
          checked: CHECKED,
          parts: { consumers: 1, live: 1, paused: 1, inFlight: 0, waiting: 0, held: 0 },
        },
      },
    });
  });

  it("is degraded by one that is not subscribed, by the name of its queue", () => {
    const report = reportConsumers([consumer("a"), consumer("a", { live: false }), consumer("b")], CHECKED);
    assert.deepEqual([report.status, report.detail], ["degraded", "not consuming: a"]);
    const part = report.parts?.["a"];
    assert.ok(typeof part === "object" && part !== null);
    assert.deepEqual([part.status, part.detail], ["degraded", "1 of 2 consumers are not subscribed"]);
  });

  it("loses no queue over its name", () => {
    for (const queue of ["__proto__", "toString", "consumers"]) {
      const report = reportConsumers([consumer(queue, { live: false })], CHECKED);
      assert.deepEqual([report.status, report.detail], ["degraded", `not consuming: ${queue}`], queue);
      assert.deepEqual(Object.keys(report.parts ?? {}), [queue]);
    }
  });
});
