/** Which rows go side by side, and which wait for one another. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chainsOf } from "../../../../src/patterns/outbox/chains.ts";
import type { ClaimedRow } from "../../../../src/ports/outbox_store.ts";
import { outboundOf } from "../../../support/outbox_world.ts";

function rowOf(id: string, orderingKey?: string): ClaimedRow {
  return { id, orderingKey, attempts: 0, ageMs: 0, outbound: outboundOf(id) };
}

const ROWS = [rowOf("1", "a"), rowOf("2"), rowOf("3", "b"), rowOf("4", "a"), rowOf("5"), rowOf("6", "")];

function idsOf(chains: ReturnType<typeof chainsOf>): string[][] {
  return chains.map((chain) => chain.map(({ id }) => id));
}

describe("the rows of a batch", () => {
  it("go each for itself where order is no matter", () => {
    assert.deepEqual(idsOf(chainsOf(ROWS, "continue")), [["1"], ["2"], ["3"], ["4"], ["5"], ["6"]]);
  });

  it("go one after the other within their key, those without one together; an empty key is a key", () => {
    assert.deepEqual(idsOf(chainsOf(ROWS, "in_order")), [["1", "4"], ["2", "5"], ["3"], ["6"]]);
  });
});
