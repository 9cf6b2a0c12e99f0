/** The demonstration's account: when it balances, what it counts, and that it ends when something is lost. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { balances, Bookkeeper, jsonLine, type Ledger } from "../../examples/demo/ledger.ts";
import { type Circumstances, exitCodeOf, reportText } from "../../examples/demo/report.ts";

const EMPTY: Ledger = { placed: 0, handled: 0, deadLettered: 0, parked: 0, retried: 0, duplicates: 0, lost: 0 };
const AS_IT_SHOULD_BE: Circumstances = { placed: [], reasons: new Map(), left: 0, fed: 0, chargedAgain: 0 };
const never = new AbortController().signal;

describe("a ledger", () => {
  const cases: readonly (readonly [string, Ledger, 0 | 1])[] = [
    ["with nothing lost, whatever was retried or came twice", {
      ...EMPTY,
      placed: 3,
      handled: 3,
      retried: 9,
      duplicates: 2,
    }, 0],
    ["with a message lost", { ...EMPTY, placed: 3, handled: 2, lost: 1 }, 1],
    ["with more endings than messages", { ...EMPTY, placed: 3, handled: 4, lost: -1 }, 1],
  ];
  for (const [name, ledger, code] of cases) {
    it(`${name} ends with exit code ${code}`, () => {
      assert.equal(exitCodeOf(ledger, AS_IT_SHOULD_BE), code);
      assert.equal(balances(ledger), code === 0);
    });
  }

  for (
    const [name, circumstances] of [
      ["is charged twice", { chargedAgain: 1 }],
      ["waits in a queue", { left: 1 }],
      ["was put in twice and came once", { fed: 1 }],
    ] as const
  ) {
    it(`ends with exit code 1 when something ${name}, although it balances`, () => {
      assert.equal(exitCodeOf({ ...EMPTY, placed: 1, handled: 1 }, { ...AS_IT_SHOULD_BE, ...circumstances }), 1);
    });
  }

  it("tells in words what was charged twice", () => {
    assert.match(reportText(EMPTY, { ...AS_IT_SHOULD_BE, chargedAgain: 2 }), /^ {2}CHARGED TWICE +2$/m);
  });

  it("is one JSON object with seven members", () => {
    assert.equal(
      jsonLine({ ...EMPTY, placed: 3, handled: 2, lost: 1 }),
      '{"placed":3,"handled":2,"deadLettered":0,"parked":0,"retried":0,"duplicates":0,"lost":1}',
    );
  });
});

describe("the bookkeeper", () => {
  it("counts an ending once for each id, and whatever comes after as a duplicate", () => {
    const book = new Bookkeeper();
    book.placed(3);
    book.ended("a", "handled");
    book.ended("a", "handled");
    book.ended("b", "deadLettered", "no such product");
    book.ended("b", "handled");
    book.ended("c", "parked", "not JSON");
    book.retried();
    const expected = { placed: 3, handled: 1, deadLettered: 1, parked: 1, retried: 1, duplicates: 2, lost: 0 };
    assert.deepEqual(book.ledger, expected);
    assert.deepEqual([...book.reasons], [["no such product", 1], ["not JSON", 1]]);
  });

  it("waits until everything that was placed has ended", async () => {
    const book = new Bookkeeper();
    book.placed(2);
    const settled = book.settled({ stallMs: 60_000, signal: never }).then(() => book.ledger.lost);
    book.ended("a", "handled");
    book.ended("b", "parked");
    assert.equal(await settled, 0);
  });

  it("waits for every copy that was put in on purpose", async () => {
    const book = new Bookkeeper();
    book.placed(1);
    book.feed(1);
    book.ended("a", "handled");
    const settled = book.settled({ stallMs: 60_000, signal: never }).then(() => book.ledger.duplicates);
    book.duplicate();
    assert.equal(await settled, 1);
  });

  it("stops waiting when nothing moves, and shows what is lost", async () => {
    const book = new Bookkeeper();
    book.placed(2);
    book.ended("a", "handled");
    await book.settled({ stallMs: 1, signal: never });
    assert.equal(book.ledger.lost, 1);
    assert.equal(exitCodeOf(book.ledger, AS_IT_SHOULD_BE), 1);
  });

  it("stops waiting when it is told to", async () => {
    const book = new Bookkeeper();
    book.placed(1);
    const stop = new AbortController();
    const settled = book.settled({ stallMs: 60_000, signal: stop.signal });
    stop.abort(new Error("Stopped"));
    await assert.rejects(settled, /^Error: Stopped$/);
  });
});
