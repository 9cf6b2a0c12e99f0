/**
 * Runs the fault tests on one runtime, and says what the account of each scenario comes to.
 *
 *     npm run faults                              # on Node 24, for a person
 *     npm run faults -- --json                    # one JSON object a line, and nothing else, on standard output
 *     npm run faults -- --runtime deno --filter cut
 *
 * The exit code is 1 when a scenario does not balance, a test has failed, or nothing was run. The fault node has to be
 * there: `scripts/services.sh fault-node`.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import type { Account } from "../tests/support/account.ts";
import { SEPARATOR } from "./gate/junit.ts";
import { type Exception, type Outcome, withServicesRequired } from "./gate/outcome.ts";
import { runTests, type Runtime } from "./gate/runners.ts";
import { CACHE, files } from "./gate/tools.ts";

/** What was asked for on the command line. */
export interface Wanted {
  readonly runtime: Runtime;
  /** Part of the path of the test files. */
  readonly filter: string;
  readonly json: boolean;
}

const RUNTIMES: Readonly<Record<string, Runtime>> = { node: "node24", node24: "node24", deno: "deno", bun: "bun" };

/** Reads the command line; throws on what it does not know. */
export function wantedOf(args: readonly string[]): Wanted {
  const { values: { runtime: name, filter, json } } = parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean", default: false },
      runtime: { type: "string", default: "node" },
      filter: { type: "string", default: "" },
    },
  });
  const runtime = Object.hasOwn(RUNTIMES, name) ? RUNTIMES[name] : undefined;
  if (runtime === undefined) throw new RangeError(`Cannot find the runtime '${name}': there are node, deno and bun`);
  return { runtime, filter, json };
}

/** The accounts the tests have written, a line each. */
export function readAccounts(text: string): Account[] {
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Account);
}

/** Everything that keeps a run from being good; a failed test that has an account is named once. */
export function objections(accounts: readonly Account[], { failures }: Outcome): Exception[] {
  const unbalanced = accounts.filter(({ balanced }) => !balanced);
  const sentence = (name: string): string => name.replaceAll(SEPARATOR, " ");
  const others = failures.filter(({ name }) => !unbalanced.some(({ scenario }) => sentence(name).endsWith(scenario)));
  if (accounts.length === 0 && others.length === 0) return [{ name: "faults", reason: "No scenario was run" }];
  return [...unbalanced.map((account) => ({ name: account.scenario, reason: reasonOf(account) })), ...others];
}

/** An account in two lines. */
export function describeAccount(account: Account): string {
  const { sent, confirmed, unknown, arrived, declined, handled, repeated, waiting, events, tookMs } = account;
  const happened = Object.entries(events).map(([type, times]) => `${times} ${type}`).join(", ");
  return `${account.balanced ? "balances" : "DOES NOT BALANCE"}: ${account.scenario} (${tookMs} ms)\n` +
    `  ${sent} sent: ${confirmed} confirmed, ${unknown} unknown of which ${arrived} arrived, ${declined} declined; ` +
    `${handled} handled of which ${repeated} again, ${waiting} waiting${happened === "" ? "" : `; ${happened}`}`;
}

function reasonOf({ failure, scenario: _, runtime: __, events: ___, ...numbers }: Account): string {
  return failure ?? JSON.stringify(numbers);
}

async function main(): Promise<void> {
  const { runtime, filter, json } = wantedOf(process.argv.slice(2));
  const path = `${CACHE}reports/faults-${runtime}.jsonl`;
  mkdirSync(`${CACHE}reports`, { recursive: true });
  rmSync(path, { force: true });
  const tests = files("tests/faults/**/*_test.ts").filter((name) => name.includes(filter)).map((name) => `./${name}`);
  const outcome = await runTests(runtime, tests, { serial: true, aside: true, env: { ACEMQ_FAULT_ACCOUNTS: path } });
  const accounts = readAccounts(existsSync(path) ? readFileSync(path, "utf8") : "");
  for (const account of accounts) console.log(json ? JSON.stringify(account) : describeAccount(account));
  const found = objections(accounts, withServicesRequired(outcome));
  for (const { name, reason } of found) console.error(`Failed: ${name}: ${reason}`);
  if (found.length > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main();
