/**
 * Any handlers over any policy, in virtual time: every message ends acknowledged, dead-lettered or parked, exactly once, after the
 * attempts its policy allows, numbered from 1. With the broker failing in between: at least once, and never nowhere.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { accept, park, reject, retry } from "../../src/consume/ack.ts";
import type { Handler } from "../../src/consume/interceptor.ts";
import { FatalError } from "../../src/errors.ts";
import { ladderOf } from "../../src/retry/ladder.ts";
import { exponentialRetry, fixedRetry, noRetry, type RetryPolicy, retrySchedule } from "../../src/retry/policy.ts";
import { MemoryWorld } from "../support/memory_world.ts";

const QUEUE = "orders.new";

/** What a handler does with one attempt. */
type Step =
  | { readonly does: "accept" | "return" | "throw" | "fatal" | "reject" | "park" | "nonsense" }
  | { readonly does: "retry"; readonly delayMs: number | undefined };

/** What a handler does with one message: a step an attempt, each after so long; it accepts when the script has ended. */
type Script = readonly (readonly [step: Step, tookMs: number])[];

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant("throw" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("retry" as const),
      delayMs: fc.constantFrom(undefined, 0, 1, 700, 5_000, 29_999, 30_000, 45_000, 60_000, 600_000),
    }),
  },
  fc.record({ does: fc.constantFrom("accept", "return", "fatal", "reject", "park", "nonsense") }),
);

const script: fc.Arbitrary<Script> = fc.array(fc.tuple(step, fc.constantFrom(0, 0, 0, 1, 250, 40_000)), {
  maxLength: 6,
});

const policy: fc.Arbitrary<RetryPolicy> = fc.oneof(
  fc.constant(noRetry()),
  fc.record({
    maxAttempts: fc.integer({ min: 1, max: 5 }),
    delayMs: fc.constantFrom(0, 1, 500, 5_000, 30_000, 60_000),
    brokerWaitThresholdMs: fc.constantFrom(0, 5_000, 30_000),
  }).map(({ maxAttempts, ...options }) => fixedRetry(maxAttempts, options)),
  fc.record({
    maxAttempts: fc.integer({ min: 1, max: 6 }),
    initialDelayMs: fc.constantFrom(1, 400, 1_000, 10_000),
    multiplier: fc.constantFrom(1, 2, 3),
    maxDelayMs: fc.constantFrom(0, 60_000),
    brokerWaitThresholdMs: fc.constantFrom(0, 1_000, 30_000),
  }).map(({ maxAttempts, ...options }) => exponentialRetry(maxAttempts, options)),
).filter((one) => {
  const inBroker = retrySchedule(one).filter((ms) => one.brokerWaitThresholdMs > 0 && ms >= one.brokerWaitThresholdMs);
  return inBroker.every((ms) => ms % 1_000 === 0);
});

interface Scene {
  readonly scripts: readonly Script[];
  readonly retry: RetryPolicy;
  readonly rungsMs: readonly number[];
  readonly concurrency: number;
  readonly prefetch: number;
}

const scene: fc.Arbitrary<Scene> = fc.record({
  scripts: fc.array(script, { minLength: 1, maxLength: 8 }),
  retry: policy,
  rungsMs: fc.subarray([60_000, 3_600_000]),
  concurrency: fc.integer({ min: 1, max: 4 }),
  prefetch: fc.integer({ min: 1, max: 10 }),
});

type Place = "acked" | "dlq" | "parked";

/** What must become of a message, by the contract alone. */
function expected(steps: Script, { maxAttempts }: RetryPolicy): { readonly place: Place; readonly attempts: number } {
  for (let attempt = 1;; attempt++) {
    const does = steps[attempt - 1]?.[0].does ?? "accept";
    if (does === "accept" || does === "return") return { place: "acked", attempts: attempt };
    if (does === "park") return { place: "parked", attempts: attempt };
    const isGivenUp = attempt >= maxAttempts || (does !== "throw" && does !== "retry");
    if (isGivenUp) return { place: "dlq", attempts: attempt };
  }
}

function perform(one: Step): ReturnType<Handler> {
  switch (one.does) {
    case "accept":
      return accept();
    case "return":
      return undefined;
    case "throw":
      throw new Error("no");
    case "fatal":
      throw new FatalError("never");
    case "reject":
      return reject("no");
    case "park":
      return park("whose?");
    case "nonsense":
      return 42 as never;
    case "retry":
      return retry("busy", one.delayMs === undefined ? {} : { delayMs: one.delayMs });
  }
}

