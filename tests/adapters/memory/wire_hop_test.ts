/** The memory broker's hop against the real one: what the AMQP adapter writes and reads back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isFlat, tableAfterHop, UnwritableError } from "../../../adapters/memory/wire_hop.ts";
import type { WireTable } from "../../../src/message/wire_value.ts";
import { decodeTable, encodeTable } from "../../support/amqp_codec.ts";
import { outgoingHeaders, wireTable } from "../../support/arbitraries.ts";

describe("a table that hops through memory", () => {
  it("arrives, or is refused, as it would over the wire", () => {
    const table = fc.oneof(wireTable, outgoingHeaders.map((headers) => headers as WireTable));
    fc.assert(
      fc.property(table, (sent) => {
        assert.deepEqual(attempt(() => tableAfterHop(sent)), attempt(() => decodeTable(encodeTable(sent))));
      }),
      { numRuns: 500 },
    );
  });

  it("arrives as a copy that nobody can change", () => {
    fc.assert(fc.property(wireTable.filter((table) => attempt(() => tableAfterHop(table)) !== "refused"), (sent) => {
      const first = tableAfterHop(sent);
      const copy = tableAfterHop(first);
      if (!isFlat(first)) scribble(first);
      assert.deepEqual(copy, tableAfterHop(sent));
    }));
  });

  it("is refused by the name of what cannot be written", () => {
    for (const value of [NaN, { deep: [NaN] }, undefined, () => {}, Symbol("s"), new Date(NaN), "\ud800"]) {
      const table = { good: 1, bad: value } as unknown as WireTable;
      assert.throws(
        () => tableAfterHop(table),
        (error) => error instanceof UnwritableError && /"(bad|deep)"/.test(error.message),
      );
    }
  });
});

function attempt(hop: () => WireTable): WireTable | "refused" {
  try {
    return hop();
  } catch {
    return "refused";
  }
}

/** Changes every byte array and date there is. */
function scribble(value: unknown): void {
  if (value instanceof Uint8Array) value.fill(0x2a);
  else if (value instanceof Date) value.setTime(0);
  else if (typeof value === "object" && value !== null && Object.isExtensible(value)) {
    Object.values(value).forEach(scribble);
  }
}
