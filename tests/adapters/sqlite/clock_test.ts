/** Claims in a SQLite file while somebody sets the machine's clock: none is lost, and none is given twice. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { IdempotencyLayoutName } from "../../../adapters/sql/mod.ts";
import { type SqliteIdempotencyStore, sqliteIdempotencyStore } from "../../../adapters/sqlite/mod.ts";
import { memoryBroker } from "../../../adapters/memory/mod.ts";
import { openConnection } from "../../../src/connection.ts";
import { topology } from "../../../src/topology/topology.ts";
import { CLAIM_TIMEOUT_MS, RETENTION_MS } from "../../contract/idempotency_store.ts";
import { ClaimModel } from "../../support/claim_model.ts";
import { SettableClock } from "../../support/settable_clock.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const LAYOUTS: readonly IdempotencyLayoutName[] = ["ruby", "python", "go", "dotnet"];
const HOUR_MS = 3_600_000;
const TIMES = { claimTimeoutMs: CLAIM_TIMEOUT_MS, retentionMs: RETENTION_MS };

/** Two processes on one machine. */
interface Machine {
  readonly clock: SettableClock;
  readonly one: SqliteIdempotencyStore;
  readonly other: SqliteIdempotencyStore;
}

async function onMachine(layout: IdempotencyLayoutName, play: (machine: Machine) => Promise<void>): Promise<void> {
  const file = sqliteFile();
  const clock = new SettableClock();
  const one = sqliteIdempotencyStore(file.open(), { ...TIMES, clock, layout });
  await one.createSchemaIfAbsent();
  try {
    await play({ clock, one, other: sqliteIdempotencyStore(file.open(), { ...TIMES, clock }) });
  } finally {
    file.close();
  }
}

async function claimed(store: SqliteIdempotencyStore, id: string): Promise<string> {
  const claim = await store.tryClaim(id);
  assert.ok(claim.status === "claimed", claim.status);
  return claim.token;
}

for (const layout of LAYOUTS) {
  describe(`claims in SQLite on a machine whose clock is set, layout '${layout}'`, () => {
    it("keep their lease when it is set forward, to its end and no longer", () =>
      onMachine(layout, async ({ clock, one, other }) => {
        const token = await claimed(one, "held");
        await claimed(one, "abandoned");
        await clock.pass(10_000);
        clock.set(5 * HOUR_MS);
        assert.deepEqual(await other.tryClaim("held"), { status: "in_progress" });
        assert.equal(await other.purgeExpired(), 0);
        assert.equal(await one.confirm("held", token), "held");
        assert.deepEqual(await other.tryClaim("held"), { status: "already_confirmed" });
        await clock.pass(CLAIM_TIMEOUT_MS - 10_001);
        assert.deepEqual(await other.tryClaim("abandoned"), { status: "in_progress" });
        await clock.pass(1);
        assert.equal((await other.tryClaim("abandoned")).status, "claimed");
      }));

    it("keep what was confirmed when it is set forward by more than that is kept", () =>
      onMachine(layout, async ({ clock, one, other }) => {
        await one.confirm("m", await claimed(one, "m"));
        clock.set(2 * RETENTION_MS);
        assert.equal(await other.isConfirmed("m"), true);
        assert.deepEqual(await other.tryClaim("m"), { status: "already_confirmed" });
        assert.equal(await one.purgeExpired(), 0);
        await clock.pass(RETENTION_MS);
        assert.equal(await other.isConfirmed("m"), false);
        assert.equal(await one.purgeExpired(), 1);
      }));

    it("are still their holder's when it is set back", () =>
      onMachine(layout, async ({ clock, one, other }) => {
        const [kept, given] = [await claimed(one, "kept"), await claimed(one, "given back")];
        clock.set(-5 * HOUR_MS);
        assert.deepEqual(await other.tryClaim("kept"), { status: "in_progress" });
        assert.equal(await one.release("given back", given), "held");
        assert.equal(await one.confirm("kept", kept), "held");
        assert.deepEqual(await other.tryClaim("kept"), { status: "already_confirmed" });
        assert.equal((await other.tryClaim("given back")).status, "claimed");
        assert.equal((await other.tryClaim("new")).status, "claimed");
      }));

    it("made while it was wrong are kept when it is right again", () =>
      onMachine(layout, async ({ clock, one, other }) => {
        clock.set(-5 * HOUR_MS);
        await other.isConfirmed("anything");
        const token = await claimed(one, "m");
        clock.set(5 * HOUR_MS);
        assert.deepEqual(await other.tryClaim("m"), { status: "in_progress" });
        assert.equal(await one.confirm("m", token), "held");
      }));

    it("made while it was wrong are kept by a consumer that had nothing to do meanwhile", () =>
      onMachine(layout, async ({ clock, one, other }) => {
        const mq = await openConnection(memoryBroker({ clock }));
        await mq.declare(topology().queue("payments"));
        await mq.consume("payments", () => {}, { idempotency: other });
        clock.set(-5 * HOUR_MS);
        await clock.pass(2_000);
        const token = await claimed(one, "m");
        clock.set(5 * HOUR_MS);
        assert.deepEqual(await other.tryClaim("m"), { status: "in_progress" });
        assert.equal(await one.confirm("m", token), "held");
        const closed = mq.close();
        await clock.pass(HOUR_MS);
        await closed;
      }));
  });
}

type Step =
  | { readonly does: "claim" | "confirm" | "release"; readonly id: string; readonly by: 0 | 1 }
  | { readonly does: "pass" | "set"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: fc.constantFrom("claim" as const, "claim" as const, "confirm" as const, "release" as const),
    id: fc.constantFrom("a", "b"),
    by: fc.constantFrom(0 as const, 1 as const),
  }),
  fc.record({ does: fc.constant("pass" as const), ms: fc.constantFrom(1_000, 30_000, CLAIM_TIMEOUT_MS, RETENTION_MS) }),
  fc.record({
    does: fc.constant("set" as const),
    ms: fc.integer({ min: -30, max: 30 }).map((hours) => hours * HOUR_MS),
  }),
);

/** What is said may be a wait where the model has nobody waiting; it never is that a message is free which is not. */
async function isSafe({ clock, one, other }: Machine, steps: readonly Step[]): Promise<void> {
  const model = new ClaimModel("confirmation");
  const stores = [one, other] as const;
  const held = new Map<string, { readonly token: string; readonly claim: number }>();
  for (const [number, taken] of steps.entries()) {
    // Both processes are at work all the time.
    for (const store of stores) await store.isConfirmed("anything");
    switch (taken.does) {
      case "set":
        clock.set(taken.ms);
        break;
      case "pass":
        model.pass(taken.ms);
        await clock.pass(taken.ms);
        break;
      case "claim": {
        const answer = await stores[taken.by].tryClaim(taken.id);
        if (answer.status !== "claimed") break;
        assert.ok(!["in_progress", "already_confirmed"].includes(model.claim(taken.id, number)), "It was free");
        held.set(taken.id, { token: answer.token, claim: number });
        break;
      }
      default: {
        const mine = held.get(taken.id);
        if (mine === undefined) break;
        assert.equal(await stores[taken.by][taken.does](taken.id, mine.token), model[taken.does](taken.id, mine.claim));
        held.delete(taken.id);
      }
    }
  }
}

describe("claims in SQLite on a machine whose clock is set again and again", () => {
  it("are never given to a second one while they are somebody's, or confirmed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
        await onMachine("ruby", (machine) => isSafe(machine, steps));
      }),
      { numRuns: 60 },
    );
  });
});
