/** Making envelopes: contract core 1.1, 1.6 and 1.7. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { causedBy, type Envelope, newEnvelope, nextAttempt, replayed } from "../../../src/message/envelope.ts";
import { FRESH_ID, NOW_MS, stoppedSources } from "../../support/sources.ts";

const FULL: Envelope = {
  id: "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3",
  type: "order.placed",
  version: 2,
  correlationId: "cart-8812",
  causationId: "0b7d4d1e-6f53-4a0c-8d0f-6f0e3b1c2a94",
  attempt: 3,
  firstSeenMs: NOW_MS - 1_000,
  origin: "checkout@app-3",
  error: "rejected",
  claim: "shelf/4",
  route: { steps: ["validate", "reserve"], position: 1, runId: "469ffe7a" },
  replayedFrom: "orders.new.dlq",
  replayedAt: new Date(NOW_MS),
  replayCount: 2,
};

describe("a new envelope", () => {
  it("is a first attempt, seen now, version one, its own correlation", () => {
    const { id, type, version, correlationId, attempt, firstSeenMs } = newEnvelope(
      { type: "order.placed" },
      stoppedSources(),
    );
    assert.deepEqual([id, type, version, correlationId, attempt, firstSeenMs], [
      FRESH_ID,
      "order.placed",
      1,
      FRESH_ID,
      1,
      NOW_MS,
    ]);
  });

  it("has a random lower-case UUID of version 4 and the machine's time when nobody says otherwise", () => {
    const before = Date.now();
    const { id, firstSeenMs } = newEnvelope({ type: "order.placed" });
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(firstSeenMs >= before && firstSeenMs <= Date.now());
  });

  it("has the fields it was given", () => {
    const { id, version, correlationId, causationId, origin, claim, route } = FULL;
    const given = { type: "order.placed", id, version, correlationId, causationId, origin, claim, route };
    const envelope = newEnvelope(given, stoppedSources());
    assert.deepEqual(envelope, {
      ...FULL,
      attempt: 1,
      firstSeenMs: NOW_MS,
      error: undefined,
      replayedFrom: undefined,
      replayedAt: undefined,
      replayCount: undefined,
    });
  });

  it("takes empty text for absent [ENV-06]", () => {
    const empty = { type: "t", id: "", correlationId: "", causationId: "", origin: "", claim: "" };
    assert.deepEqual(newEnvelope(empty, stoppedSources()), newEnvelope({ type: "t" }, stoppedSources()));
  });

  it("is of type `message` when the type is empty", () => {
    assert.equal(newEnvelope({ type: "" }, stoppedSources()).type, "message");
  });

  for (const version of [0, -1, 1.5, NaN, Infinity]) {
    it(`refuses version ${version}`, () => {
      assert.throws(() => newEnvelope({ type: "t", version }), {
        name: "RangeError",
        message: `Cannot use option 'version': it must be a whole number of at least 1, found ${version}`,
      });
    });
  }
});

describe("what a message hands on", () => {
  it("is its correlation, and its id as causation, to a message that is otherwise new", () => {
    const caused = newEnvelope({ type: "order.charged", ...causedBy(FULL) }, stoppedSources());
    assert.equal(caused.correlationId, "cart-8812");
    assert.equal(caused.causationId, FULL.id);
    assert.deepEqual([caused.id, caused.attempt, caused.firstSeenMs], [FRESH_ID, 1, NOW_MS]);
  });

  it("is everything but the attempt to its next attempt", () => {
    assert.deepEqual(nextAttempt(FULL), { ...FULL, attempt: 4 });
    assert.equal(FULL.attempt, 3);
  });
});

describe("the envelope of a replayed message", () => {
  const stamp = { from: "orders.new.dlq", atMs: NOW_MS + 1, keepAttempts: false };

  it("is that of a first attempt without an error, stamped; id, first sight and route are as they were", () => {
    const { replayCount: _, ...never } = FULL;
    const changes = {
      attempt: 1,
      error: undefined,
      replayedFrom: "orders.new.dlq",
      replayedAt: new Date(NOW_MS + 1),
    };
    assert.deepEqual(replayed(never, stamp), { ...FULL, ...changes, replayCount: 1 });
    assert.deepEqual(replayed(FULL, stamp), { ...FULL, ...changes, replayCount: 3 });
  });

  it("keeps its attempt and its error when that is asked for", () => {
    const { attempt, error, replayCount } = replayed(FULL, { ...stamp, keepAttempts: true });
    assert.deepEqual([attempt, error, replayCount], [3, "rejected", 3]);
  });
});
