/** The tutorial "Never processing twice" as a program: it prints what the tutorial promises. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

it("charges three times without a store, and once with one: after a failure, a lost acknowledgement, a restart, and on two replicas", async () => {
  const program = fileURLToPath(new URL("../../examples/never_processing_twice.ts", import.meta.url));
  const before = "deno" in process.versions ? ["run", "-A", "--no-check"] : ["--conditions=@acemq/source"];
  const child = spawn(process.execPath, [...before, program], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (chunk) => out += String(chunk));
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  const charged = out.split(/^Step \d.*:\n/m).slice(1).map((step) => step.trimEnd().split("\n"));
  const first = "charged, total 1";
  const threeTimes = [first, "charged, total 2", "charged, total 3"];
  assert.deepEqual(charged, [threeTimes, [first], [first], [first], threeTimes]);
  assert.equal(code, 0);
});
