/** The example that changes the format of a queue: it prints what the page on codecs promises. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const PRINTED: readonly string[] = [
  'registered "order.placed" with id 1',
  "before: 4 as JSON, 0 as Avro, 0 set aside",
  "a writer that goes first: 4 as JSON, 0 as Avro, 1 set aside",
  "every reader has both: 12 as JSON, 1 as Avro, 0 set aside",
  "every writer has Avro: 16 as JSON, 9 as Avro, 0 set aside",
  "without JSON: 16 as JSON, 13 as Avro, 0 set aside",
];

describe("the example that changes a format", () => {
  it("handles every order once, and stops for nothing", { timeout: 60_000 }, async () => {
    const program = fileURLToPath(new URL("../../examples/changing_formats.ts", import.meta.url));
    const before = "deno" in process.versions ? ["run", "-A", "--no-check"] : ["--conditions=@acemq/source"];
    const child = spawn(process.execPath, [...before, program], { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (chunk) => out += String(chunk));
    const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
    assert.deepEqual([out.trimEnd().split("\n"), code], [PRINTED, 0]);
  });
});
