/** The exported contract in the hands of somebody with a broker of their own: run by the runtime's own test runner, printed as it prints. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

/** How the test runner of this runtime is asked to run a file. */
function commandLine(): readonly string[] {
  if ("deno" in process.versions) return ["test", "-A", "--no-check"];
  return "bun" in process.versions ? ["test", "--conditions=@acemq/source"] : ["--conditions=@acemq/source", "--test"];
}

/** Runs the contract of a broker that has plain classic queues alone, and answers with everything that was printed. */
function runContract(): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  const program = fileURLToPath(new URL("../support/programs/lacking_contract.ts", import.meta.url));
  // A test runner inside a test runner reports to the outer one unless it does not know.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [...commandLine(), program], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, NO_COLOR: "1" },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => out += String(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, lines: out.split("\n") }));
  });
}

/** What the program says that its broker lacks. */
const LACKS = [
  "at_least_once_dead_letters",
  "priorities",
  "queue_expiry",
  "quorum_queues",
  "single_active_consumer",
  "streams",
] as const;

describe("the contract of a broker that lacks something", () => {
  it("passes, and prints each case that was skipped for it with what it needs", async () => {
    const { code, lines } = await runContract();
    assert.equal(code, 0, lines.slice(-40).join("\n"));
    for (const capability of LACKS) {
      const skipped = lines.filter((line) => line.includes(`(needs ${capability})`) && !line.includes("# Subtest"));
      assert.ok(skipped.length > 1, capability);
      for (const line of skipped) assert.match(line, /^\s*(﹣|ok .*# SKIP|\(skip\)|.*ignored)/, line);
    }
    assert.deepEqual(lines.filter((line) => line.includes("says what it is connected to")), []);
    assert.ok(lines.some((line) => line.includes("closes once, however often it is asked to")));
  });
});
