/** Eight processes that claim the same ids at once, new ones and abandoned ones: each is won once, on one SQLite file and on PostgreSQL. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ChildProgram } from "../support/child_program.ts";
import { IS_LONG_RUN } from "../support/long_run.ts";
import { missing } from "../support/services.ts";
import { type MadeClaims, makeSharedClaims, openSharedClaims } from "../support/shared_claims.ts";
import type { SharedDatabaseKind } from "../support/shared_database.ts";
import { until } from "../support/until.ts";

const skip = await missing("postgresql");

const PROCESSES = 8;

const IDS = IS_LONG_RUN ? 5_000 : 500;

/** What a process says at its end. */
interface Share {
  readonly won: readonly number[];
  readonly answers: Readonly<Record<"claimed" | "in_progress" | "already_confirmed", number>>;
}

/** One process of `programs/claim_many.ts`. */
class Claimer extends ChildProgram {
  constructor(address: string, firstId: number) {
    super("claim_many", [address, String(IDS), String(firstId)]);
  }

  async share(): Promise<Share> {
    await this.ended();
    return JSON.parse(this.lines[1] ?? assert.fail("It ended without a word"));
  }
}

/** Leaves every fifth id behind with a claim that has ended, as a process does that was killed. */
async function abandon({ address, leaseEnd }: MadeClaims): Promise<void> {
  const { store, close } = openSharedClaims(address, { claimTimeoutMs: 1 });
  const ids = Array.from({ length: IDS / 5 }, (_, number) => `m-${5 * number}`);
  await Promise.all(ids.map((id) => store.tryClaim(id)));
  await close();
  await until("the last claim to have ended", async () => Number(await leaseEnd(ids.at(-1) ?? "")) < Date.now());
}

async function race(database: SharedDatabaseKind): Promise<void> {
  const claims = await makeSharedClaims(database);
  const claimers = Array.from({ length: PROCESSES }, (_, number) => new Claimer(claims.address, number));
  try {
    await abandon(claims);
    await Promise.all(claimers.map((claimer) => claimer.line("the process to be ready", (line) => line === "ready")));
    for (const claimer of claimers) claimer.tell("go");
    const shares = await Promise.all(claimers.map((claimer) => claimer.share()));
    const won = shares.flatMap((share) => share.won).toSorted((a, b) => a - b);
    assert.deepEqual(won, Array.from({ length: IDS }, (_, id) => id), "Each is won once");
    const total = (what: keyof Share["answers"]): number => shares.reduce((sum, { answers }) => sum + answers[what], 0);
    assert.equal(total("in_progress") + total("already_confirmed"), (PROCESSES - 1) * IDS, "All others were told so");
    // A few hundred may be over before the second process has read its line of input.
    if (IS_LONG_RUN) assert.ok(shares.filter((share) => share.won.length > 0).length > 1, "It was a race");
    assert.equal(await claims.store.count(), IDS);
  } finally {
    await Promise.all(claimers.map((claimer) => claimer.kill()));
    await claims.close();
  }
}

describe(`${PROCESSES} processes that claim ${IDS} ids at once`, () => {
  it("win each of them once on one SQLite file [IDM-09]", { timeout: 300_000 }, () => race("SQLite"));
  it("win each of them once on PostgreSQL [IDM-09]", { skip, timeout: 300_000 }, () => race("PostgreSQL"));
});
