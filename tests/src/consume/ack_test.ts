/** The words of a handler: contract core 3.3. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, isAck, park, reject, retry } from "../../../src/consume/ack.ts";

describe("a word of a handler", () => {
  it("is accept, retry, reject or park", () => {
    const error = new Error("The ledger is closing");
    assert.deepEqual(accept(), { kind: "accept" });
    assert.deepEqual(retry(error), { kind: "retry", error, delayMs: undefined });
    assert.deepEqual(retry(error, { delayMs: 60_000 }), { kind: "retry", error, delayMs: 60_000 });
    assert.deepEqual(reject("nothing to charge"), { kind: "reject", reason: "nothing to charge" });
    assert.deepEqual(park("unknown account"), { kind: "park", reason: "unknown account" });
  });

  it("needs no reason", () => {
    assert.deepEqual(reject(), { kind: "reject", reason: "" });
    assert.deepEqual(park(), { kind: "park", reason: "" });
  });

  it("takes any wait that is a finite number of at least 0, none included", () => {
    for (const delayMs of [0, 0.5, 1, 30_000, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(retry("busy", { delayMs }), { kind: "retry", error: "busy", delayMs });
    }
    for (const delayMs of [-1, Number.NaN, Infinity, -Infinity]) {
      assert.throws(() => retry("busy", { delayMs }), {
        name: "RangeError",
        message: `Cannot use option 'delayMs': it must be a finite number of at least 0, found ${delayMs}`,
      });
    }
  });

  it("is told from whatever else a handler may return", () => {
    for (const word of [accept(), retry("busy"), reject(), park(), { kind: "accept" }]) assert.ok(isAck(word));
    for (const other of [undefined, null, true, 0, "accept", [], {}, { kind: "ack" }, { kind: 1 }, () => accept()]) {
      assert.ok(!isAck(other));
    }
  });
});
