import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { aggregateHealth, type HealthCheck, type HealthReport, worst } from "../../../src/health/report.ts";

const CHECKED = "2026-01-01T00:00:00.000Z";
const UP: HealthReport = { status: "up", checked: CHECKED, parts: { roundTripMillis: 3 } };
const BLOCKED: HealthReport = { status: "up", detail: "publishing is paused", checked: CHECKED };

/** A check that never answers. */
function hanging(): Promise<HealthReport> {
  return new Promise(() => {});
}

describe("the health of several things", () => {
  it("is the worst of them", () => {
    assert.deepEqual(
      [worst([]), worst(["up"]), worst(["up", "degraded"]), worst(["down", "degraded", "up"])],
      ["up", "up", "degraded", "down"],
    );
  });

  it("has the report of each under its name, details and all", async () => {
    const clock = virtualClock(CHECKED);
    const degraded: HealthReport = { status: "degraded", detail: "one of two", checked: CHECKED };
    const report = await aggregateHealth({ broker: () => UP, disk: () => Promise.resolve(degraded) }, { clock });
    assert.deepEqual(report, { status: "degraded", checked: CHECKED, parts: { broker: UP, disk: degraded } });
  });

  it("is measured by the system's clock unless it is given one", async () => {
    const before = Date.now();
    const { status, checked } = await aggregateHealth({ broker: () => UP });
    assert.equal(status, "up");
    assert.ok(Date.parse(checked) >= before && Date.parse(checked) <= Date.now());
    await assert.rejects(aggregateHealth({}, { timeoutMs: NaN }), RangeError);
  });

  it("names a check that hangs, and keeps the details of the others [HLT-06]", async () => {
    const clock = virtualClock(CHECKED);
    const asked = aggregateHealth({ broker: () => BLOCKED, store: hanging, queue: () => UP }, { clock });
    await clock.advance(4_999);
    let isThere = false;
    void asked.then(() => isThere = true);
    await clock.advance(0);
    assert.equal(isThere, false);
    await clock.advance(1);
    assert.deepEqual(await asked, {
      status: "down",
      checked: CHECKED,
      parts: {
        broker: BLOCKED,
        store: { status: "down", detail: "no answer within 5s", checked: CHECKED },
        queue: UP,
      },
    });
  });

  it("is down with the name of the error, not its words, for a check that throws or rejects", async () => {
    const clock = virtualClock(CHECKED);
    const fails: readonly HealthCheck[] = [
      () => {
        throw new RangeError("password=s3cret");
      },
      () => Promise.reject(new RangeError("password=s3cret")),
    ];
    for (const store of fails) {
      const report = await aggregateHealth({ store, broker: () => UP }, { clock });
      const down = { status: "down", detail: "the check failed with RangeError", checked: CHECKED };
      assert.deepEqual(report.parts, { store: down, broker: UP });
    }
  });

  it("asks all of them at once, and tells those still asked when time is up", async () => {
    const clock = virtualClock(CHECKED);
    const signals: AbortSignal[] = [];
    const ask: HealthCheck = (signal) => {
      signals.push(signal);
      return hanging();
    };
    const asked = aggregateHealth({ a: ask, b: ask }, { clock, timeoutMs: 2_000 });
    assert.equal(signals.length, 2);
    await clock.advance(2_000);
    assert.equal((await asked).status, "down");
    assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true]);
  });

  it("rejects with the signal's reason when it aborts, before or meanwhile", async () => {
    const clock = virtualClock(CHECKED);
    const reason = new Error("no longer wanted");
    await assert.rejects(aggregateHealth({ a: () => UP }, { clock, signal: AbortSignal.abort(reason) }), reason);
    const leaving = new AbortController();
    const asked = aggregateHealth({ a: hanging }, { clock, signal: leaving.signal });
    leaving.abort(reason);
    await assert.rejects(asked, reason);
  });
});