/** One call of the handler. */
interface Call {
  readonly attempt: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** Consumes what the scene has, and keeps every call of the handler by message. */
async function play(world: MemoryWorld, { scripts, ...options }: Scene): Promise<Map<number, Call[]>> {
  const mq = await world.withQueue(QUEUE);
  const calls = new Map<number, Call[]>(scripts.map((_, index) => [index, []]));
  await mq.consume<number>(QUEUE, async ({ payload, envelope: { attempt } }) => {
    const [one, tookMs] = scripts[payload]?.[attempt - 1] ?? [{ does: "accept" }, 0];
    const startedMs = world.clock.elapsed();
    await world.clock.delay(tookMs);
    calls.get(payload)?.push({ attempt, startedMs, endedMs: world.clock.elapsed() });
    return await perform(one);
  }, options);
  scripts.forEach((_, index) => world.put(QUEUE, index));
  return calls;
}

function contents(world: MemoryWorld, queue: string): number[] {
  return world.waiting(queue).map(({ body }) => Number(new TextDecoder().decode(body))).sort((a, b) => a - b);
}

function leftOver(world: MemoryWorld): readonly string[] {
  return world.broker.queues.filter((name) => !name.endsWith(".dlq") && !name.endsWith(".parked"))
    .filter((name) => world.depth(name) + world.unsettled(name) > 0);
}

/** Longer than every script at every policy, one after the other. */
const LONG_ENOUGH_MS = 50_000_000;

describe("consuming", () => {
  it("takes every message where its handlers and its policy send it, exactly once, attempt by attempt", async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (one) => {
        const world = new MemoryWorld();
        const calls = await play(world, one);
        await world.clock.advance(LONG_ENOUGH_MS);

        const meant = one.scripts.map((steps) => expected(steps, one.retry));
        const at = (place: Place): number[] => meant.flatMap((what, index) => what.place === place ? [index] : []);
        assert.deepEqual(contents(world, `${QUEUE}.dlq`), at("dlq"));
        assert.deepEqual(contents(world, `${QUEUE}.parked`), at("parked"));
        assert.deepEqual(leftOver(world), []);
        for (const [index, { attempts }] of meant.entries()) {
          const numbers = calls.get(index)?.map(({ attempt }) => attempt);
          assert.deepEqual(numbers, Array.from({ length: attempts }, (_, n) => n + 1));
        }
        const { sink } = world;
        assert.equal(sink.count("acemq.consume.total", { outcome: "acked" }), at("acked").length);
        assert.equal(sink.count("acemq.consume.total"), meant.reduce((sum, { attempts }) => sum + attempts, 0));
        await world.close();
      }),
      { numRuns: 150 },
    );
  });

  it("waits at least as long as the policy or the handler said between two attempts", async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (one) => {
        const world = new MemoryWorld();
        const calls = await play(world, one);
        await world.clock.advance(LONG_ENOUGH_MS);
        const { rungsMs } = ladderOf(one.retry, one.rungsMs);
        for (const [index, made] of calls) {
          made.slice(1).forEach((call, before) => {
            const [failed] = one.scripts[index]?.[before] ?? [];
            const asked = failed?.does === "retry" ? failed.delayMs : undefined;
            // The longest rung there is stands in for a wait no rung is long enough for.
            const threshold = one.retry.brokerWaitThresholdMs;
            const isCapped = asked !== undefined && threshold > 0 && asked >= threshold && rungsMs.length > 0;
            const waitMs = asked === undefined ? retrySchedule(one.retry)[before] ?? 0 : asked;
            const leastMs = isCapped ? Math.min(waitMs, Math.max(...rungsMs)) : waitMs;
            const gapMs = call.startedMs - (made[before]?.endedMs ?? 0);
            assert.ok(gapMs >= leastMs, `${gapMs} ms instead of ${leastMs}`);
          });
        }
        await world.close();
      }),
      { numRuns: 100 },
    );
  });

  it("loses no message to a broker that fails in between, and never counts an attempt that was not made", async () => {
    const trouble = fc.array(
      fc.tuple(fc.constantFrom("lose", "nack", "unknown", "block"), fc.integer({ min: 1, max: 20_000 })),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(scene, trouble, async (one, troubles) => {
        const world = new MemoryWorld();
        const calls = await play(world, one);
        for (const [what, lastsMs] of troubles) {
          await world.clock.advance(lastsMs);
          if (what === "lose") await world.faults.lose();
          else if (what === "block") world.faults.blockedReason = "low on memory";
          else world.faults.onPublish = () => ({ outcome: what === "nack" ? "nacked" : "unknown", reason: what });
          await world.clock.advance(lastsMs);
          world.faults.onPublish = undefined;
          world.faults.blockedReason = undefined;
          if (what === "lose") await world.faults.recover();
        }
        await world.clock.advance(LONG_ENOUGH_MS);

        assert.deepEqual(leftOver(world), []);
        const [dead, parked] = [contents(world, `${QUEUE}.dlq`), contents(world, `${QUEUE}.parked`)];
        for (const [index, steps] of one.scripts.entries()) {
          const { place, attempts } = expected(steps, one.retry);
          const numbers = calls.get(index)?.map(({ attempt }) => attempt) ?? [];
          assert.equal(dead.includes(index), place === "dlq");
          assert.equal(parked.includes(index), place === "parked");
          assert.deepEqual([...new Set(numbers)].sort(), Array.from({ length: attempts }, (_, n) => n + 1));
        }
        await world.close();
      }),
      { numRuns: 100 },
    );
  });
});
