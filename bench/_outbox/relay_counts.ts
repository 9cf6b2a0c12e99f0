/**
 * Several relay processes over one table.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Contestant, runRounds, runtimeName, type Sample, Stopwatch } from "../_harness.ts";
import { BARE, lineOf, OURS } from "../_line.ts";
import type { Queues } from "../_queues.ts";
import { assertArrived, type Target } from "./drains.ts";
import { counted } from "./movers.ts";
import type { BenchDatabase } from "./stores.ts";

const TABLE = "shared";

/** What is asked. */
export interface RelayCounts {
  readonly rounds: number;
  readonly relays: readonly number[];
  readonly queues: Queues;
  readonly target: Target;
}

/** So many relays. */
interface Fleet extends Contestant {
  readonly relays: number;
}

/** Prints a line for each number of relays, against one of them. */
export async function measureRelayCounts(
  { rounds, relays, queues, target }: RelayCounts,
  database: BenchDatabase,
): Promise<void> {
  const outbox = await database.open(TABLE);
  const fleets = [1, ...relays].map((count): Fleet => ({ name: String(count), relays: count }));
  const samples = await runRounds(fleets, { rounds }, async ({ relays: count }) => {
    await outbox.fill(target.rows);
    const sample = await drainBy(count, database.address, target.rows.length);
    await assertArrived(queues, target);
    return sample;
  });
  for (const count of relays) {
    const name = `${database.title} to a ${target.kind} queue, ${count} relays`;
    const compared = new Map([[OURS, samples.get(String(count)) ?? []], [BARE, samples.get("1") ?? []]]);
    console.log(JSON.stringify(lineOf({ bench: "outbox", case: name, budget: {} }, "s/10,000", compared)));
  }
}

/** From the word to begin until the last of them says that nothing is left. */
async function drainBy(count: number, address: string, rows: number): Promise<Sample> {
  const children = Array.from({ length: count }, () => startRelay(address));
  await Promise.all(children.map(({ line }) => line()));
  const stopwatch = new Stopwatch();
  stopwatch.start();
  for (const { child } of children) child.stdin?.write("begin\n");
  const published = await Promise.all(children.map(async ({ line }) => Number(await line())));
  const sample = stopwatch.stop(rows);
  await Promise.all(children.map(({ ended }) => ended));
  const found = published.reduce((sum, part) => sum + part, 0);
  return counted(sample, { name: `${count} relays`, found, wanted: rows });
}

/** A relay process, and the next line it prints. */
interface RelayProcess {
  readonly child: ChildProcess;
  readonly line: () => Promise<string>;
  readonly ended: Promise<void>;
}

function startRelay(address: string): RelayProcess {
  const program = fileURLToPath(new URL("relay_program.ts", import.meta.url));
  const flags = runtimeName() === "deno" ? ["run", "--no-check", "-A"] : [];
  const child = spawn(process.execPath, [...flags, program, address, TABLE], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", reject).once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`Cannot count the turn: a relay process ended with ${code}`));
    });
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error("Cannot count the turn: a relay process ended early");
    return value;
  };
  return { child, line, ended };
}
