/** When a relay looks next. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Lookout } from "../../../../src/internal/lookout.ts";
import { Agenda, type Outlook, waitForNextLook } from "../../../../src/patterns/outbox/timetable.ts";

const QUIET: Outlook = {
  nowMs: 1_000,
  isLinked: true,
  hasRoom: true,
  isDue: false,
  pollAtMs: 2_000,
  lookoutAtMs: Infinity,
  retryAtMs: Infinity,
  restUntilMs: -Infinity,
};

describe("the wait for the next look", () => {
  const cases: readonly (readonly [what: string, change: Partial<Outlook>, waitMs: number])[] = [
    ["lasts until the poll when nothing else is known", {}, 1_000],
    ["is over when somebody has reason to believe that there are rows", { isDue: true }, 0],
    ["is over when the poll is late", { pollAtMs: 500 }, 0],
    ["lasts until what was added may be there", { lookoutAtMs: 1_003 }, 3],
    ["lasts until a row's next attempt", { retryAtMs: 1_200 }, 200],
    ["goes on, whoever knows what, while somebody needs a rest", { isDue: true, restUntilMs: 1_500 }, 500],
    ["has no end without a link", { isDue: true, isLinked: false }, Infinity],
    ["has no end without room", { isDue: true, hasRoom: false }, Infinity],
  ];
  for (const [what, change, waitMs] of cases) {
    it(what, () => assert.equal(waitForNextLook({ ...QUIET, ...change }), waitMs));
  }
});

describe("an agenda", () => {
  it("knows the earliest time, and forgets what has passed", () => {
    const agenda = new Agenda();
    assert.equal(agenda.nextMs, Infinity);
    for (const atMs of [5_000, 1_200, 3_000]) agenda.add(atMs);
    assert.equal(agenda.nextMs, 1_200);
    agenda.pass(3_000);
    assert.equal(agenda.nextMs, 5_000);
  });

  it("is never early, and of bounded size", () => {
    const agenda = new Agenda();
    agenda.add(1_201);
    assert.equal(agenda.nextMs, 1_300);
    for (let atMs = 1; atMs < 1_000_000; atMs += 100) agenda.add(atMs);
    agenda.pass(200_000);
    assert.equal(agenda.nextMs, Infinity);
  });
});

describe("a lookout", () => {
  /** The times it looks at when nothing is ever found. */
  function looksOf(lookout: Lookout): number[] {
    const times: number[] = [];
    while (lookout.nextMs < Infinity) {
      times.push(lookout.nextMs);
      lookout.looked([], lookout.nextMs);
    }
    return times;
  }

  it("looks at short intervals that grow, for a second", () => {
    const lookout = new Lookout();
    assert.equal(lookout.nextMs, Infinity);
    lookout.added(["a"], 0);
    const times = looksOf(lookout);
    assert.deepEqual(times.slice(0, 4), [1, 2.5, 4.75, 8.125]);
    const last = times.at(-1) ?? 0;
    assert.ok(last >= 1_000 && last < 1_100, `${last}`);
    assert.ok(times.length <= 25, `${times.length} looks`);
  });

  it("is done when what was added was seen, and goes on while a part of it was", () => {
    const lookout = new Lookout();
    lookout.added(["a", "b"], 0);
    lookout.looked([], 100);
    lookout.looked(["b", "somebody else's"], 200);
    assert.equal(lookout.nextMs, 201);
    lookout.looked(["a"], 300);
    assert.equal(lookout.nextMs, Infinity);
  });

  it("begins with short intervals again for what is added later, though not more often than every 100 ms", () => {
    const lookout = new Lookout();
    lookout.added(["a"], 0);
    for (let look = 0; look < 12; look++) lookout.looked([], 50 + look);
    const { nextMs } = lookout;
    lookout.added(["b"], 62);
    assert.equal(lookout.nextMs, nextMs);
    lookout.added(["c"], 100);
    assert.equal(lookout.nextMs, 101);
  });

  it("keeps looking for what was added last, however much that was", () => {
    const lookout = new Lookout();
    lookout.added(Array.from({ length: 5_000 }, (_, index) => `m-${index}`), 0);
    lookout.looked(Array.from({ length: 4_000 }, (_, index) => `m-${index}`), 10);
    assert.ok(lookout.nextMs < Infinity);
    lookout.looked(Array.from({ length: 1_000 }, (_, index) => `m-${4_000 + index}`), 20);
    assert.equal(lookout.nextMs, Infinity);
    lookout.added([], 30);
    assert.equal(lookout.nextMs, Infinity);
  });
});
