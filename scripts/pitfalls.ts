/**
 * Which known pitfall is named by which test.
 *
 * `npm run pitfalls` prints every row of `tests/pitfalls.json` with the test files whose titles name its id.
 * `npm run pitfalls -- --require retry,BRK` prints only those areas or id prefixes, and exits 1 while a row of them is
 * named by no test.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import ts from "typescript";
import { files, ROOT } from "./gate/tools.ts";

/** One row of the lists of pitfalls. */
export interface Pitfall {
  readonly id: string;
  /** One or several areas, separated by commas or slashes. */
  readonly area: string;
  readonly source: string;
}

const TEST_FUNCTIONS: ReadonlySet<string> = new Set(["describe", "it", "test", "suite"]);
const ID = /\b[A-Z]{2,4}-\d{2,}\b/g;

/** The ids in the titles of the tests in a file; an id in a comment or in any other text does not count. */
export function idsInTitles(text: string): Set<string> {
  const ids = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTestFunction(node.expression)) {
      for (const [id] of titleOf(node).matchAll(ID)) ids.add(id);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("test.ts", text, ts.ScriptTarget.Latest, true));
  return ids;
}

/** Whether a row belongs to an area, given by its name or by the letters of its id. */
export function isInArea({ id, area }: Pitfall, wanted: string): boolean {
  const word = wanted.trim().replace(/-$/, "").toLowerCase();
  if (id.toLowerCase() === word || id.toLowerCase().startsWith(`${word}-`)) return true;
  return [area, ...area.split(/[,/]/)].some((part) => part.trim().toLowerCase() === word);
}

/** `it`, `it.skip`, `t.test` and the like. */
function isTestFunction(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return TEST_FUNCTIONS.has(callee.text);
  if (!ts.isPropertyAccessExpression(callee)) return false;
  return callee.name.text === "test" || isTestFunction(callee.expression);
}

function titleOf(call: ts.CallExpression): string {
  const [title] = call.arguments;
  return title === undefined ? "" : textOf(title);
}

function textOf(title: ts.Expression): string {
  if (ts.isStringLiteralLike(title)) return title.text;
  if (ts.isBinaryExpression(title)) return textOf(title.left) + textOf(title.right);
  if (!ts.isTemplateExpression(title)) return "";
  return [title.head, ...title.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(" ");
}

/** Ids that look like rows but are none, so that a slip of the pen does not pass for a test. */
function unknownIds(ids: ReadonlySet<string>, all: readonly Pitfall[]): string[] {
  const letters = new Set(all.map(({ id }) => id.split("-")[0]));
  return [...ids].filter((id) => letters.has(id.split("-")[0]) && !all.some((row) => row.id === id));
}

function main(): void {
  const { values } = parseArgs({ options: { require: { type: "string" } } });
  const all = JSON.parse(readFileSync(`${ROOT}tests/pitfalls.json`, "utf8")) as Pitfall[];
  const areas = values.require?.split(",");
  const rows = areas === undefined ? all : all.filter((row) => areas.some((area) => isInArea(row, area)));
  const tests = files("tests/**/*.ts").map((path) => ({ path, ids: idsInTitles(readFileSync(ROOT + path, "utf8")) }));
  const unnamed = rows.filter(({ id }) => {
    const paths = tests.filter(({ ids }) => ids.has(id)).map(({ path }) => path);
    console.log(`${id.padEnd(7)} ${paths.length === 0 ? "-" : paths.join(" ")}`);
    return paths.length === 0;
  });
  const unknown = tests.flatMap(({ path, ids }) => unknownIds(ids, all).map((id) => `${id} in ${path}`));
  const unmatched = (areas ?? []).filter((area) => !all.some((row) => isInArea(row, area)));
  for (const one of unknown) console.log(`No such row: ${one}`);
  for (const area of unmatched) console.log(`No row is in the area '${area}'`);
  if (unnamed.length > 0) console.log(`\nNamed by no test: ${unnamed.map(({ id }) => id).join(" ")}`);
  console.log(`\n${rows.length - unnamed.length} of ${rows.length} rows are named by a test`);
  if (areas !== undefined && unnamed.length + unknown.length + unmatched.length > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) main();
