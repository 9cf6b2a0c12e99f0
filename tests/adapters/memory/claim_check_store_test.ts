/** Payloads beside the broker, in memory. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryClaimCheckStore } from "../../../adapters/memory/mod.ts";
import { claimCheckStoreContract } from "../../contract/claim_check_store.ts";

for (const digest of [false, true]) {
  claimCheckStoreContract(digest ? "memory, with digests" : "memory", async () => {
    const store = memoryClaimCheckStore({ digest });
    return { store, other: store, hasDigests: digest, close: async () => {} };
  });
}

describe("a claim check store in memory", () => {
  it("says how much it has, and forgets all of it", async () => {
    const store = memoryClaimCheckStore({ newId: () => "k-1" });
    assert.equal(await store.put(new Uint8Array([1])), "k-1");
    assert.equal(store.size, 1);
    store.clear();
    assert.deepEqual([store.size, await store.get("k-1")], [0, null]);
  });
});
