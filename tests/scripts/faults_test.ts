/** What `npm run faults` takes for good, and how it prints it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeAccount, objections, readAccounts, wantedOf } from "../../scripts/faults.ts";
import { NONE } from "../../scripts/gate/outcome.ts";
import { type Account, imbalances } from "../support/account.ts";

const BALANCED: Account = {
  scenario: "a connection is cut [REC-03]",
  runtime: "node24",
  sent: 10,
  confirmed: 6,
  unknown: 3,
  declined: 1,
  handled: 7,
  repeated: 2,
  waiting: 1,
  arrived: 2,
  lost: 0,
  misreported: 0,
  pending: 0,
  doubledAtOnce: 0,
  unhandledRejections: 0,
  sockets: 0,
  channels: 0,
  timers: 0,
  listeners: 0,
  unreported: 0,
  events: { lost: 1, recovered: 1 },
  tookMs: 1_234,
  balanced: true,
};

describe("the command line of the fault tests", () => {
  it("asks for Node and a text for people, unless it says otherwise", () => {
    assert.deepEqual(wantedOf([]), { runtime: "node24", filter: "", json: false });
    assert.deepEqual(wantedOf(["--json", "--runtime", "bun", "--filter", "cut"]), {
      runtime: "bun",
      filter: "cut",
      json: true,
    });
  });

  it("is refused when it names an option or a runtime that is not there", () => {
    for (const name of ["node22", "chrome", "constructor", ""]) {
      assert.throws(() => wantedOf(["--runtime", name]), { name: "RangeError" });
    }
    assert.throws(() => wantedOf(["--jsno"]), TypeError);
    assert.throws(() => wantedOf(["deno"]), TypeError);
  });
});

describe("the account of a scenario", () => {
  it("balances when nothing is lost, misreported, doubled or left behind", () => {
    assert.deepEqual(imbalances(BALANCED), []);
    const faults = {
      lost: 1,
      misreported: 2,
      pending: 3,
      doubledAtOnce: 4,
      unhandledRejections: 5,
      sockets: 6,
      channels: 7,
      timers: 8,
      listeners: 9,
      unreported: 10,
    };
    assert.deepEqual(
      imbalances({ ...BALANCED, ...faults }),
      Object.entries(faults).map(([name, number]) => `${name}: ${number}`),
    );
  });

  it("is read back from its line, and put in words", () => {
    assert.deepEqual(readAccounts(`${JSON.stringify(BALANCED)}\n${JSON.stringify(BALANCED)}\n`), [BALANCED, BALANCED]);
    assert.deepEqual(readAccounts(""), []);
    assert.equal(
      describeAccount(BALANCED),
      "balances: a connection is cut [REC-03] (1234 ms)\n" +
        "  10 sent: 6 confirmed, 3 unknown of which 2 arrived, 1 declined; 7 handled of which 2 again, 1 waiting; " +
        "1 lost, 1 recovered",
    );
  });
});

describe("a run of the fault tests", () => {
  it("is good when every account balances and no test has failed", () => {
    assert.deepEqual(objections([BALANCED, BALANCED], NONE), []);
  });

  it("is not when an account does not balance: its test is named once, with the numbers or with what it threw", () => {
    const lost = { ...BALANCED, lost: 1, balanced: false };
    const broken = { ...BALANCED, scenario: "breaks", failure: "Error: no", balanced: false };
    const failures = [
      { name: "tests/faults/a_test.ts: a connection > is cut [REC-03]", reason: "lost: 1" },
      { name: "tests/faults/b_test.ts: outer > needs no node", reason: "1 !== 2" },
    ];
    const found = objections([lost, broken], { ...NONE, failures });
    assert.deepEqual(found.map(({ name }) => name), ["a connection is cut [REC-03]", "breaks", failures[1]?.name]);
    assert.match(found[0]?.reason ?? "", /"lost":1/);
    assert.equal(found[1]?.reason, "Error: no");
  });

  it("is not when nothing was run", () => {
    assert.deepEqual(objections([], NONE), [{ name: "faults", reason: "No scenario was run" }]);
  });
});
