import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import type { Clock } from "../../../src/clock.ts";
import { Deadlines } from "../../../src/publish/deadlines.ts";

/** A clock that also counts the timers that are set and not over. */
function countingClock(): { readonly clock: ReturnType<typeof virtualClock>; readonly timed: Clock; timers(): number } {
  const clock = virtualClock();
  let timers = 0;
  const timed: Clock = {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    delay: async (ms, options) => {
      timers++;
      await clock.delay(ms, options).finally(() => timers--);
    },
  };
  return { clock, timed, timers: () => timers };
}

describe("deadlines of one length", () => {
  it("expire when they fall due, in the order they were set", async () => {
    const clock = virtualClock();
    const deadlines = new Deadlines(clock, 1_000);
    const expired: string[] = [];
    deadlines.set(() => expired.push("first"));
    await clock.advance(400);
    deadlines.set(() => expired.push("second"));
    await clock.advance(599);
    assert.deepEqual(expired, []);
    await clock.advance(1);
    assert.deepEqual(expired, ["first"]);
    await clock.advance(400);
    assert.deepEqual(expired, ["first", "second"]);
  });

  it("do not expire once they are taken back", async () => {
    const clock = virtualClock();
    const deadlines = new Deadlines(clock, 1_000);
    const deadline = deadlines.set(() => assert.fail("expired"));
    deadlines.clear(deadline);
    await clock.advance(2_000);
  });

  it("share one timer, however many there are", async () => {
    const { clock, timed, timers } = countingClock();
    const deadlines = new Deadlines(timed, 1_000);
    let expired = 0;
    for (let count = 0; count < 1_000; count++) {
      deadlines.set(() => expired++);
      await clock.advance(0.25);
    }
    assert.equal(timers(), 1);
    await clock.advance(1_000);
    assert.deepEqual([expired, timers()], [1_000, 0]);
  });

  it("share it also with those set while others expire", async () => {
    const { clock, timed, timers } = countingClock();
    const deadlines = new Deadlines(timed, 1_000);
    let expired = 0;
    deadlines.set(() => {
      deadlines.set(() => expired++);
      deadlines.set(() => expired++);
    });
    await clock.advance(1_000);
    assert.equal(timers(), 1);
    await clock.advance(1_000);
    assert.deepEqual([expired, timers()], [2, 0]);
  });

  it("have their whole length again when they are restarted, those set before and after", async () => {
    const { clock, timed, timers } = countingClock();
    const deadlines = new Deadlines(timed, 1_000);
    const expired: string[] = [];
    deadlines.set(() => expired.push("before"));
    await clock.advance(900);
    deadlines.restart();
    await clock.advance(500);
    deadlines.set(() => expired.push("after"));
    await clock.advance(499);
    assert.deepEqual([expired, timers()], [[], 1]);
    await clock.advance(1);
    assert.deepEqual(expired, ["before"]);
    await clock.advance(500);
    assert.deepEqual([expired, timers()], [["before", "after"], 0]);
  });

  it("do not expire while they are suspended, and within their length after that", async () => {
    const { clock, timed, timers } = countingClock();
    let isSuspended = true;
    const deadlines = new Deadlines(timed, 1_000, () => isSuspended);
    let expired = 0;
    deadlines.set(() => expired++);
    await clock.advance(50_500);
    assert.deepEqual([expired, timers()], [0, 1]);
    isSuspended = false;
    await clock.advance(1_000);
    assert.deepEqual([expired, timers()], [1, 0]);
  });

  it("leave no timer behind when they are closed", async () => {
    const { clock, timed, timers } = countingClock();
    const deadlines = new Deadlines(timed, 1_000);
    deadlines.clear(deadlines.set(() => {}));
    deadlines.close();
    await clock.advance(0);
    assert.equal(timers(), 0);
  });

  it("still fall due after a close, where one is pending: whoever waits for it must not wait for ever", async () => {
    const { clock, timed, timers } = countingClock();
    const deadlines = new Deadlines(timed, 1_000);
    let expired = 0;
    deadlines.set(() => expired++);
    deadlines.close();
    await clock.advance(1_000);
    assert.deepEqual([expired, timers()], [1, 0]);
  });
});
