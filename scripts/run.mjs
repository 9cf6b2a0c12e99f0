/**
 * Runs one of the project's TypeScript programs on the pinned Node, installing it first where it is missing.
 *
 * `node scripts/run.mjs examples/demo.ts --json` works with any Node, Deno or Bun, since only this file and
 * `ensure_installed.mjs` run there. Our own package name resolves to the sources in this checkout.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./ensure_installed.mjs";

/** The Node that comes with the lock is a Linux x64 binary; elsewhere the machine's own has to strip types. */
function pinnedNode() {
  const pinned = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url));
  return existsSync(pinned) ? pinned : "node";
}

ensureInstalled();
// npm takes the `--` that separates its own arguments away, Deno passes it on.
const [program, ...args] = process.argv.slice(2);
if (args[0] === "--") args.shift();
const child = spawn(pinnedNode(), ["--conditions=@acemq/source", program, ...args], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`Cannot start Node: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
