/**
 * Switches off one safety rule after the other and shows that a test notices.
 *
 * Each `tests/reverts/NAME.patch` is a unified diff behind three lines: `# test: path/to_test.ts`, `# name: regexp of
 * the test's title` and `# why: what would go wrong`. In a scratch copy of the work tree the named test has to be green
 * without the patch and red with it. `npm run reverts -- NAME…` takes some of them.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import process from "node:process";
import type { TestCase } from "./gate/junit.ts";
import { readTests, SEPARATOR } from "./gate/junit.ts";
import { files, FROM_SOURCE, ROOT, run, TOOLS } from "./gate/tools.ts";

/** What a patch says about itself. */
export interface Revert {
  readonly test: string;
  readonly name: string;
  readonly why: string;
}

/** Reads the three lines in front of the diff; each has to be there. */
export function parseRevert(text: string): Revert {
  const field = (name: string): string => {
    const [, value] = new RegExp(`^# ${name}: (.+)$`, "m").exec(text.split(/^(?:diff|---) /m)[0] ?? "") ?? [];
    if (value === undefined) throw new Error(`Cannot read the patch: the line '# ${name}: …' is missing`);
    return value.trim();
  };
  return { test: field("test"), name: field("name"), why: field("why") };
}

/** The reason why a patch proves nothing, or `undefined` when its test was green without it and red with it. */
async function faultOf(patch: string, scratch: string): Promise<string | undefined> {
  const revert = parseRevert(readFileSync(ROOT + patch, "utf8"));
  if (!existsSync(`${scratch}/${revert.test}`)) return `there is no ${revert.test}`;
  const before = await runTest(revert, scratch);
  if (before.length === 0) return `no test of ${revert.test} is named /${revert.name}/`;
  const notGreen = before.find(({ state }) => state !== "passed");
  if (notGreen !== undefined) return `the test ${notGreen.state} without the patch: ${notGreen.reason}`;
  if (!applies(patch, scratch, [])) return "the patch does not apply";
  const after = await runTest(revert, scratch);
  if (!applies(patch, scratch, ["--reverse"])) throw new Error(`Cannot take back ${patch}`);
  if (after.some(({ state }) => state === "failed")) return undefined;
  return after.length === 0 ? "the test does not even load with the patch" : "the test stays green with the patch";
}

/** Runs the tests whose own title matches; one that failed to load has no title. */
async function runTest({ test, name }: Revert, scratch: string): Promise<TestCase[]> {
  const report = `${scratch}/report.xml`;
  rmSync(report, { force: true });
  await run(TOOLS.node24, [
    ...["--test", FROM_SOURCE, "--test-timeout=300000", `--test-name-pattern=${name}`],
    ...["--test-reporter=junit", `--test-reporter-destination=${report}`, test],
  ], { cwd: scratch });
  const title = new RegExp(name);
  return readTests(readFileSync(report, "utf8")).filter((one) => title.test(one.name.split(SEPARATOR).at(-1) ?? ""));
}

function applies(patch: string, scratch: string, flags: readonly string[]): boolean {
  const { status } = spawnSync("git", ["apply", "--whitespace=nowarn", ...flags, ROOT + patch], {
    cwd: scratch,
    stdio: "inherit",
  });
  return status === 0;
}

/** Copies what git knows or would add, so the tests see the work tree as it is. */
function copyWorkTree(): string {
  const scratch = mkdtempSync(`${tmpdir()}/acemq-reverts-`);
  const list = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  for (const path of list.stdout.toString().split("\0")) {
    if (path !== "" && existsSync(ROOT + path)) cpSync(ROOT + path, `${scratch}/${path}`);
  }
  symlinkSync(`${ROOT}node_modules`, `${scratch}/node_modules`);
  return scratch;
}

async function main(names: readonly string[]): Promise<void> {
  const patches = files("tests/reverts/*.patch")
    .filter((path) => names.length === 0 || names.includes(basename(path, ".patch")));
  const scratch = copyWorkTree();
  let failures = 0;
  for (const patch of patches) {
    const fault = await faultOf(patch, scratch).catch((error: unknown) => String(error));
    if (fault !== undefined) failures++;
    console.log(fault === undefined ? `noticed ${patch}` : `FAILED  ${patch}: ${fault}`);
  }
  rmSync(scratch, { recursive: true, force: true });
  console.log(`\n${patches.length - failures} of ${patches.length} reverts are noticed by their test`);
  if (failures > 0 || patches.length < Math.max(1, names.length)) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
