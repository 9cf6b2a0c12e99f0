import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { virtualClock } from "../../../adapters/memory/mod.ts";

const START = "2026-01-01T00:00:00.000Z";

describe("a virtual clock", () => {
  it("stands still until it is advanced", async () => {
    const clock = virtualClock(START);
    let isOver = false;
    void clock.delay(1).then(() => isOver = true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual([clock.now(), clock.elapsed(), isOver], [Date.parse(START), 0, false]);
    await clock.advance(1);
    assert.deepEqual([clock.now(), clock.elapsed(), isOver], [Date.parse(START) + 1, 1, true]);
  });

  it("starts at text, a date or a number, and else on a day that is not 1970", () => {
    const at = Date.parse(START);
    for (const start of [START, new Date(START), at]) assert.equal(virtualClock(start).now(), at);
    assert.ok(virtualClock().now() > Date.parse("2020-01-01T00:00:00Z"));
  });

  it("refuses a start that is no point in time", () => {
    assert.throws(() => virtualClock("tomorrow"), /^RangeError: Cannot start a virtual clock: .*found tomorrow$/);
    assert.throws(() => virtualClock(NaN), RangeError);
  });

  it("refuses to go back, or nowhere in particular", async () => {
    const clock = virtualClock();
    for (const ms of [-1, NaN, Infinity]) await assert.rejects(clock.advance(ms), RangeError);
    await clock.advance(1);
    assert.equal(clock.elapsed(), 1);
  });

  it("lets delays end in the order they are due, those of one time in the order they were asked for", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(50)), async (delays) => {
        const clock = virtualClock();
        const ended: (readonly [due: number, asked: number, elapsed: number])[] = [];
        delays.forEach((ms, asked) => void clock.delay(ms).then(() => ended.push([ms, asked, clock.elapsed()])));
        await clock.advance(50);
        const expected = delays.map((ms, asked) => [ms, asked, ms] as const).toSorted((a, b) =>
          a[0] - b[0] || a[1] - b[1]
        );
        assert.deepEqual(ended, expected);
      }),
      { numRuns: 50 },
    );
  });

  it("runs what one delay sets going, however long a chain, before the next is due", async () => {
    const clock = virtualClock();
    const seen: string[] = [];
    void clock.delay(10).then(async () => {
      for (let link = 0; link < 1_000; link++) await null;
      seen.push(`first at ${clock.elapsed()}`);
    });
    void clock.delay(11).then(() => seen.push(`second at ${clock.elapsed()}`));
    await clock.advance(20);
    assert.deepEqual(seen, ["first at 10", "second at 11"]);
  });

  it("runs what was set going before it is advanced", async () => {
    const clock = virtualClock();
    const waited = (async () => {
      await null;
      await clock.delay(5);
      return clock.elapsed();
    })();
    await clock.advance(5);
    assert.equal(await waited, 5);
  });

  it("lets a delay end that is asked for on the way", async () => {
    const clock = virtualClock();
    let hours = 0;
    void (async () => {
      for (;;) {
        await clock.delay(3_600_000);
        hours++;
      }
    })();
    await clock.advance(24 * 3_600_000);
    assert.equal(hours, 24);
  });

  it("ends a delay of no time at once", async () => {
    const clock = virtualClock();
    for (const ms of [0, -1, NaN]) await clock.delay(ms);
    assert.equal(clock.elapsed(), 0);
  });

  it("rejects an aborted delay with the reason of its signal, and forgets it", async () => {
    const clock = virtualClock();
    const reason = new Error("Not any more");
    await assert.rejects(clock.delay(1, { signal: AbortSignal.abort(reason) }), reason);
    await assert.rejects(clock.delay(0, { signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    const [aborted, other] = [clock.delay(5, { signal: controller.signal }), clock.delay(5)];
    controller.abort(reason);
    await assert.rejects(aborted, reason);
    await clock.advance(5);
    await other;
  });

  it("runs it as far where node:worker_threads is loaded: on Deno a port's `onmessage` is then called between two microtasks", async () => {
    await import("node:worker_threads");
    const clock = virtualClock();
    let links = 0;
    const chain = async (): Promise<void> => {
      for (let link = 0; link < 1_000; link++) await null;
      links++;
    };
    for (let ms = 1; ms <= 10; ms++) void clock.delay(ms).then(chain);
    for (let ms = 1; ms <= 10; ms++) {
      await clock.advance(1);
      assert.equal(links, ms);
    }
  });

  it("takes one advance after another, also one made by what an advance sets going", async () => {
    const clock = virtualClock();
    const seen: number[] = [];
    void clock.delay(5).then(async () => {
      await clock.advance(10);
      seen.push(clock.elapsed());
    });
    await Promise.all([clock.advance(5), clock.advance(5)]);
    assert.equal(clock.elapsed(), 10);
    await clock.advance(0);
    assert.deepEqual(seen, [20]);
  });
});
