/** What a relay can be told. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type RelayOptions, relaySettings } from "../../../../src/patterns/outbox/relay_options.ts";
import type { RelayStore } from "../../../../src/ports/outbox_store.ts";
import { OutboxWorld } from "../../../support/outbox_world.ts";

const STORE: RelayStore = {
  maxAttempts: 5,
  claim: () => Promise.resolve({ token: "", rows: [] }),
  markPublished: () => Promise.resolve(0),
};

describe("the options of a relay", () => {
  it("have the contract's values by default, and the store's number of attempts", () => {
    assert.deepEqual(relaySettings(STORE, {}), {
      batchSize: 100,
      leaseMs: 60_000,
      pollIntervalMs: 1_000,
      maxAttempts: 5,
      mode: "continue",
      onRetired: "release",
      oldestAgeLimitMs: 300_000,
      purgeAfterMs: undefined,
    });
    const { maxAttempts: _, ...store } = STORE;
    assert.equal(relaySettings(store, {}).maxAttempts, 10);
    assert.equal(relaySettings(store, { maxAttempts: 3 }).maxAttempts, 3);
  });

  const refused: readonly (readonly [options: RelayOptions, error: typeof RangeError | typeof TypeError])[] = [
    [{ batchSize: 0 }, RangeError],
    [{ batchSize: 10_001 }, RangeError],
    [{ leaseMs: 0 }, RangeError],
    [{ pollIntervalMs: 0 }, RangeError],
    [{ maxAttempts: 0 }, RangeError],
    [{ maxAttempts: 10 }, RangeError],
    [{ oldestAgeLimitMs: NaN }, RangeError],
    [{ purgeAfterMs: 1_000 }, TypeError],
    [{ mode: "inOrder" as never }, TypeError],
    [{ onRetired: null as never }, TypeError],
    [{ batch: 1 } as never, TypeError],
  ];
  for (const [options, error] of refused) {
    it(`are refused when they cannot be: ${JSON.stringify(options)} [OBX-13]`, () => {
      assert.throws(() => relaySettings(STORE, options), error);
    });
  }

  it("come with a store, which allows an attempt at least [OBX-13]", () => {
    for (const store of [undefined, null, {}, "outbox", { claim: STORE.claim }]) {
      assert.throws(() => relaySettings(store as never, {}), TypeError);
    }
    assert.throws(() => relaySettings({ ...STORE, maxAttempts: 0 }, {}), RangeError);
  });

  it("are looked at before anything is touched", async () => {
    const world = new OutboxWorld();
    const mq = await world.open();
    assert.throws(() => mq.relay(world.store, { batchSize: 0 }), RangeError);
    mq.relay(world.store);
    await world.clock.advance(10_000);
    assert.deepEqual(world.store.claims, []);
    await world.close();
  });
});
