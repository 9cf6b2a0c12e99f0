/**
 * What a store of claims must do: `node:test` cases to run against an adapter (contract patterns 4.1, 4.8).
 *
 * @module
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FatalError } from "../../src/errors.ts";
import type { ClaimAnswer, IdempotencyStore } from "../../src/ports/idempotency_store.ts";
import { contractOptions } from "./options.ts";

/** A store whose time the cases move, and another one that stands for a second process. */
export interface IdempotencyStoreUnderTest {
  /** With a claim timeout of one minute and a retention of one hour. */
  readonly store: IdempotencyStore;
  /** Another one over the same claims; the same one where there can be no other. */
  readonly other: IdempotencyStore;
  /** Lets time pass, as the store sees it. */
  readonly pass: (ms: number) => Promise<void>;
  /** Removes everything. */
  readonly close: () => Promise<void>;
}

/** Options of {@linkcode idempotencyStoreContract}. */
export interface IdempotencyStoreContractOptions {
  /** Why the cases are skipped; `false` runs them. @default {false} */
  readonly skip?: string | false;
}

/** The times a store under test is to have, milliseconds. */
export const CLAIM_TIMEOUT_MS = 60_000;
/** How long it is to remember a confirmation, milliseconds. */
export const RETENTION_MS = 3_600_000;

/**
 * Registers the cases that say what a store of claims must do.
 *
 * @example
 * ```ts
 * import { idempotencyStoreContract } from "@acemq/amqp/contracts";
 * import { memoryIdempotencyStore, virtualClock } from "@acemq/amqp/memory";
 *
 * idempotencyStoreContract("memory", async () => {
 *   const clock = virtualClock();
 *   const store = memoryIdempotencyStore({ clock, claimTimeoutMs: 60_000, retentionMs: 3_600_000 });
 *   return { store, other: store, pass: (ms) => clock.advance(ms), close: async () => {} };
 * });
 * ```
 *
 * @param name what the cases are listed under
 */
export function idempotencyStoreContract(
  name: string,
  open: () => Promise<IdempotencyStoreUnderTest>,
  options: IdempotencyStoreContractOptions = {},
): void {
  const { skip } = contractOptions(options);
  describe(`The contract of an idempotency store on ${name}`, () => {
    for (const [title, body] of Object.entries(CASES)) it(title, { skip, timeout: 60_000 }, () => runCase(open, body));
  });
}

type Case = (under: IdempotencyStoreUnderTest) => Promise<void>;

