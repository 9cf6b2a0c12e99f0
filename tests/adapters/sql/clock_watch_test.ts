/** A clock on the wall that is watched, by the example of one that is set while claims last a minute and confirmations an hour. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClockWatch } from "../../../adapters/sql/clock_watch.ts";
import { SettableClock } from "../../support/settable_clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

class Watched {
  readonly clock = new SettableClock();
  readonly #watch = new ClockWatch(this.clock, { leaseMs: MINUTE_MS, retentionMs: HOUR_MS });

  /** How far it is ahead of what was claimed, and of what was confirmed. */
  get leads(): readonly [leaseMs: number, retentionMs: number] {
    const { nowMs, leaseLeadMs, retentionLeadMs } = this.#watch.look();
    assert.equal(nowMs, this.clock.now());
    return [leaseLeadMs, retentionLeadMs];
  }
}

describe("a watched clock", () => {
  it("is ahead of nothing while nobody sets it", async () => {
    const watched = new Watched();
    for (let look = 0; look < 5; look++) {
      assert.deepEqual(watched.leads, [0, 0]);
      await watched.clock.pass(HOUR_MS);
    }
  });

  it("that was set forward is ahead of what was written before, for as long as that may last", async () => {
    const watched = new Watched();
    await watched.clock.pass(HOUR_MS);
    watched.clock.set(DAY_MS);
    assert.deepEqual(watched.leads, [DAY_MS, DAY_MS]);
    await watched.clock.pass(MINUTE_MS - 1);
    assert.deepEqual(watched.leads, [DAY_MS, DAY_MS]);
    await watched.clock.pass(1);
    assert.deepEqual(watched.leads, [0, DAY_MS]);
    await watched.clock.pass(HOUR_MS - MINUTE_MS);
    assert.deepEqual(watched.leads, [0, 0]);
  });

  it("that was set twice is ahead of what is oldest by both", async () => {
    const watched = new Watched();
    watched.clock.set(HOUR_MS);
    assert.deepEqual(watched.leads, [HOUR_MS, HOUR_MS]);
    await watched.clock.pass(MINUTE_MS / 2);
    watched.clock.set(DAY_MS);
    assert.deepEqual(watched.leads, [HOUR_MS + DAY_MS, HOUR_MS + DAY_MS]);
    await watched.clock.pass(MINUTE_MS / 2);
    assert.deepEqual(watched.leads, [DAY_MS, HOUR_MS + DAY_MS]);
    await watched.clock.pass(MINUTE_MS / 2);
    assert.deepEqual(watched.leads, [0, HOUR_MS + DAY_MS]);
  });

  it("that was set back is ahead of nothing, until it is right again", async () => {
    const watched = new Watched();
    watched.clock.set(-HOUR_MS);
    assert.deepEqual(watched.leads, [0, 0]);
    await watched.clock.pass(HOUR_MS);
    watched.clock.set(HOUR_MS);
    assert.deepEqual(watched.leads, [HOUR_MS, HOUR_MS]);
    await watched.clock.pass(MINUTE_MS);
    assert.deepEqual(watched.leads, [0, HOUR_MS]);
  });

  it("that was put right after it was wrong is ahead of nothing", async () => {
    const watched = new Watched();
    watched.clock.set(DAY_MS);
    assert.deepEqual(watched.leads, [DAY_MS, DAY_MS]);
    watched.clock.set(-DAY_MS);
    assert.deepEqual(watched.leads, [0, 0]);
  });

  it("that is only corrected is not set", () => {
    const watched = new Watched();
    for (const ms of [400, -900, 900, -400]) {
      watched.clock.set(ms);
      assert.deepEqual(watched.leads, [0, 0]);
    }
  });
});
