import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Limiter } from "../../../src/internal/limiter.ts";

/** Lets everything run that is ready to run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

describe("a limiter", () => {
  it("gives out its permits at once, then makes the next caller wait", async () => {
    const limiter = new Limiter(2);
    await limiter.take();
    await limiter.take();
    let granted = false;
    const third = limiter.take().then(() => granted = true);
    await settled();
    assert.deepEqual([granted, limiter.taken, limiter.waiting], [false, 2, 1]);
    limiter.give();
    await third;
    assert.deepEqual([limiter.taken, limiter.waiting], [2, 0]);
  });

  it("serves callers in the order they came", async () => {
    const limiter = new Limiter(1);
    await limiter.take();
    const order: number[] = [];
    const callers = [1, 2, 3].map((caller) => limiter.take().then(() => order.push(caller)));
    for (const _ of callers) {
      limiter.give();
      await settled();
    }
    assert.deepEqual(order, [1, 2, 3]);
  });

  it("lets nobody past those who wait", async () => {
    const limiter = new Limiter(1);
    assert.equal(limiter.tryTake(), true);
    assert.equal(limiter.tryTake(), false);
    const waiting = limiter.take();
    limiter.give();
    assert.equal(limiter.tryTake(), false);
    await waiting;
    limiter.give();
    assert.equal(limiter.tryTake(), true);
  });

  it("refuses a caller whose signal has aborted, even when a permit is free", async () => {
    const limiter = new Limiter(1);
    await assert.rejects(limiter.take(AbortSignal.abort(new Error("no longer wanted"))), {
      message: "no longer wanted",
    });
    assert.equal(limiter.taken, 0);
  });

  it("forgets a caller who stops waiting, and serves the next", async () => {
    const limiter = new Limiter(1);
    await limiter.take();
    const leaving = new AbortController();
    const left = assert.rejects(limiter.take(leaving.signal), { message: "gone" });
    const next = limiter.take();
    leaving.abort(new Error("gone"));
    await left;
    assert.equal(limiter.waiting, 1);
    limiter.give();
    await next;
    assert.equal(limiter.taken, 1);
  });

  it("leaves a permit with its taker when the signal aborts afterwards", async () => {
    const limiter = new Limiter(1);
    await limiter.take();
    const controller = new AbortController();
    const waiting = limiter.take(controller.signal);
    limiter.give();
    await waiting;
    controller.abort();
    assert.deepEqual([limiter.taken, limiter.waiting], [1, 0]);
  });

  it("never gives out more than its permits and loses none, whoever comes, leaves or stops waiting", async () => {
    const steps = fc.array(fc.constantFrom("take", "abort", "give", "tryTake"), { maxLength: 60 });
    await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (limit, script) => {
      const limiter = new Limiter(limit);
      const waiting: AbortController[] = [];
      let held = 0;
      for (const step of script) {
        if (step === "take") {
          const controller = new AbortController();
          waiting.push(controller);
          limiter.take(controller.signal).then(() => {
            held++;
            waiting.splice(waiting.indexOf(controller), 1);
          }, () => {});
        } else if (step === "abort") waiting.pop()?.abort();
        else if (step === "tryTake") held += limiter.tryTake() ? 1 : 0;
        else if (held > 0) {
          held--;
          limiter.give();
        }
        await settled();
        assert.equal(limiter.taken, held);
        assert.equal(limiter.waiting, waiting.length);
        assert.ok(held <= limit);
        assert.ok(waiting.length === 0 || held === limit, "somebody waits although a permit is free");
      }
    }));
  });
});