const CASES: Readonly<Record<string, Case>> = {
  "has the times it was given": async ({ store }) => {
    assert.deepEqual([store.claimTimeoutMs, store.retentionMs], [CLAIM_TIMEOUT_MS, RETENTION_MS]);
    await store.check();
  },

  "gives a message to the first, and tells everybody else that it is in progress": async ({ store, other }) => {
    const claim = await store.tryClaim("m");
    assert.equal(claim.status, "claimed");
    assert.equal(claim.status === "claimed" && claim.takenOver, false);
    for (const one of [store, other]) assert.deepEqual(await one.tryClaim("m"), { status: "in_progress" });
    assert.equal((await other.tryClaim("another")).status, "claimed");
  },

  "calls a message confirmed once it is, and not before": async ({ store, other }) => {
    const token = await claimed(store, "m");
    assert.equal(await store.isConfirmed("m"), false);
    assert.equal(await store.confirm("m", token), "held");
    assert.equal(await other.isConfirmed("m"), true);
    assert.deepEqual(await other.tryClaim("m"), { status: "already_confirmed" });
    assert.equal(await other.isConfirmed("nothing of that name"), false);
  },

  "gives a released message to the next": async ({ store, other }) => {
    const token = await claimed(store, "m");
    assert.equal(await store.release("m", token), "held");
    assert.equal((await other.tryClaim("m")).status, "claimed");
  },

  "takes a claim over when its lease has ended, and not a moment before [IDM-02, ID-03]": async (under) => {
    const { store, other, pass } = under;
    await claimed(store, "m");
    await pass(CLAIM_TIMEOUT_MS - 5_000);
    assert.deepEqual(await other.tryClaim("m"), { status: "in_progress" });
    await pass(5_000);
    const taken = await other.tryClaim("m");
    assert.equal(taken.status === "claimed" && taken.takenOver, true);
    assert.deepEqual(await store.tryClaim("m"), { status: "in_progress" });
  },

  "lets the late holder change nothing": async ({ store, other, pass }) => {
    const late = await claimed(store, "m");
    await pass(CLAIM_TIMEOUT_MS);
    const token = await claimed(other, "m");
    assert.notEqual(token, late);
    assert.equal(await store.confirm("m", late), "lost");
    assert.equal(await store.release("m", late), "lost");
    assert.deepEqual(await store.renew("m", late), { status: "lost" });
    assert.deepEqual(await store.tryClaim("m"), { status: "in_progress" });
    assert.equal(await other.confirm("m", token), "held");
  },

  "confirms a claim whose lease has ended and that nobody has taken over": async ({ store, pass }) => {
    const token = await claimed(store, "m");
    await pass(2 * CLAIM_TIMEOUT_MS);
    assert.equal(await store.confirm("m", token), "held");
    assert.equal(await store.isConfirmed("m"), true);
  },

  "does not call lost what is confirmed already": async ({ store, other, pass }) => {
    const late = await claimed(store, "m");
    await pass(CLAIM_TIMEOUT_MS);
    const token = await claimed(other, "m");
    await other.confirm("m", token);
    assert.equal(await other.confirm("m", token), "held");
    assert.equal(await store.confirm("m", late), "held");
  },

  "keeps a confirmation when its claim is released": async ({ store }) => {
    const token = await claimed(store, "m");
    await store.confirm("m", token);
    assert.equal(await store.release("m", token), "lost");
    assert.equal(await store.isConfirmed("m"), true);
  },

  "remembers a confirmation for as long as it said, and no longer": async ({ store, pass }) => {
    await store.confirm("m", await claimed(store, "m"));
    await pass(RETENTION_MS - 5_000);
    assert.deepEqual(await store.tryClaim("m"), { status: "already_confirmed" });
    await pass(5_000);
    assert.equal(await store.isConfirmed("m"), false);
    const again = await store.tryClaim("m");
    assert.equal(again.status === "claimed" && again.takenOver, false);
  },

  "begins a renewed lease anew": async ({ store, other, pass }) => {
    const token = await claimed(store, "m");
    await pass(CLAIM_TIMEOUT_MS - 5_000);
    const renewed = await store.renew("m", token);
    assert.ok(renewed.status === "held");
    await pass(CLAIM_TIMEOUT_MS - 5_000);
    assert.deepEqual(await other.tryClaim("m"), { status: "in_progress" });
    assert.equal(await store.confirm("m", renewed.token), "held");
    assert.deepEqual(await store.renew("m", renewed.token), { status: "lost" });
  },

  "has a token of its own for every claim": async ({ store }) => {
    const tokens = new Set<string>();
    for (let turn = 0; turn < 100; turn++) {
      const token = await claimed(store, "m");
      tokens.add(token);
      await store.release("m", token);
    }
    assert.equal(tokens.size, 100);
  },

  "knows nothing of a token it never gave": async ({ store }) => {
    assert.equal(await store.confirm("m", "2026-01-01 00:00:00"), "lost");
    await claimed(store, "m");
    assert.equal(await store.confirm("m", "2026-01-01 00:00:00"), "lost");
    assert.equal(await store.release("m", "2026-01-01 00:00:00"), "lost");
    assert.deepEqual(await store.tryClaim("m"), { status: "in_progress" });
  },

  "gives a message to one of fifty at once": async ({ store, other }) => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, turn) => (turn % 2 === 0 ? store : other).tryClaim("m")),
    );
    assert.deepEqual(counts(answers), { claimed: 1, in_progress: 49 });
  },

  "gives a message whose lease has ended to one of twenty at once [IDM-09]": async ({ store, other, pass }) => {
    for (let round = 0; round < 5; round++) {
      const id = `m-${round}`;
      await claimed(store, id);
      await pass(CLAIM_TIMEOUT_MS);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, turn) => (turn % 2 === 0 ? store : other).tryClaim(id)),
      );
      assert.deepEqual(counts(answers), { claimed: 1, in_progress: 19 });
    }
  },

  "keeps ids apart that differ in a letter, a space or a sign, and takes none for SQL": async ({ store }) => {
    const ids = [
      "a",
      "A",
      " a",
      "a ",
      "1",
      "01",
      'it\'s "quoted" \\ %s ?',
      "größe-№7",
      "gro\u0308ße-№7",
      "購物車📦",
      "k".repeat(255),
      "📦".repeat(255),
    ];
    for (const id of ids) assert.equal((await store.tryClaim(id)).status, "claimed", id);
    for (const id of ids) assert.equal((await store.tryClaim(id)).status, "in_progress", id);
  },

  "refuses an id it cannot keep, for good": async ({ store }) => {
    for (const id of ["", undefined, 7, new Uint8Array([97])]) {
      await assert.rejects(store.tryClaim(id as string), FatalError);
    }
  },

  "removes what has expired, in as many batches as it takes, and nothing else": async (under) => {
    const { store, pass } = under;
    for (const id of ["old 1", "old 2", "old 3"]) await claimed(store, id);
    await store.confirm("kept", await claimed(store, "kept"));
    await pass(CLAIM_TIMEOUT_MS);
    await claimed(store, "young");
    assert.equal(await store.count(), 5);
    assert.equal(await store.purgeExpired({ batchSize: 2 }), 3);
    assert.equal(await store.purgeExpired(), 0);
    assert.equal(await store.count(), 2);
    assert.equal(await store.isConfirmed("kept"), true);
    assert.deepEqual(await store.tryClaim("young"), { status: "in_progress" });
    await pass(RETENTION_MS);
    assert.equal(await store.purgeExpired(), 2);
  },

  "does nothing for a signal that has aborted": async ({ store }) => {
    const reason = new Error("no more");
    const signal = AbortSignal.abort(reason);
    const isReason = (error: unknown): boolean => error === reason;
    await assert.rejects(store.tryClaim("m", { signal }), isReason);
    const token = await claimed(store, "m");
    await assert.rejects(store.confirm("m", token, { signal }), isReason);
    await assert.rejects(store.release("m", token, { signal }), isReason);
    await assert.rejects(store.renew("m", token, { signal }), isReason);
    await assert.rejects(store.isConfirmed("m", { signal }), isReason);
    await assert.rejects(store.purgeExpired({ signal }), isReason);
    assert.deepEqual(await store.tryClaim("m"), { status: "in_progress" });
  },
};

async function claimed(store: IdempotencyStore, id: string): Promise<string> {
  const claim = await store.tryClaim(id);
  assert.ok(claim.status === "claimed", `${id}: ${claim.status}`);
  return claim.token;
}

function counts(answers: readonly ClaimAnswer[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const { status } of answers) counted[status] = (counted[status] ?? 0) + 1;
  return counted;
}

async function runCase(open: () => Promise<IdempotencyStoreUnderTest>, body: Case): Promise<void> {
  const under = await open();
  try {
    await body(under);
  } finally {
    await under.close();
  }
}
