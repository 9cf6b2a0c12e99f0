/**
 * A program of `programs/` in a process of its own, which can be killed.
 *
 * @module
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { until } from "./until.ts";

/** It runs when it is made, on the runtime that made it. */
export class ChildProgram {
  /** What it has printed. */
  readonly lines: string[] = [];
  readonly #child;
  readonly #over: Promise<unknown>;

  constructor(name: string, args: readonly string[]) {
    const script = fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url));
    const run = "Deno" in globalThis ? ["run", "--no-check", "-A"] : [];
    this.#child = spawn(process.execPath, [...run, script, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.#over = once(this.#child, "close");
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.lines.push(line));
  }

  get pid(): number {
    return this.#child.pid ?? assert.fail("It runs");
  }

  /** Waits until it has printed a line; a process may take its time to begin. */
  async line(what: string, is: (line: string) => boolean): Promise<string> {
    return await until(what, () => this.lines.find(is), { timeoutMs: 60_000 });
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    // Deno's `kill` of a child takes every signal for the child's end.
    process.kill(this.pid, name);
  }

  /** A line of input. */
  tell(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#over;
  }

  /** Waits for its end. */
  async ended(): Promise<void> {
    await this.#over;
  }

  /** Ends its input, which tells it to finish what it has in hand, and waits for its end. */
  async leave(): Promise<void> {
    this.#child.stdin.end();
    await this.#over;
  }
}
