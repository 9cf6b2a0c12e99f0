/** A plan as it is printed and kept. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PlanItem, TopologyPlan } from "../../../src/topology/plan.ts";

const ITEMS: readonly PlanItem[] = [
  { kind: "exchange", name: "orders", status: "present" },
  { kind: "queue", name: "orders.new", status: "would_create", reason: "NOT_FOUND - no queue" },
  { kind: "queue", name: "orders.audit", status: "differs", reason: "PRECONDITION_FAILED - inequivalent arg" },
  { kind: "binding", name: "orders.new from orders, key order.*", status: "unknown", reason: "nobody can say" },
];

describe("a plan", () => {
  it("prints a line for each object, with the reason, and a last one that counts", () => {
    assert.deepEqual(String(new TopologyPlan(ITEMS)).split("\n"), [
      `present       exchange "orders"`,
      `would_create  queue "orders.new": NOT_FOUND - no queue`,
      `differs       queue "orders.audit": PRECONDITION_FAILED - inequivalent arg`,
      `unknown       binding "orders.new from orders, key order.*": nobody can say`,
      "1 would_create, 1 present, 1 differs, 1 unknown",
    ]);
  });

  it("of nothing says so", () => {
    assert.equal(String(new TopologyPlan([])), "0 would_create, 0 present, 0 differs, 0 unknown");
  });

  it("keeps an object on its line and shows what a terminal would obey, whatever its name and the broker's words hold", () => {
    for (const code of [0x0a, 0x0d, 0x1b, 0x7f, 0x85, 0x2028, 0x2029, 0x202e]) {
      const name = `orders${String.fromCodePoint(code)}present       queue "forged"`;
      const text = String(
        new TopologyPlan([{ kind: "queue", name, status: "differs", reason: `no queue '${name}'` }]),
      );
      const [line = "", ...others] = text.split("\n");
      assert.equal(others.length, 1);
      assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\u2028\u2029]/u);
      assert.ok(line.endsWith(`: no queue 'orders\\u{${code.toString(16)}}present       queue "forged"'`), line);
    }
  });

  it("is written as JSON and read again as it was", () => {
    assert.deepEqual(JSON.parse(JSON.stringify(new TopologyPlan(ITEMS))), { items: ITEMS });
  });
});
