/**
 * The pinned tools, and how the gate runs them: everything they print is printed.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The repository, with a closing slash. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** Scratch space inside the repository, ignored by git: our own package name resolves there. */
export const CACHE: string = `${ROOT}.cache/`;

/** Our package name means the sources of this checkout. */
export const FROM_SOURCE = "--conditions=@acemq/source";

const BIN = `${ROOT}node_modules/.bin/`;

/** What the lock pins. A Node has no binary for every platform; the one that runs this stands in for Node 24. */
export const TOOLS: Readonly<Record<"deno" | "bun" | "tsc" | "node24" | "node22" | "node20", string>> = {
  deno: `${BIN}deno`,
  bun: `${BIN}bun`,
  tsc: `${BIN}tsc`,
  node24: existsSync(`${BIN}node`) ? `${BIN}node` : process.execPath,
  node22: `${ROOT}node_modules/node22/bin/node`,
  node20: `${ROOT}node_modules/node20/bin/node`,
};

/** How a command runs: where, with what added to the environment, and for how long at most. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Everything it prints goes to standard error: standard output is for something else. @default {false} */
  readonly aside?: boolean;
  /** @default {1_500_000} */
  readonly timeoutMs?: number;
}

/** Runs a command to its end, passing on its output, and answers with its exit code. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<number> {
  const { cwd = ROOT, env = {}, aside = false, timeoutMs = 1_500_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", aside ? 2 : 1, 2],
      detached: true,
    });
    const timer = setTimeout(() => {
      console.log(`Killed after ${timeoutMs / 1000} s: ${command} ${args.slice(0, 3).join(" ")}`);
      killGroup(child.pid);
    }, timeoutMs);
    const interrupted = (): void => {
      killGroup(child.pid);
      process.exit(130);
    };
    process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
      resolve(code ?? 1);
    });
  });
}

/** The repository's files that match a pattern, sorted. */
export function files(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).map((path) => path.replaceAll("\\", "/")).sort();
}

/** A runner starts processes of its own; they end with it. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group ended by itself in the meantime.
  }
}
