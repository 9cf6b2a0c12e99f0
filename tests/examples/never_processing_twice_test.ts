/** The tutorial "Never processing twice" as a program: it prints what the tutorial promises. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { AMQP_URL, missing } from "../support/services.ts";

const skip = await missing("rabbitmq");

const [ONCE, AGAIN, THRICE] = ["charged, total 1", "charged, total 2", "charged, total 3"] as const;

/** Of each step, in order. */
const PRINTED: readonly (readonly string[])[] = [
  [ONCE, AGAIN, THRICE],
  [ONCE],
  [ONCE],
  [ONCE],
  [ONCE, AGAIN, THRICE],
  ["orders 1, announced 0"],
  ["orders 1, announced 1"],
  ["orders 0, announced 0"],
  [
    "killed after the claim: charged 1, announced 1",
    "killed after the charge: charged 1, announced 1",
    "killed after the outbox row: charged 1, announced 1",
    "killed after the commit: charged 1, announced 1",
    "killed after the relay has claimed the row: charged 1, announced 1",
    "killed after the publish: charged 1, announced 1, and again under the same id",
  ],
];

/** Two dozen processes begin and end. */
const TIMEOUT_MS = 180_000;

/** Runs it on the runtime that runs this test; what each step prints, and the exit code. */
async function tutorial(...args: readonly string[]): Promise<readonly [printed: unknown, code: unknown]> {
  const program = fileURLToPath(new URL("../../examples/never_processing_twice.ts", import.meta.url));
  const before = "deno" in process.versions ? ["run", "-A", "--no-check"] : ["--conditions=@acemq/source"];
  const child = spawn(process.execPath, [...before, program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (chunk) => out += String(chunk));
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  return [out.split(/^Step \d.*:\n/m).slice(1).map((step) => step.trimEnd().split("\n")), code];
}

describe("the tutorial", () => {
  it(
    "charges three times without a store and once with one, loses an order that is written twice, and none with an outbox, wherever it is killed",
    {
      timeout: TIMEOUT_MS,
    },
    async () => {
      assert.deepEqual(await tutorial(), [PRINTED, 0]);
    },
  );

  it("does so on RabbitMQ as well", { skip, timeout: TIMEOUT_MS }, async () => {
    assert.deepEqual(await tutorial("--amqp", AMQP_URL), [PRINTED, 0]);
  });
});
