/**
 * The gate: everything that has to hold before a change lands, on every runtime.
 *
 * `npm test` runs all of it. `npm test -- --only static,node24` runs some steps (see `--list`), and `--filter publish`
 * only the test files with that text in their path. The last line is `N passed, N failed, N skipped`, and the exit code
 * is 1 when something failed. With ACEMQ_REQUIRE_SERVICES=1 a skip is a failure, but for the tests of RabbitMQ 4.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { documentationStep, examplesStep } from "./gate/documentation.ts";
import type { Outcome } from "./gate/outcome.ts";
import { failed, NONE, skipsByReason, sum, withServicesRequired } from "./gate/outcome.ts";
import { packageStep } from "./gate/package.ts";
import { runTests, RUNTIMES } from "./gate/runners.ts";
import { STATIC_STEPS } from "./gate/static.ts";
import { files } from "./gate/tools.ts";

/** A part of the gate; `--only` takes its name or the name of its group. */
interface Step {
  readonly name: string;
  readonly group: string;
  readonly run: () => Promise<Outcome>;
}

/** They take a minute each, and what Node 22 does otherwise is found without breaking anything. */
const FAULT_RUNTIMES = RUNTIMES.filter((name) => name !== "node22");

const { values: options } = parseArgs({
  options: { only: { type: "string" }, filter: { type: "string", default: "" }, list: { type: "boolean" } },
});

function allSteps(filter: string): Step[] {
  const tests = files("tests/**/*_test.ts").filter((path) => path.includes(filter)).map((path) => `./${path}`);
  const faults = tests.filter((path) => path.startsWith("./tests/faults/"));
  const others = tests.filter((path) => !faults.includes(path));
  return [
    ...Object.entries(STATIC_STEPS).map(([name, run]) => ({ name, group: "static", run })),
    { name: "package", group: "static", run: packageStep },
    ...RUNTIMES.map((name) => ({ name, group: "tests", run: () => runTests(name, others) })),
    { name: "examples", group: "docs", run: examplesStep },
    { name: "docs", group: "docs", run: documentationStep },
    ...FAULT_RUNTIMES.map((name) => ({
      name: `faults-${name}`,
      group: "faults",
      run: () => runTests(name, faults, { serial: true }),
    })),
  ];
}

function chosenSteps(): Step[] {
  const steps = allSteps(options.filter);
  const wanted = options.only?.split(",");
  if (wanted === undefined) return steps;
  const unknown = wanted.filter((word) => !steps.some(({ name, group }) => name === word || group === word));
  if (unknown.length > 0) throw new Error(`Cannot run the step '${unknown}': '--list' names the steps there are`);
  return steps.filter(({ name, group }) => wanted.includes(name) || wanted.includes(group));
}

async function runStep(step: Step): Promise<Outcome> {
  console.log(`\n=== ${step.name}`);
  const startedAt = performance.now();
  const outcome = await step.run().catch((error: unknown) => failed(step.name, String(error)));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`--- ${step.name}: ${outcome === NONE ? "none" : counts(outcome)} (${seconds} s)`);
  return outcome;
}

function counts({ passed, failures, skips }: Outcome): string {
  return `${passed} passed, ${failures.length} failed, ${skips.length} skipped`;
}

function printLines(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(["", title, ...lines.map((line) => `  ${line}`)].join("\n"));
}

async function main(): Promise<void> {
  const steps = chosenSteps();
  if (options.list === true) return steps.forEach(({ name, group }) => console.log(`${name} (${group})`));
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    const outcome = await runStep(step);
    outcomes.push(process.env["ACEMQ_REQUIRE_SERVICES"] === "1" ? withServicesRequired(outcome) : outcome);
  }
  const total = sum(outcomes);
  printLines("Skipped", [...skipsByReason(total.skips)].map(([reason, count]) => `${count}: ${reason}`));
  printLines("Failed", total.failures.map(({ name, reason }) => `${name}: ${reason}`));
  console.log(`\n${counts(total)}`);
  process.exitCode = total.failures.length === 0 ? 0 : 1;
}

await main();
