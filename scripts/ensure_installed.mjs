/**
 * Installs from the lock what is missing, and does nothing when everything is there.
 *
 * Plain JavaScript, because it runs on whatever Node, Deno or Bun a machine has before the pinned ones are installed.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

function packagesIn(path) {
  try {
    return JSON.parse(readFileSync(root + path, "utf8")).packages;
  } catch {
    return {};
  }
}

/**
 * Whether what is installed covers what the lock names. npm keeps its own copy of the lock in `node_modules`, without
 * the packages for other platforms; times would not do, since a checkout makes every file new.
 */
export function covers(installed, lock) {
  return Object.entries(lock).every(([path, wanted]) => {
    const found = installed[path];
    if (found === undefined) return path === "" || wanted.optional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

export function ensureInstalled() {
  const installed = packagesIn("node_modules/.package-lock.json");
  if (Object.keys(installed).length > 0 && covers(installed, packagesIn("package-lock.json"))) return;
  console.error("Installing from package-lock.json (once)");
  const { status, error } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: root, stdio: "inherit" });
  if (error !== undefined) throw new Error(`Cannot run 'npm ci': ${error.message}`);
  if (status !== 0) throw new Error(`Cannot install from package-lock.json: 'npm ci' ended with ${status}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureInstalled();
