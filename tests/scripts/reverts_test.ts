import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseRevert } from "../../scripts/reverts.ts";

const DIFF = "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-# why: a\n+# why: b\n";

describe("a revert", () => {
  it("says which test notices it and why that matters", () => {
    const text = `# test: tests/a_test.ts\n# name: keeps [^ ]+ order\n# why: messages overtake each other\n${DIFF}`;
    assert.deepEqual(parseRevert(text), {
      test: "tests/a_test.ts",
      name: "keeps [^ ]+ order",
      why: "messages overtake each other",
    });
  });

  it("is refused without one of its three lines, even when the diff holds such a line", () => {
    assert.throws(() => parseRevert(`# test: tests/a_test.ts\n# name: a\n${DIFF}`), /'# why: …' is missing/);
    assert.throws(() => parseRevert(DIFF), /'# test: …' is missing/);
  });
});
