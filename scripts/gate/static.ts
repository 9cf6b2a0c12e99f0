/**
 * What can be judged without running a test: format, lint, types, documentation, what JSR accepts.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import type { Outcome } from "./outcome.ts";
import { failed, NONE, passed } from "./outcome.ts";
import { files, ROOT, run, TOOLS } from "./tools.ts";

/** A command that is one check. */
export async function check(name: string, command: string, args: readonly string[]): Promise<Outcome> {
  const code = await run(command, args);
  return code === 0 ? passed(1) : failed(name, `Ended with ${code}`);
}

/** The entry points of `deno.json` that exist. */
export function entryPoints(): string[] {
  const { exports } = JSON.parse(readFileSync(`${ROOT}deno.json`, "utf8")) as { exports: Record<string, string> };
  return Object.values(exports).filter((path) => existsSync(ROOT + path));
}

export const STATIC_STEPS: Readonly<Record<string, () => Promise<Outcome>>> = {
  "fmt": () => check("deno fmt", TOOLS.deno, ["fmt", "--check"]),
  "lint": () => check("deno lint", TOOLS.deno, ["lint"]),
  "check": () => check("deno check", TOOLS.deno, ["check"]),
  "tsc": () => check("tsc", TOOLS.tsc, ["-p", "tsconfig.json"]),
  "tsc-src": () =>
    files("src/**/*.ts").length === 0 ? nothing() : check("tsc of src", TOOLS.tsc, ["-p", "tsconfig.src.json"]),
  "doc-lint": () => {
    const entries = entryPoints();
    return entries.length === 0
      ? nothing()
      : check("deno doc --lint", TOOLS.deno, ["doc", "--quiet", "--lint", ...entries]);
  },
  "publish": () => {
    if (entryPoints().length === 0) return nothing();
    return check("deno publish", TOOLS.deno, ["publish", "--dry-run", "--allow-dirty"]);
  },
};

function nothing(): Promise<Outcome> {
  return Promise.resolve(NONE);
}
