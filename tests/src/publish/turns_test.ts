import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Turns } from "../../../src/publish/turns.ts";
import { deferred } from "../../support/until.ts";

/** Lets everything run that is ready to run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

describe("turns", () => {
  it("hand over in the order of the calls, whatever is made first", async () => {
    const turns = new Turns();
    const [slow, quick] = [deferred<string>(), deferred<string>()];
    const acted: string[] = [];
    const both = Promise.all(
      [slow, quick].map(({ promise }) => turns.take(promise, (made) => acted.push(made), undefined)),
    );
    quick.resolve("second");
    await settled();
    assert.deepEqual(acted, []);
    slow.resolve("first");
    await both;
    assert.deepEqual(acted, ["first", "second"]);
  });

  it("do not wait for the end of what an act begins", async () => {
    const turns = new Turns();
    const never = new Promise<string>(() => {});
    void turns.take(Promise.resolve(1), () => never, undefined);
    assert.equal(await turns.take(Promise.resolve(2), (made) => made, undefined), 2);
  });

  it("give the outcome of the act, or its error", async () => {
    const turns = new Turns();
    assert.equal(await turns.take(Promise.resolve(20), (made) => Promise.resolve(made + 1), undefined), 21);
    const fails = (): never => {
      throw new Error("the act failed");
    };
    await assert.rejects(turns.take(Promise.resolve(1), fails, undefined), { message: "the act failed" });
    assert.equal(await turns.take(Promise.resolve(3), (made) => made, undefined), 3);
  });

  it("pass on from what cannot be made, whose error is known at once", async () => {
    const turns = new Turns();
    const slow = deferred<string>();
    const acted: string[] = [];
    const first = turns.take(slow.promise, (made) => acted.push(made), undefined);
    const failing = turns.take(Promise.reject(new Error("no bytes")), () => acted.push("never"), undefined);
    const last = turns.take(Promise.resolve("last"), (made) => acted.push(made), undefined);
    await assert.rejects(failing, { message: "no bytes" });
    assert.deepEqual(acted, []);
    slow.resolve("first");
    await Promise.all([first, last]);
    assert.deepEqual(acted, ["first", "last"]);
  });

  it("pass on from what is no longer wanted, while it is made and while it waits", async () => {
    const turns = new Turns();
    const [hangs, slow] = [deferred<string>(), deferred<string>()];
    const leaving = new AbortController();
    const acted: string[] = [];
    const act = (made: string): number => acted.push(made);
    const dropped = turns.take(hangs.promise, act, leaving.signal);
    const first = turns.take(slow.promise, act, undefined);
    const waiting = turns.take(Promise.resolve("ready"), act, leaving.signal);
    const last = turns.take(Promise.resolve("last"), act, undefined);
    leaving.abort(new Error("no longer wanted"));
    await assert.rejects(dropped, { message: "no longer wanted" });
    await assert.rejects(waiting, { message: "no longer wanted" });
    slow.resolve("first");
    await Promise.all([first, last]);
    assert.deepEqual(acted, ["first", "last"]);
  });

  it("refuse what its signal has given up before", async () => {
    const turns = new Turns();
    const signal = AbortSignal.abort(new Error("too late"));
    await assert.rejects(turns.take(Promise.resolve(1), () => assert.fail("acted"), signal), { message: "too late" });
  });

  it("are free when everything has been handed over, and not before", async () => {
    const turns = new Turns();
    const slow = deferred();
    assert.equal(turns.isFree, true);
    const taken = turns.take(slow.promise, () => assert.equal(turns.isFree, false), undefined);
    assert.equal(turns.isFree, false);
    slow.resolve();
    await taken;
    await settled();
    assert.equal(turns.isFree, true);
  });

  it("keep the order for every order in which things are made, fail and are given up", async () => {
    const fates = fc.array(fc.constantFrom("made", "fails", "given up"), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fates, fc.infiniteStream(fc.nat()), async (plan, dice) => {
        const turns = new Turns();
        const acted: number[] = [];
        const things = plan.map((fate, index) => ({
          fate,
          made: deferred<number>(),
          index,
          leaving: new AbortController(),
        }));
        const outcomes = things.map(({ made, leaving }) =>
          turns.take(made.promise, (index) => acted.push(index), leaving.signal).then(() => "acted", () => "not")
        );
        const left = [...things];
        for (const roll of dice) {
          const [one] = left.splice(roll % (left.length || 1), 1);
          if (one === undefined) break;
          if (one.fate === "made") one.made.resolve(one.index);
          else if (one.fate === "fails") one.made.reject(new Error("cannot be made"));
          else one.leaving.abort();
          if (roll % 3 === 0) await settled();
        }
        assert.deepEqual(await Promise.all(outcomes), plan.map((fate) => fate === "made" ? "acted" : "not"));
        assert.deepEqual(acted, things.filter(({ fate }) => fate === "made").map(({ index }) => index));
      }),
      { numRuns: 50 },
    );
  });
});
