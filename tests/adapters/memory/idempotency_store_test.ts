/** Claims in memory: the contract, and the bounds that keep a process small. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryIdempotencyStore, virtualClock } from "../../../adapters/memory/mod.ts";
import { CLAIM_TIMEOUT_MS, idempotencyStoreContract, RETENTION_MS } from "../../contract/idempotency_store.ts";

idempotencyStoreContract("memory", async () => {
  const clock = virtualClock();
  const store = memoryIdempotencyStore({ clock, claimTimeoutMs: CLAIM_TIMEOUT_MS, retentionMs: RETENTION_MS });
  return { store, other: store, pass: (ms) => clock.advance(ms), close: async () => {} };
});

describe("claims in memory", () => {
  it("last no longer than the retention [IDM-24]", async () => {
    const clock = virtualClock();
    const store = memoryIdempotencyStore({ clock, claimTimeoutMs: 60_000, retentionMs: 1_000 });
    assert.equal(store.claimTimeoutMs, 1_000);
    await store.tryClaim("m");
    await clock.advance(1_000);
    assert.equal((await store.tryClaim("m")).status, "claimed");
  });

  it("forget what has expired before anything else, then the oldest confirmation, then the oldest claim, and count it", async () => {
    const clock = virtualClock();
    const store = memoryIdempotencyStore({ clock, maxEntries: 3, claimTimeoutMs: 1_000 });
    const claim = async (id: string): Promise<string> => {
      const answer = await store.tryClaim(id);
      return answer.status === "claimed" ? answer.token : assert.fail(`${id}: ${answer.status}`);
    };
    await claim("expired");
    await clock.advance(1_000);
    await store.confirm("first", await claim("first"));
    await store.confirm("second", await claim("second"));
    await claim("third");
    assert.equal(store.evicted, 0);
    await claim("fourth");
    assert.deepEqual([store.evicted, await store.count()], [1, 3]);
    assert.deepEqual([await store.isConfirmed("first"), await store.isConfirmed("second")], [false, true]);
    await claim("fifth");
    await claim("sixth");
    assert.equal(store.evicted, 3);
    assert.deepEqual(await store.tryClaim("fourth"), { status: "in_progress" });
    assert.equal((await store.tryClaim("third")).status, "claimed");
  });

  it("are not moved by a wall clock that jumps", async () => {
    const clock = virtualClock();
    let jump = 0;
    const jumping = { now: () => clock.now() + jump, elapsed: () => clock.elapsed(), delay: clock.delay.bind(clock) };
    const store = memoryIdempotencyStore({ clock: jumping, claimTimeoutMs: 1_000 });
    await store.tryClaim("m");
    jump = 86_400_000;
    assert.deepEqual(await store.tryClaim("m"), { status: "in_progress" });
  });

  it("refuse times and bounds out of range", () => {
    for (const bad of [0, -1, 1.5, NaN, Infinity]) {
      for (const name of ["claimTimeoutMs", "retentionMs", "maxEntries"]) {
        assert.throws(() => memoryIdempotencyStore({ [name]: bad }), new RegExp(`'${name}'`));
      }
    }
  });
});
