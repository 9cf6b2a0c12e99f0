/** A budget is checked against what the rounds spread over, so that noise neither passes nor fails it by luck. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Sample } from "../../bench/_harness.ts";
import { BARE, type BenchLine, type Budget, lineOf, OURS } from "../../bench/_line.ts";

/** Rounds in which the others always reach the same rate, and we the given parts of it. */
function rates(parts: readonly number[], budget: Budget = { rateToBare: 0.95 }): BenchLine {
  const of = (perSecond: number): Sample => ({ perSecond, cpuUs: 10 });
  const others = parts.map(() => of(10_000));
  const samples = new Map([[OURS, parts.map((part) => of(10_000 * part))], [BARE, others], ["rival", others]]);
  return lineOf({ bench: "publish", case: "window 100", budget }, "messages/s", samples);
}

/** Rounds in which the bare client always takes 30 us, and we so much more. */
function cpu(differences: readonly number[]): BenchLine {
  const of = (cpuUs: number): Sample => ({ perSecond: 10_000, cpuUs });
  const samples = new Map([[OURS, differences.map((more) => of(30 + more))], [BARE, differences.map(() => of(30))]]);
  return lineOf({ bench: "publish", case: "window 100", budget: { cpuOverBareUs: 8 } }, "us CPU/message", samples);
}

/** Rounds in which a library alone always takes 10 us, and its codec the given parts of it. */
function ratios(parts: readonly number[]): BenchLine {
  const of = (cpuUs: number): Sample => ({ perSecond: 10_000, cpuUs });
  const samples = new Map([[OURS, parts.map((part) => of(10 * part))], [BARE, parts.map(() => of(10))]]);
  return lineOf({ bench: "codec", case: "yaml, read", budget: { cpuToBare: 1.1 } }, "us CPU/message", samples);
}

/** Rounds in which the two halves of a drain always take four seconds for 10,000 rows, and we the given parts of that. */
function times(parts: readonly number[]): BenchLine {
  const of = (seconds: number): Sample => ({ perSecond: 10_000 / seconds, cpuUs: 10 });
  const samples = new Map([[OURS, parts.map((part) => of(4 * part))], [BARE, parts.map(() => of(4))]]);
  return lineOf({ bench: "outbox", case: "to a quorum queue", budget: { timeToBare: 0.8 } }, "s/10,000", samples);
}

/** Rounds in which the slowest message but one in a hundred took so long. */
function latencies(p99s: readonly number[]): BenchLine {
  const of = (p99: number): Sample => ({ perSecond: 10, cpuUs: 10, latencyMs: { p50: 1, p99 } });
  const samples = new Map([[OURS, p99s.map(of)], [BARE, p99s.map(() => of(1))]]);
  return lineOf({ bench: "outbox", case: "commit to queue", budget: { p99Ms: 10 } }, "ms p99", samples);
}

describe("the check of a bench's budget", () => {
  it("keeps a median below the bound when the spread of the rounds reaches it [DOC-14]", () => {
    const { ratio, spread, missed } = rates([0.86, 0.88, 0.9, 0.93, 0.96, 0.98, 1.0]);
    assert.deepEqual([ratio, spread], [0.93, [0.89, 0.97]]);
    assert.deepEqual(missed, []);
  });

  it("misses it when the whole spread lies below the bound, however little is missing [DOC-14]", () => {
    const { ratio, spread, missed } = rates([0.92, 0.93, 0.93, 0.94, 0.94, 0.94, 0.945]);
    assert.deepEqual([ratio, spread], [0.94, [0.93, 0.94]]);
    assert.deepEqual(missed, ["at least 0.95 of the bare client's rate, found 0.94"]);
  });

  it("is not moved by one round that went wrong, in either direction [DOC-14]", () => {
    assert.deepEqual(rates([0.97, 0.97, 0.97, 0.97, 0.97, 0.97, 0.1]).missed, []);
    assert.equal(rates([0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 5]).missed.length, 1);
  });

  it("bounds the CPU as a part of the bare one in the same way [DOC-14]", () => {
    assert.deepEqual(ratios([1.05, 1.08, 1.09, 1.12, 1.15, 1.2, 1.3]).missed, []);
    assert.deepEqual(ratios([1.11, 1.12, 1.12, 1.13, 1.15, 1.2, 1.3]).missed, [
      "at most 1.1 of the bare CPU, found 1.13",
    ]);
  });

  it("asks the same of a rival that has to be surpassed [DOC-14]", () => {
    const ahead = { aheadOf: "rival" };
    assert.deepEqual(rates([0.9, 0.95, 0.97, 0.98, 1.02, 1.05, 1.1], ahead).missed, []);
    assert.deepEqual(rates([0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96], ahead).missed, [
      "ahead of rival, found 0.93 of its rate",
    ]);
  });

  it("compares round by round, since a machine that slows down slows everybody down [DOC-14]", () => {
    const of = (perSecond: number): Sample => ({ perSecond, cpuUs: 10 });
    const bare = [10_000, 9_000, 8_000, 5_000, 4_000, 3_000, 2_000];
    const samples = new Map([[OURS, bare.map((rate) => of(0.99 * rate))], [BARE, bare.map(of)]]);
    const measured = { bench: "publish", case: "window 100", budget: { rateToBare: 0.95 } };
    const { ratio, spread } = lineOf(measured, "messages/s", samples);
    assert.deepEqual([ratio, spread], [0.99, [0.99, 0.99]]);
  });

  it("holds processor time to its median", () => {
    assert.deepEqual(cpu([6, 7, 7, 7.9, 8.5, 9, 12]).missed, []);
    assert.deepEqual(cpu([6, 7, 7, 8.1, 8.5, 9, 12]).missed, ["at most 8 us of CPU over the bare client, found 8.1"]);
  });

  it("holds times to at most a part of the bare ones, as the spread allows [DOC-14]", () => {
    const within = times([0.7, 0.74, 0.78, 0.79, 0.8, 0.85, 0.9]);
    assert.deepEqual([within.ours, within.bare, within.ratio, within.missed], [3.16, 4, 0.79, []]);
    assert.deepEqual(times([0.7, 0.78, 0.8, 0.83, 0.85, 0.9, 0.95]).missed, []);
    assert.deepEqual(times([0.79, 0.81, 0.83, 0.83, 0.85, 0.9, 0.95]).missed, [
      "at most 0.8 of the bare time, found 0.83",
    ]);
  });

  it("holds the slowest but one message in a hundred to its median over the rounds", () => {
    assert.deepEqual(latencies([4, 5, 6, 7, 9, 30, 80]).missed, []);
    assert.deepEqual(latencies([4, 5, 6, 10, 11, 12, 13]).missed, [
      "less than 10 ms for all but one in a hundred, found 10",
    ]);
  });
});
