/**
 * Type-checks and executes the code in the documentation, and runs the example programs.
 *
 * @module
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { missing } from "../../tests/support/services.ts";
import type { Outcome } from "./outcome.ts";
import { failed, NONE, passed, skipped, sum } from "./outcome.ts";
import { runTests } from "./runners.ts";
import type { Snippet } from "./snippets.ts";
import { fileNameOf, snippetsOfPage, snippetsOfSource } from "./snippets.ts";
import { check, entryPoints } from "./static.ts";
import { CACHE, files, FROM_SOURCE, ROOT, run, TOOLS } from "./tools.ts";

const FOLDER = `${CACHE}docs/`;

/** A page may import without using, and need not write types out. */
const TSCONFIG = {
  extends: "../../tsconfig.json",
  compilerOptions: {
    isolatedDeclarations: false,
    declaration: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    moduleDetection: "force",
  },
  include: ["*.ts"],
  exclude: [],
};

/** Every block is type-checked; examples and runnable blocks are executed as one test each. */
export async function documentationStep(): Promise<Outcome> {
  const snippets = [
    ...["README.md", "docs/**/*.md"].flatMap(files).flatMap((path) => snippetsOfPage(path, read(path))),
    ...["*.ts", "src/**/*.ts", "adapters/**/*.ts", "tests/contract/**/*.ts"].flatMap(files)
      .flatMap((path) => snippetsOfSource(path, read(path))),
  ];
  if (snippets.length === 0 || entryPoints().length === 0) return NONE;
  const test = writeSnippets(snippets);
  console.log(`${snippets.length} blocks`);
  const types = await check("types of the code in the documentation", TOOLS.tsc, ["-p", `${FOLDER}tsconfig.json`]);
  return sum([types, await runTests("node24", [test])]);
}

/** Answers with the test file that imports the blocks to execute: one process, which loads the library once. */
function writeSnippets(snippets: readonly Snippet[]): string {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}tsconfig.json`, JSON.stringify(TSCONFIG));
  for (const snippet of snippets) writeFileSync(FOLDER + fileNameOf(snippet), snippet.code);
  const tests = snippets.filter(({ isRunnable }) => isRunnable)
    .map((one) => `it("${one.path} line ${one.line}", () => import("./${fileNameOf(one)}"));\n`);
  const path = `${FOLDER}snippets_test.mjs`;
  writeFileSync(path, `import { it } from "node:test";\n${tests.join("")}`);
  return path;
}

/** The runtimes an example runs on, with the flags each needs. */
function commandsFor(path: string, text: string): [string, string, string[]][] {
  const permissions = new RegExp(`deno run ((?:-\\S+ )*)${path.replaceAll(".", "\\.")}`).exec(text)?.[1];
  const flags = permissions?.trim().split(/\s+/) ?? ["-A"];
  return [
    ["Node 24", TOOLS.node24, [FROM_SOURCE, path]],
    ["Deno", TOOLS.deno, ["run", "--no-prompt", ...flags, path]],
    ["Bun", TOOLS.bun, [FROM_SOURCE, path]],
  ];
}

/** Runs every example to its end on every runtime; Deno gets the permissions the file itself names. */
export async function examplesStep(): Promise<Outcome> {
  const examples = files("examples/*.ts");
  if (examples.length === 0) return NONE;
  const outcomes: Outcome[] = [];
  const noBroker = await missing("rabbitmq");
  for (const path of examples) {
    const text = read(path);
    for (const [runtime, command, args] of commandsFor(path, text)) {
      const name = `${path} on ${runtime}`;
      console.log(`-- ${name}`);
      if (/^ \* Needs: RabbitMQ/m.test(text) && noBroker !== false) {
        outcomes.push(skipped(name, noBroker));
        continue;
      }
      const code = await run(command, args, { timeoutMs: 120_000 });
      outcomes.push(code === 0 ? passed(1) : failed(name, `Ended with ${code}`));
    }
  }
  return sum(outcomes);
}

function read(path: string): string {
  return readFileSync(ROOT + path, "utf8");
}
