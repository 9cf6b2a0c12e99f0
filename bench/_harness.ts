/**
 * How a bench measures: contestants in one process, one round after the other, each round by everybody.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";

/** What one contestant did in one turn, or in one round. */
export interface Sample {
  readonly perSecond: number;
  /** Processor time of this process, user and system, microseconds for each message. */
  readonly cpuUs: number;
  /** How long each message took, of which half and all but one in a hundred took no longer; where a case measures it. Milliseconds. */
  readonly latencyMs?: { readonly p50: number; readonly p99: number };
}

/** The samples of each contestant, in the order of the rounds. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Somebody who can be measured. */
export interface Contestant {
  readonly name: string;
}

/** The counted section of a turn: processor and wall time between `start` and `stop`, and nothing around them. */
export class Stopwatch {
  #startedMs = 0;
  #cpu: NodeJS.CpuUsage = { user: 0, system: 0 };

  start(): void {
    this.#cpu = process.cpuUsage();
    this.#startedMs = performance.now();
  }

  stop(messages: number): Sample {
    const seconds = (performance.now() - this.#startedMs) / 1_000;
    const { user, system } = process.cpuUsage();
    return {
      perSecond: messages / seconds,
      cpuUs: (user - this.#cpu.user + system - this.#cpu.system) / messages,
    };
  }
}

/**
 * Lets everybody run in every round, in turns: the more turns a round has, the less it matters what else the machine does. Each
 * time another contestant begins, so that nobody always follows the same one. The first round warms up and is not counted.
 */
export async function runRounds<C extends Contestant>(
  contestants: readonly C[],
  { rounds, turns = 1 }: { readonly rounds: number; readonly turns?: number },
  measure: (contestant: C) => Sample | Promise<Sample>,
): Promise<Samples> {
  const samples = new Map<string, Sample[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    const taken = new Map<string, Sample[]>(contestants.map(({ name }) => [name, []]));
    for (let turn = 0; turn < turns; turn++) {
      for (const contestant of rotated(contestants, round * turns + turn)) {
        taken.get(contestant.name)?.push(await measure(contestant));
      }
    }
    for (const [name, ofRound] of taken) if (round > 0) samples.get(name)?.push(together(ofRound));
  }
  return samples;
}

function rotated<C>(contestants: readonly C[], by: number): readonly C[] {
  const first = by % contestants.length;
  return [...contestants.slice(first), ...contestants.slice(0, first)];
}

/** Turns have the same number of messages each, so it is their times that add up. */
function together(turns: readonly Sample[]): Sample {
  const sum = (of: (turn: Sample) => number): number => turns.reduce((total, turn) => total + of(turn), 0);
  return {
    perSecond: turns.length / sum(({ perSecond }) => 1 / perSecond),
    cpuUs: sum(({ cpuUs }) => cpuUs) / turns.length,
  };
}

/** Sends so many messages that the window is full from the first to the last: one that is confirmed makes room for the next. */
export async function keepInFlight(
  send: () => Promise<unknown>,
  { messages, window }: { readonly messages: number; readonly window: number },
): Promise<void> {
  let left = messages;
  const oneAfterTheOther = async (): Promise<void> => {
    while (left-- > 0) await send();
  };
  await Promise.all(Array.from({ length: window }, oneAfterTheOther));
}

/** The runtime this process runs on, as `--runtime` names it. */
export function runtimeName(): string {
  if ("deno" in process.versions) return "deno";
  return "bun" in process.versions ? "bun" : "node";
}

/** The number of counted rounds a bench was started with. */
export function roundsFromArguments(): number {
  const { values } = parseArgs({ options: { rounds: { type: "string", default: "7" } } });
  return Number(values.rounds);
}
