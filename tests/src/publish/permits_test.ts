import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Place } from "../../../src/internal/line.ts";
import { Permits, type Waiter } from "../../../src/publish/permits.ts";

/** A publish that notes when it gets its permit. */
function waiterOf(lane: number, entered: string[], { name = "", keeps = true } = {}): Waiter {
  return {
    lane,
    enter: () => {
      entered.push(name || String(lane));
      return keeps;
    },
  };
}

describe("permits to publish", () => {
  it("are given out at once up to the total, whatever the lane", () => {
    const permits = new Permits({ total: 3, perLane: Infinity, lanes: 2 });
    assert.deepEqual([0, 1, 0, 1].map((lane) => permits.tryTake(lane)), [true, true, true, false]);
    assert.equal(permits.taken, 3);
  });

  it("are given out per lane up to the lane's own bound", () => {
    const permits = new Permits({ total: 10, perLane: 2, lanes: 2 });
    assert.deepEqual([1, 1, 1, 0].map((lane) => permits.tryTake(lane)), [true, true, false, true]);
  });

  it("go to whoever waited longest on the lane, before the call that gave one back returns", () => {
    const permits = new Permits({ total: 1, perLane: Infinity, lanes: 1 });
    const entered: string[] = [];
    permits.tryTake(0);
    for (const name of ["first", "second"]) permits.wait(waiterOf(0, entered, { name }));
    permits.give(0);
    assert.deepEqual([entered, permits.taken, permits.waiting], [["first"], 1, 1]);
    permits.give(0);
    assert.deepEqual([entered, permits.taken, permits.waiting], [["first", "second"], 1, 0]);
  });

  it("let nobody pass those of the same lane who wait", () => {
    const permits = new Permits({ total: 5, perLane: 1, lanes: 2 });
    permits.tryTake(1);
    permits.wait(waiterOf(1, []));
    assert.deepEqual([permits.tryTake(1), permits.tryTake(0)], [false, true]);
  });

  it("go round the lanes, so that a crowded lane does not hold up another", () => {
    const permits = new Permits({ total: 1, perLane: Infinity, lanes: 3 });
    const entered: string[] = [];
    permits.tryTake(1);
    for (let crowd = 0; crowd < 5; crowd++) permits.wait(waiterOf(1, entered));
    permits.wait(waiterOf(0, entered));
    for (let turn = 0; turn < 3; turn++) permits.give(1);
    assert.ok(entered.indexOf("0") >= 0 && entered.indexOf("0") < 3, `lane 0 waited for ${entered.length} others`);
  });

  it("are not given to a lane that is full while another has room", () => {
    const permits = new Permits({ total: 2, perLane: 1, lanes: 3 });
    const entered: string[] = [];
    permits.tryTake(1);
    permits.tryTake(2);
    permits.wait(waiterOf(1, entered, { name: "of the full lane" }));
    permits.wait(waiterOf(2, entered, { name: "of the lane with room" }));
    permits.give(2);
    assert.deepEqual(entered, ["of the lane with room"]);
  });

  it("come back from a waiter that turns one down, and go on to the next", () => {
    const permits = new Permits({ total: 1, perLane: Infinity, lanes: 1 });
    const entered: string[] = [];
    permits.tryTake(0);
    permits.wait(waiterOf(0, entered, { name: "declines", keeps: false }));
    permits.wait(waiterOf(0, entered, { name: "takes it" }));
    permits.give(0);
    assert.deepEqual([entered, permits.taken, permits.waiting], [["declines", "takes it"], 1, 0]);
  });

  it("can be turned down by any number of waiters in a row", () => {
    const permits = new Permits({ total: 1, perLane: Infinity, lanes: 1 });
    const entered: string[] = [];
    permits.tryTake(0);
    for (let count = 0; count < 100_000; count++) permits.wait(waiterOf(0, entered, { keeps: false }));
    permits.give(0);
    assert.deepEqual([entered.length, permits.taken, permits.waiting], [100_000, 0, 0]);
  });

  it("pass over a waiter that has left", () => {
    const permits = new Permits({ total: 1, perLane: Infinity, lanes: 1 });
    const entered: string[] = [];
    permits.tryTake(0);
    const leaving = permits.wait(waiterOf(0, entered, { name: "left" }));
    permits.wait(waiterOf(0, entered, { name: "stayed" }));
    permits.leave(leaving);
    permits.leave(leaving);
    permits.give(0);
    assert.deepEqual([entered, permits.waiting], [["stayed"], 0]);
  });

  it("are refused for a lane there is not", () => {
    const permits = new Permits({ total: 1, perLane: 1, lanes: 5 });
    assert.throws(() => permits.tryTake(5), new RangeError("Cannot publish on lane 5: lanes are 0 to 4"));
  });

  it("never exceed a bound, are never lost, and keep each lane's order, whoever comes, leaves or turns one down", () => {
    const lane = fc.integer({ min: 0, max: 2 });
    const step = fc.oneof(
      fc.record({ do: fc.constant("take" as const), lane, keeps: fc.boolean() }),
      fc.record({ do: fc.constant("give" as const), lane }),
      fc.record({ do: fc.constant("leave" as const), lane }),
    );
    const bounds = fc.record({ total: fc.integer({ min: 1, max: 4 }), perLane: fc.integer({ min: 1, max: 3 }) });
    fc.assert(fc.property(bounds, fc.array(step, { maxLength: 80 }), (limits, script) => {
      const permits = new Permits({ ...limits, lanes: 3 });
      const held = [0, 0, 0];
      const queues: Place<Waiter>[][] = [[], [], []];
      for (const one of script) {
        const queue = queues[one.lane] ?? [];
        if (one.do === "give" && (held[one.lane] ?? 0) > 0) {
          held[one.lane] = (held[one.lane] ?? 0) - 1;
          permits.give(one.lane);
        } else if (one.do === "leave") {
          const last = queue.pop();
          if (last !== undefined) permits.leave(last);
        } else if (one.do === "take") {
          if (permits.tryTake(one.lane)) {
            assert.equal(queue.length, 0, "somebody was passed");
            held[one.lane] = (held[one.lane] ?? 0) + 1;
            continue;
          }
          const waiter: Waiter = {
            lane: one.lane,
            enter: () => {
              assert.equal(queue.shift(), place, "the order of the lane was not kept");
              if (one.keeps) held[one.lane] = (held[one.lane] ?? 0) + 1;
              return one.keeps;
            },
          };
          const place = permits.wait(waiter);
          queue.push(place);
        }
        const taken = held.reduce((sum, count) => sum + count, 0);
        assert.deepEqual([permits.taken, permits.waiting], [taken, queues.flat().length]);
        assert.ok(taken <= limits.total && held.every((count) => count <= limits.perLane));
        const couldEnter = taken < limits.total &&
          held.some((count, index) => count < limits.perLane && (queues[index]?.length ?? 0) > 0);
        assert.equal(couldEnter, false, "somebody waits although there is room");
      }
    }));
  });
});
