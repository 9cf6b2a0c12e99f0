/**
 * One to four relays of different settings over one outbox, killed at any moment, between a broker that loses, refuses and delays and a store that fails,
 * loses answers and outlasts leases: what was committed is published, what was rolled back never, a key's rows leave in their order,
 * and only what nobody alive knew to be out goes out again.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { RelayOptions } from "../../src/patterns/outbox/relay_options.ts";
import type { OnRetired, OutboxMode } from "../../src/ports/outbox_store.ts";
import { type BrokerDoes, OutboxChaos, type Script, type StoreDoes } from "../support/outbox_chaos.ts";

/** One thing that happens. */
type Step =
  | {
    readonly does: "write";
    readonly key: string | undefined;
    readonly count: number;
    readonly takesMs: number;
    readonly commits: boolean;
  }
  | { readonly does: "crash"; readonly relay: number }
  | { readonly does: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("write" as const),
      key: fc.constantFrom("a", "b", undefined),
      count: fc.integer({ min: 1, max: 6 }),
      takesMs: fc.constantFrom(0, 0, 3, 700),
      commits: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("crash" as const), relay: fc.nat(3) }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant("pass" as const), ms: fc.constantFrom(0, 5, 400, 2_000, 9_000) }),
  },
);

const brokerDoes: fc.Arbitrary<BrokerDoes> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<BrokerDoes>("take", "take slowly") },
  {
    weight: 7,
    arbitrary: fc.constantFrom<BrokerDoes>(
      "take and lose the answer",
      "take late",
      "drop",
      "nack",
      "return",
      "refuse",
      "refuse one of several",
      "decline",
      "cut the link",
    ),
  },
);

const storeDoes: fc.Arbitrary<StoreDoes> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<StoreDoes>("answer") },
  {
    weight: 5,
    arbitrary: fc.constantFrom<StoreDoes>(
      "fail",
      "answer slowly",
      "answer slowly",
      "answer too late",
      "keep the answer",
      "lose the answer",
    ),
  },
);

interface Scene {
  readonly relays: number;
  readonly mode: OutboxMode;
  readonly onRetired: OnRetired;
  /** What each relay has for itself; those that come after a crash too, in turns. */
  readonly settings: readonly Pick<RelayOptions, "batchSize" | "pollIntervalMs">[];
  readonly maxAttempts: number;
  readonly script: Script;
  readonly steps: readonly Step[];
}

const scene: fc.Arbitrary<Scene> = fc.record({
  relays: fc.integer({ min: 1, max: 4 }),
  mode: fc.constantFrom<OutboxMode>("continue", "in_order"),
  onRetired: fc.constantFrom<OnRetired>("release", "hold"),
  settings: fc.array(
    fc.record({ batchSize: fc.integer({ min: 1, max: 6 }), pollIntervalMs: fc.constantFrom(500, 1_000, 3_000) }),
    { minLength: 1, maxLength: 3 },
  ),
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  script: fc.record({
    broker: fc.array(brokerDoes, { maxLength: 40, size: "max" }),
    store: fc.array(storeDoes, { maxLength: 40, size: "max" }),
  }),
  steps: fc.array(step, { minLength: 1, maxLength: 14, size: "max" }),
});

/** What was written, by key, in order. */
interface Written {
  readonly committed: Map<string | undefined, string[]>;
  readonly rolledBack: string[];
}

/** Lets everything happen; transactions of one key take turns, as the contract asks of them. */
async function play(chaos: OutboxChaos, { relays, steps }: Scene): Promise<Written> {
  const committed = new Map<string | undefined, string[]>();
  const rolledBack: string[] = [];
  const turns = new Map<string | undefined, Promise<void>>();
  for (let relay = 0; relay < relays; relay++) await chaos.start();
  for (const [index, one] of steps.entries()) {
    if (one.does === "pass") await chaos.clock.advance(one.ms);
    else if (one.does === "crash") await chaos.crash(one.relay);
    else {
      const { key, count, takesMs, commits } = one;
      const ids = Array.from({ length: count }, (_, place) => `${key ?? "none"}-${index}-${place}`);
      if (commits) committed.set(key, [...committed.get(key) ?? [], ...ids]);
      else rolledBack.push(...ids);
      turns.set(key, (turns.get(key) ?? Promise.resolve()).then(() => chaos.write(ids, { key, takesMs, commits })));
      await chaos.clock.advance(0);
    }
  }
  await chaos.clock.advance(5_000);
  await Promise.all(turns.values());
  return { committed, rolledBack };
}

/** Lets all go well until nothing is left to do; whoever was retired is released, until nobody is. */
async function calmDown(chaos: OutboxChaos, maxAttempts: number): Promise<ReadonlySet<string>> {
  const retired = new Set<string>();
  await chaos.heal();
  for (let round = 0; round < 30; round++) {
    await chaos.clock.advance(40_000);
    let isDone = true;
    for await (const { id, attempts } of chaos.outbox.retired()) {
      assert.ok(attempts >= maxAttempts);
      retired.add(id);
      isDone = false;
      await chaos.outbox.release(id);
    }
    if (isDone) return retired;
  }
  return assert.fail("Rows are retired though all goes well");
}

/** The ids of a key in the order they arrived for the first time. */
function firstArrivals(chaos: OutboxChaos, ids: readonly string[]): string[] {
  const known = new Set(ids);
  return [...new Set(chaos.arrived)].filter((id) => known.has(id));
}

async function assertHolds(one: Scene): Promise<void> {
  const { mode, onRetired, settings, maxAttempts } = one;
  const chaos = new OutboxChaos(one.script, { mode, onRetired, maxAttempts }, settings);
  try {
    const { committed, rolledBack } = await play(chaos, one);
    const retired = await calmDown(chaos, maxAttempts);
    const ids = [...committed.values()].flat();
    assert.deepEqual(ids.filter((id) => !chaos.arrived.includes(id)), [], "Committed and never published");
    assert.equal((await chaos.outbox.stats()).pending, 0);
    assert.deepEqual(rolledBack.filter((id) => chaos.wasHanded(id)), [], "Rolled back and published");
    assert.deepEqual(chaos.faults, []);
    for (const id of ids) {
      assert.ok(chaos.failures(id) <= chaos.refusals(id), `${id} failed more often than it was refused`);
    }
    if (mode === "continue") return;
    for (const rows of committed.values()) {
      // A key goes on behind a row that was retired, unless it is held.
      const inOrder = onRetired === "hold" ? rows : rows.filter((id) => !retired.has(id));
      assert.deepEqual(firstArrivals(chaos, inOrder), inOrder, "Out of order");
    }
  } finally {
    await chaos.close();
  }
}

describe("an outbox and its relays", () => {
  it(
    "lose nothing, make nothing up, keep the order of a key, and repeat only what was in flight [OB-01, OB-03, OB-10, OB-12, OB-23]",
    async () => {
      await fc.assert(fc.asyncProperty(scene, assertHolds), { numRuns: 60 });
    },
  );
});
