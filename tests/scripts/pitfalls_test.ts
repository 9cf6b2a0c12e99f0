/** The list of pitfalls counts a row as tested only when the title of a test names it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pitfall } from "../../scripts/pitfalls.ts";
import { idsInTitles, isInArea } from "../../scripts/pitfalls.ts";

describe("the ids a test file names", () => {
  const named = (text: string): string[] => [...idsInTitles(text)];

  it("stand in the titles of tests and suites, in templates, in sums and in modified tests too", () => {
    assert.deepEqual(named('describe("a [PUB-01, PUB-02]", () => { it(`b ${c} (CN-07)`, d); });'), [
      "PUB-01",
      "PUB-02",
      "CN-07",
    ]);
    assert.deepEqual(named('it("a long " + "title [RET-04]", b);'), ["RET-04"]);
    assert.deepEqual(named('it.skip("SC-19 a"); t.test("TS-03", b); describe.only("OB-10", c);'), [
      "SC-19",
      "TS-03",
      "OB-10",
    ]);
  });

  it("do not stand in comments, in other arguments or in other calls", () => {
    assert.deepEqual(named('// PUB-01\nit("a", { skip: "PUB-02" }, () => { b("PUB-03"); });\nconst c = "PUB-04";'), []);
    assert.deepEqual(named('it("UTF-8 and SHA-256 and A-12")'), ["SHA-256"]);
  });
});

describe("an area", () => {
  const row: Pitfall = { id: "CN-07", area: "connection, consumer, publisher, request/reply", source: "field.md" };

  it("is named by one of its words, whatever the case, or by the letters of the ids", () => {
    for (const area of ["connection", "Consumer", "reply", "CN", "cn", "CN-", "CN-07", row.area]) {
      assert.equal(isInArea(row, area), true, area);
    }
  });

  it("is not named by a part of a word or of an id", () => {
    for (const area of ["connect", "C", "CN-0", "retry", ""]) assert.equal(isInArea(row, area), false, area);
  });
});
