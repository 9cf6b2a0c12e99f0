/**
 * The same test files on each runtime, counted from the runner's own report.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { readJunit } from "./junit.ts";
import type { Outcome } from "./outcome.ts";
import { failed, NONE, skipped, sum } from "./outcome.ts";
import { CACHE, FROM_SOURCE, run, type RunOptions, TOOLS } from "./tools.ts";

/** The runtimes every test file has to pass on. */
export const RUNTIMES = ["deno", "bun", "node24", "node22"] as const;

export type Runtime = typeof RUNTIMES[number];

/** How test files run together. */
export interface TestOptions extends Pick<RunOptions, "env" | "aside"> {
  /** One file after the other, for tests that stop, block or restart a service. @default {false} */
  readonly serial?: boolean;
}

/** Runs the test files on one runtime. */
export async function runTests(
  runtime: Runtime,
  files: readonly string[],
  options: TestOptions = {},
): Promise<Outcome> {
  if (files.length === 0) return NONE;
  if (!existsSync(TOOLS[runtime])) return skipped(runtime, "no binary of this runtime for this platform");
  const report = `${CACHE}reports/${runtime}.xml`;
  mkdirSync(`${CACHE}reports`, { recursive: true });
  rmSync(report, { force: true });
  const { serial = false, ...runOptions } = options;
  const code = await run(TOOLS[runtime], commandLine(runtime, report, serial).concat(files), runOptions);
  return judgeRun(runtime, code, existsSync(report) ? readFileSync(report, "utf8") : "");
}

/** What a runner's exit code and report come to: one that fails without saying why has failed, and so has one that ran nothing. */
export function judgeRun(runtime: string, code: number, report: string): Outcome {
  const outcome = readJunit(report);
  const { passed, failures, skips } = outcome;
  if (passed + failures.length + skips.length === 0) {
    return failed(runtime, `The runner ended with ${code} and ran no test`);
  }
  const isExplained = code === 0 || failures.length > 0;
  return isExplained ? outcome : sum([outcome, failed(runtime, `The runner ended with ${code}, see its output`)]);
}

function commandLine(runtime: Runtime, report: string, serial: boolean): string[] {
  switch (runtime) {
    case "deno":
      return [
        ...["test", "--no-check", "--allow-read", "--allow-write", "--allow-net", "--allow-env", "--allow-run"],
        ...["--allow-sys", `--junit-path=${report}`, ...serial ? [] : ["--parallel"]],
      ];
    case "bun":
      return ["test", FROM_SOURCE, "--timeout=120000", "--reporter=junit", `--reporter-outfile=${report}`];
    case "node24":
    case "node22":
      return [
        ...["--test", FROM_SOURCE, "--test-timeout=300000", ...serial ? ["--test-concurrency=1"] : []],
        ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
        ...["--test-reporter=junit", `--test-reporter-destination=${report}`],
      ];
  }
}
