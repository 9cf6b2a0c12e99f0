/**
 * Runs benches on runtimes, each in a process of its own, one after another, and says what they found.
 *
 *     npm run bench                       # everything, on every runtime
 *     npm run bench publish -- --runtime node,bun --rounds 9
 *     npm run bench -- --check consume    # exits 1 when a budget is missed
 *     npm run bench -- --json             # one JSON object a line, and nothing else, on standard output
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { TOOLS } from "../scripts/gate/tools.ts";
import type { BenchLine } from "./_line.ts";

const BENCHES: readonly string[] = [
  "publish",
  "consume",
  "envelope",
  "memory",
  "idempotency",
  "outbox",
  "codec",
  "encryption",
];

const RUNTIMES: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  node: [TOOLS.node24],
  deno: [
    TOOLS.deno,
    "run",
    "--no-check",
    "--allow-net",
    "--allow-env",
    "--allow-sys",
    "--allow-read",
    "--allow-write",
    "--allow-run",
  ],
  bun: [TOOLS.bun],
};

/** What was asked for on the command line. */
interface Wanted {
  readonly benches: readonly string[];
  readonly runtimes: readonly string[];
  readonly rounds: number;
  /** What only one of the benches understands, handed on to it. */
  readonly more: Readonly<Record<string, readonly string[]>>;
  readonly json: boolean;
  readonly check: boolean;
}

/** With fewer a median says little. */
const FEWEST_ROUNDS = 7;

function wanted(): Wanted {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      runtime: { type: "string", default: Object.keys(RUNTIMES).join(",") },
      rounds: { type: "string", default: String(FEWEST_ROUNDS) },
      rows: { type: "string" },
      relays: { type: "string" },
    },
  });
  const { json, check, rows, relays } = values;
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError(`Cannot run '${values.rounds}' rounds`);
  if (check && rounds < FEWEST_ROUNDS) throw new RangeError(`Cannot check with fewer than ${FEWEST_ROUNDS} rounds`);
  const benches = positionals.length === 0 ? BENCHES : known("bench", positionals, BENCHES);
  const outbox = Object.entries({ rows, relays }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value]
  );
  return {
    benches,
    runtimes: known("runtime", values.runtime.split(","), Object.keys(RUNTIMES)),
    rounds,
    more: { outbox },
    json,
    check,
  };
}

function known(what: string, names: readonly string[], all: readonly string[]): readonly string[] {
  const stranger = names.find((name) => !all.includes(name));
  if (stranger === undefined) return names;
  throw new RangeError(`Cannot find the ${what} '${stranger}': there are ${all.join(", ")}`);
}

/** Runs one bench on one runtime and hands over each line as it comes. */
async function runBench(
  bench: string,
  runtime: string,
  { options, hear }: { readonly options: readonly string[]; readonly hear: (line: BenchLine) => void },
): Promise<void> {
  const [command, ...args] = RUNTIMES[runtime] ?? [""];
  const program = fileURLToPath(new URL(`${bench}_bench.ts`, import.meta.url));
  const child = spawn(command, [...args, program, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  for await (const line of createInterface(child.stdout)) hear(JSON.parse(line) as BenchLine);
  const code = await ended;
  if (code !== 0) throw new Error(`Cannot finish the bench '${bench}' on ${runtime}: it ended with ${code}`);
}

function describe(line: BenchLine): string {
  const { unit, ours, bare, ratio, spread, difference } = line;
  const over = unit === "us CPU/message" ? `, ${difference < 0 ? "" : "+"}${difference}` : "";
  const peers = Object.entries(line.peers)
    .map(([name, peer]) => `; ${name} ${peer.value}: ${peer.ratio} [${peer.spread.join(" to ")}]`);
  const title = `${line.bench} on ${line.runtime}, ${line.case}, ${unit}`;
  return `${title.padEnd(75)} ours ${ours}, bare ${bare}: ${ratio} [${spread.join(" to ")}]${over}${peers.join("")}`;
}

async function main(): Promise<void> {
  const { benches, runtimes, rounds, more, json, check } = wanted();
  const missed: string[] = [];
  const hear = (line: BenchLine): void => {
    console.log(json ? JSON.stringify(line) : describe(line));
    missed.push(...line.missed.map((budget) => `${line.bench} on ${line.runtime}, ${line.case}: wanted ${budget}`));
  };
  for (const bench of benches) {
    const options = ["--rounds", String(rounds), ...more[bench] ?? []];
    for (const runtime of runtimes) await runBench(bench, runtime, { options, hear });
  }
  for (const miss of missed) console.error(`Missed: ${miss}`);
  if (check && missed.length > 0) process.exitCode = 1;
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
