/** How fast a pass goes and how long: by the clock it is given. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type VirtualClock, virtualClock } from "../../../../adapters/memory/mod.ts";
import { Pace, type PaceOptions } from "../../../../src/patterns/replay/pace.ts";

function paced(options: PaceOptions): { readonly clock: VirtualClock; readonly pace: Pace } {
  const clock = virtualClock();
  return { clock, pace: new Pace(clock, options) };
}

/** Moves until the turn never comes; answers with the times of the moves. `slowMs` is what the n-th move takes. */
async function moves(
  { clock, pace }: { readonly clock: VirtualClock; readonly pace: Pace },
  { slowMs = () => 0 }: { readonly slowMs?: (index: number) => number } = {},
): Promise<readonly number[]> {
  const times: number[] = [];
  const begin = clock.elapsed();
  const run = (async () => {
    for (;;) {
      const over = await pace.turn();
      if (over !== undefined) return over;
      pace.moving();
      times.push(clock.elapsed() - begin);
      const lasts = slowMs(times.length);
      if (lasts > 0) await clock.delay(lasts);
    }
  })();
  await clock.advance(10_000);
  assert.equal(await run, "deadline");
  return times;
}

describe("the pace of a pass", () => {
  it("spaces what is moved evenly over the second", async () => {
    assert.deepEqual(await moves(paced({ ratePerSecond: 4, deadlineMs: 1_000 })), [0, 250, 500, 750]);
    assert.deepEqual(await moves(paced({ ratePerSecond: 0.5, deadlineMs: 5_000 })), [0, 2_000, 4_000]);
  });

  it("keeps to the rate when moves take a while, and makes up for a stall by one message at most", async () => {
    const slow = await moves(paced({ ratePerSecond: 10, deadlineMs: 500 }), { slowMs: () => 60 });
    assert.deepEqual(slow, [0, 100, 200, 300, 400]);
    const stalled = await moves(paced({ ratePerSecond: 10, deadlineMs: 1_000 }), {
      slowMs: (index) => index === 2 ? 650 : 0,
    });
    assert.deepEqual(stalled, [0, 100, 750, 750, 850, 950]);
  });

  it("ends at the deadline, at once where the next turn would come after it", async () => {
    const { clock, pace } = paced({ ratePerSecond: 1, deadlineMs: 1_000 });
    assert.equal(await pace.turn(), undefined);
    pace.moving();
    assert.equal(await pace.turn(), "deadline");
    assert.equal(clock.elapsed(), 0);
    assert.equal(await paced({ deadlineMs: 0 }).pace.turn(), "deadline");
  });

  it("ends when its signal aborts, also in the middle of a wait, and leaves no timer behind", async () => {
    const abort = new AbortController();
    const { pace } = paced({ ratePerSecond: 1, signal: abort.signal });
    assert.equal(await pace.turn(), undefined);
    pace.moving();
    const turn = pace.turn();
    abort.abort(new Error("Enough"));
    assert.equal(await turn, "cancelled");
    assert.equal(await pace.turn(), "cancelled");
  });

  it("has no bound of its own", async () => {
    const { clock, pace } = paced({});
    for (let index = 0; index < 1_000; index++) {
      assert.equal(await pace.turn(), undefined);
      pace.moving();
    }
    assert.equal(clock.elapsed(), 0);
  });
});
