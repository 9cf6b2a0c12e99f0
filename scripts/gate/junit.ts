/**
 * Reads the JUnit reports of three runners, which agree on little but the element names.
 *
 * @module
 */
import type { Exception, Outcome } from "./outcome.ts";

/** One test; the name is its path, from the file over the suites to its own title. */
export interface TestCase {
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly reason: string;
}

const ELEMENT = /<(\/?)(testsuite|testcase|failure|error|skipped)\b((?:\s+[\w:]+="[^"]*")*)\s*(\/?)>/g;
const ATTRIBUTE = /([\w:]+)="([^"]*)"/g;
/** Between the parts of a test's name. */
export const SEPARATOR = " > ";

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", "#10": "\n" };

/** Counts the tests of a report. */
export function readJunit(xml: string): Outcome {
  const tests = readTests(xml);
  const inState = (state: TestCase["state"]): Exception[] =>
    tests.filter((one) => one.state === state).map(({ name, reason }) => ({ name, reason }));
  return { passed: inState("passed").length, failures: inState("failed"), skips: inState("skipped") };
}

/** The tests of a report. A suite is no test, unless it failed with no test of its own to blame. */
export function readTests(xml: string): TestCase[] {
  const cases = testCases(xml);
  return cases.filter((one) => !isSuite(one, cases));
}

function testCases(xml: string): TestCase[] {
  const cases: TestCase[] = [];
  const suites: string[] = [];
  for (const [, closing, element, text = "", empty] of xml.matchAll(ELEMENT)) {
    const attributes = readAttributes(text);
    const current = cases.at(-1);
    if (element === "testsuite") {
      if (closing !== "") suites.pop();
      else if (empty === "") suites.push(attributes.get("name") ?? "");
    } else if (closing === "" && element === "testcase") {
      const name = [...suites.filter((suite) => !isFileName(suite)), attributes.get("name") ?? ""].join(SEPARATOR);
      cases.push({ name: fileOf(attributes) + name, state: "passed", reason: "" });
    } else if (closing === "" && current !== undefined) {
      const [reason = ""] = (attributes.get("message") ?? "").trim().split("\n");
      cases[cases.length - 1] = { ...current, state: element === "skipped" ? "skipped" : "failed", reason };
    }
  }
  return cases;
}

/** Deno lists suites as cases, beside their tests: "suite" and "suite > test", and names no file for the tests. */
function isSuite(one: TestCase, cases: readonly TestCase[]): boolean {
  const members = cases.filter(({ name }) => name.startsWith(one.name + SEPARATOR));
  if (members.length === 0) return false;
  return one.state !== "failed" || members.some(({ state }) => state === "failed");
}

/** Bun and Deno make each file a suite, Deno also one that only registers tests; Node and Bun name it in an attribute. */
function isFileName(suite: string): boolean {
  return /\.m?[jt]s$/.test(suite);
}

function fileOf(attributes: ReadonlyMap<string, string>): string {
  const [file] = /tests\/.*$/.exec(attributes.get("file") ?? "") ?? [];
  return file === undefined ? "" : `${file}: `;
}

function readAttributes(text: string): Map<string, string> {
  return new Map([...text.matchAll(ATTRIBUTE)].map(([, name = "", value = ""]) => [name, unescape(value)]));
}

function unescape(text: string): string {
  return text.replace(/&([#\w]+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
