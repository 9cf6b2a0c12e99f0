/** The budget of a drain: contract core 3.8. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { type DrainOptions, type DrainReport, withBudget } from "../../../src/consume/drain.ts";
import { whenAborted } from "../../../src/internal/abort.ts";

const DRAINED: DrainReport = { drained: true, stranded: 0 };
const STRANDED: DrainReport = { drained: false, stranded: 1 };

/** A drain of a handler that never ends. */
async function stuck(budget: AbortSignal): Promise<DrainReport> {
  await whenAborted(budget);
  return STRANDED;
}

describe("a drain", () => {
  const clock = virtualClock();
  const start = (options: DrainOptions, drain: (budget: AbortSignal) => Promise<DrainReport>): Promise<DrainReport> =>
    withBudget(options, { clock, budgetMs: 500 }, drain);

  it("that is done in time says so, and leaves no timer behind", async () => {
    assert.deepEqual(await start({}, () => Promise.resolve(DRAINED)), DRAINED);
  });

  it("whose own time runs out is told, and reports; whose caller aborts rejects with the caller's reason [CON-23]", async () => {
    const timedOut = start({}, stuck);
    await clock.advance(500);
    assert.deepEqual(await timedOut, STRANDED);

    const caller = new AbortController();
    const aborted = start({ signal: caller.signal }, stuck);
    caller.abort(new Error("The orchestrator is impatient"));
    await assert.rejects(aborted, { message: "The orchestrator is impatient" });
  });

  it("of several that share a budget ends with that budget, not with one of its own", async () => {
    const shared = new AbortController();
    let isOver = false;
    const draining = start({ budget: shared.signal }, stuck).finally(() => isOver = true);
    await clock.advance(10_000);
    assert.equal(isOver, false);
    shared.abort();
    assert.deepEqual(await draining, STRANDED);
  });

  it("that fails, fails", async () => {
    await assert.rejects(start({}, () => Promise.reject(new Error("broken"))), { message: "broken" });
  });
});
