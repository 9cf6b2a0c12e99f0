/**
 * How a bench measures: contestants in one process, one round after the other, each round by everybody.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";

/** What one contestant did in one round. */
export interface Sample {
  readonly perSecond: number;
  /** Processor time of this process, user and system, microseconds for each message. */
  readonly cpuUs: number;
}

/** The samples of each contestant, in the order of the rounds. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Somebody who can be measured. */
export interface Contestant {
  readonly name: string;
}

/** The counted section of a round: processor and wall time between `start` and `stop`, and nothing around them. */
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
 * Lets everybody run in every round. The first round warms up and is not counted; each round begins with another contestant, so
 * that nobody always follows the same one.
 */
export async function runRounds<C extends Contestant>(
  contestants: readonly C[],
  rounds: number,
  measure: (contestant: C) => Sample | Promise<Sample>,
): Promise<Samples> {
  const samples = new Map<string, Sample[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const contestant = contestants[(round + turn) % contestants.length] as C;
      const sample = await measure(contestant);
      if (round > 0) samples.get(contestant.name)?.push(sample);
    }
  }
  return samples;
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
