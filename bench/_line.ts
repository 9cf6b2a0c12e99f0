/**
 * What a bench says: one line for each case and unit, ratios taken round by round, and the budget it has to keep.
 *
 * @module
 */
import { runtimeName, type Sample, type Samples } from "./_harness.ts";

/** The library, and what it is measured against, by their names in the samples. */
export const OURS = "ours";
export const BARE = "bare";

/** Ours against another client: the median of the rounds' ratios and their quartiles. */
export interface Comparison {
  readonly ratio: number;
  readonly spread: readonly [number, number];
}

/** One result. Figures are medians over the rounds; `ratio` is ours to bare. */
export interface BenchLine extends Comparison {
  readonly bench: string;
  readonly case: string;
  readonly runtime: string;
  readonly unit: Unit;
  readonly ours: number;
  readonly bare: number;
  readonly rounds: number;
  /** Ours minus bare, in the line's unit. */
  readonly difference: number;
  /** The other clients of the same rounds. */
  readonly peers: Readonly<Record<string, Comparison & { readonly value: number }>>;
  /** Budgets that were not kept; empty where all were, or none is set. */
  readonly missed: readonly string[];
}

/** What is compared. */
export type Unit = "messages/s" | "us CPU/message" | "s/10,000" | "ms p50" | "ms p99";

/** What a case has to keep; a bound that is not there is not checked. */
export interface Budget {
  /** Processor time on top of the bare client, microseconds for each message. */
  readonly cpuOverBareUs?: number;
  /** Processor time, as a part of the bare one; also kept where the spread reaches it. */
  readonly cpuToBare?: number;
  /** Processor time altogether, microseconds for each message. */
  readonly cpuUs?: number;
  /** Rate, as a part of the bare client's; also kept where the spread reaches it. */
  readonly rateToBare?: number;
  /** A client whose rate has to be surpassed; also kept where the spread reaches it. */
  readonly aheadOf?: string;
  /** Seconds for 10,000 messages, as a part of the bare ones; also kept where the spread reaches it. */
  readonly timeToBare?: number;
  /** What all but one message in a hundred have to take less than. Milliseconds. */
  readonly p99Ms?: number;
}

/** A case that was measured. */
export interface MeasuredCase {
  readonly bench: string;
  readonly case: string;
  readonly budget: Budget;
}

const PICK: Readonly<Record<Unit, (sample: Sample) => number>> = {
  "messages/s": (sample) => sample.perSecond,
  "us CPU/message": (sample) => sample.cpuUs,
  "s/10,000": (sample) => 10_000 / sample.perSecond,
  "ms p50": (sample) => sample.latencyMs?.p50 ?? NaN,
  "ms p99": (sample) => sample.latencyMs?.p99 ?? NaN,
};

/** What a line of each unit is held to. */
const MISSED: Readonly<Record<Unit, (line: BenchLine, budget: Budget) => string[]>> = {
  "messages/s": missedRates,
  "us CPU/message": missedCpu,
  "s/10,000": missedTimes,
  "ms p50": () => [],
  "ms p99": ({ ours }, { p99Ms }) =>
    p99Ms === undefined || ours < p99Ms ? [] : [`less than ${p99Ms} ms for all but one in a hundred, found ${ours}`],
};

/** The line of one case in one unit. */
export function lineOf(measured: MeasuredCase, unit: Unit, samples: Samples): BenchLine {
  const of = (name: string): number[] => (samples.get(name) ?? []).map(PICK[unit]);
  const ours = of(OURS);
  const bare = of(BARE);
  const others = [...samples.keys()].filter((name) => name !== OURS && name !== BARE);
  const line: BenchLine = {
    bench: measured.bench,
    case: measured.case,
    runtime: runtimeName(),
    unit,
    ours: round(median(ours)),
    bare: round(median(bare)),
    ...compare(ours, bare),
    rounds: ours.length,
    difference: round(median(ours.map((value, index) => value - (bare[index] ?? 0)))),
    peers: Object.fromEntries(
      others.map((name) => [name, { value: round(median(of(name))), ...compare(ours, of(name)) }]),
    ),
    missed: [],
  };
  return { ...line, missed: MISSED[unit](line, measured.budget) };
}

function missedCpu(line: BenchLine, { cpuOverBareUs, cpuToBare, cpuUs }: Budget): string[] {
  const missed: string[] = [];
  if (cpuOverBareUs !== undefined && line.difference > cpuOverBareUs) {
    missed.push(`at most ${cpuOverBareUs} us of CPU over the bare client, found ${line.difference}`);
  }
  if (cpuToBare !== undefined && line.ratio > cpuToBare && line.spread[0] > cpuToBare) {
    missed.push(`at most ${cpuToBare} of the bare CPU, found ${line.ratio}`);
  }
  if (cpuUs !== undefined && line.ours > cpuUs) missed.push(`at most ${cpuUs} us of CPU, found ${line.ours}`);
  return missed;
}

function missedRates(line: BenchLine, { rateToBare, aheadOf }: Budget): string[] {
  const missed: string[] = [];
  if (rateToBare !== undefined && !reaches(line, rateToBare)) {
    missed.push(`at least ${rateToBare} of the bare client's rate, found ${line.ratio}`);
  }
  const rival = aheadOf === undefined ? undefined : line.peers[aheadOf];
  if (rival !== undefined && !reaches(rival, 1)) missed.push(`ahead of ${aheadOf}, found ${rival.ratio} of its rate`);
  return missed;
}

function missedTimes({ ratio, spread }: BenchLine, { timeToBare }: Budget): string[] {
  if (timeToBare === undefined || ratio <= timeToBare || spread[0] <= timeToBare) return [];
  return [`at most ${timeToBare} of the bare time, found ${ratio}`];
}

function reaches({ ratio, spread }: Comparison, bound: number): boolean {
  return ratio >= bound || spread[1] >= bound;
}

function compare(ours: readonly number[], theirs: readonly number[]): Comparison {
  const ratios = ours.map((value, index) => value / (theirs[index] ?? NaN));
  return { ratio: round(median(ratios)), spread: [round(quantile(ratios, 0.25)), round(quantile(ratios, 0.75))] };
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A part of the values is no larger; between two of them the straight line. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** Three digits that mean something: more would promise what a shared machine cannot hold. */
function round(value: number): number {
  return Number(value.toPrecision(value >= 1_000 ? 4 : 3));
}
