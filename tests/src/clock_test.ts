import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { randomUuid, systemClock, systemRandom } from "../../src/clock.ts";

/** A signal that knows who still listens. */
function watchedSignal(): { readonly controller: AbortController; readonly listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  return { controller, listeners: () => listeners };
}

describe("the clock of the machine", () => {
  it("tells the time", () => {
    const before = Date.now();
    const now = systemClock().now();
    assert.ok(now >= before && now <= Date.now());
  });

  it("measures durations with a clock that never goes back", async () => {
    const clock = systemClock();
    const start = clock.elapsed();
    await clock.delay(20);
    // A timer may fire within the millisecond before it is due.
    assert.ok(clock.elapsed() - start >= 19);
  });

  it("waits no time for zero or less", async () => {
    for (const ms of [0, -1, -Infinity]) await systemClock().delay(ms);
  });

  it("ends a wait with the signal's reason, at once", async () => {
    const { controller, listeners } = watchedSignal();
    // A timer left behind would keep Node from ending for an hour.
    const wait = systemClock().delay(3_600_000, { signal: controller.signal });
    assert.equal(listeners(), 1);
    const reason = new Error("the consumer closes");
    controller.abort(reason);
    await assert.rejects(wait, (error) => error === reason);
  });

  it("starts no wait under a signal that has aborted", async () => {
    const reason = new Error("already over");
    const signal = AbortSignal.abort(reason);
    await assert.rejects(systemClock().delay(3_600_000, { signal }), (error) => error === reason);
    await assert.rejects(systemClock().delay(0, { signal }), (error) => error === reason);
  });

  it("leaves no listener on the signal of a wait that ended by itself", async () => {
    const { controller, listeners } = watchedSignal();
    await systemClock().delay(1, { signal: controller.signal });
    assert.equal(listeners(), 0);
  });

  it("waits longer than one timer of the platform can hold", async () => {
    const longestTimerMs = 2 ** 31 - 1;
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      let over = false;
      const wait = systemClock().delay(longestTimerMs + 10).then(() => over = true);
      mock.timers.tick(longestTimerMs);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      assert.equal(over, false);
      mock.timers.tick(10);
      await wait;
    } finally {
      mock.timers.reset();
    }
  });
});

describe("chance", () => {
  it("is a number from zero up to but not one", () => {
    for (let draw = 0; draw < 1_000; draw++) {
      const value = systemRandom();
      assert.ok(value >= 0 && value < 1);
    }
  });

  it("makes ids that are random UUIDs of version 4 in lower case, none like another", () => {
    const ids = Array.from({ length: 1_000 }, randomUuid);
    for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(new Set(ids).size, ids.length);
  });
});
