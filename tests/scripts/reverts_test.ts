import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { parseRevert } from "../../scripts/reverts.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

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

  it("fits the sources as they are now, and names a test file that is there", () => {
    const patches = readdirSync(`${ROOT}tests/reverts`).map((name) => `tests/reverts/${name}`);
    assert.ok(patches.length > 0);
    const unfit = patches.filter((patch) => {
      const { test } = parseRevert(readFileSync(ROOT + patch, "utf8"));
      const { status } = spawnSync("git", ["apply", "--check", "--whitespace=nowarn", patch], { cwd: ROOT });
      return status !== 0 || !existsSync(ROOT + test);
    });
    assert.deepEqual(unfit, []);
  });
});
