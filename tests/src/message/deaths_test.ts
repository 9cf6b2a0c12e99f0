/** Reading the broker's record of dead-lettering: contract core 4.5, and what any client may have written there (BRK-05). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseDeaths } from "../../../src/message/deaths.ts";
import type { WireTable, WireValue } from "../../../src/message/wire_value.ts";
import { wireValue } from "../../support/arbitraries.ts";
import { NOW_MS } from "../../support/sources.ts";

/** As RabbitMQ writes one. */
const EXPIRED: WireTable = {
  "count": 2,
  "exchange": "shop",
  "queue": "orders.new",
  "reason": "expired",
  "routing-keys": ["order.placed", "audit"],
  "time": new Date(NOW_MS),
};

describe("the deaths of a message", () => {
  it("are what the broker wrote, in its order", () => {
    const home: WireTable = { ...EXPIRED, queue: "orders.new.retry.1m", count: 1n, exchange: "" };
    assert.deepEqual(parseDeaths({ "x-death": [EXPIRED, home] }), [
      {
        queue: "orders.new",
        reason: "expired",
        count: 2,
        exchange: "shop",
        routingKeys: ["order.placed", "audit"],
        at: new Date(NOW_MS),
      },
      {
        queue: "orders.new.retry.1m",
        reason: "expired",
        count: 1,
        exchange: "",
        routingKeys: ["order.placed", "audit"],
        at: new Date(NOW_MS),
      },
    ]);
  });

  it("are none where the broker has not dead-lettered it", () => {
    assert.deepEqual(parseDeaths({}), []);
    assert.deepEqual(parseDeaths(Object.create({ "x-death": [EXPIRED] })), []);
  });

  it("leave out what nobody can read, and keep the others", () => {
    const unreadable: readonly WireValue[] = ["rejected", 7, null, {}, { queue: "q" }, { reason: "expired" }, [
      EXPIRED,
    ]];
    const deaths = parseDeaths({ "x-death": [...unreadable, EXPIRED] });
    assert.deepEqual(deaths.map(({ queue }) => queue), ["orders.new"]);
    for (const value of unreadable) {
      if (!Array.isArray(value)) assert.deepEqual(parseDeaths({ "x-death": value }), []);
    }
  });

  it("take the place of what is missing or unreadable in one by nothing, once", () => {
    const [death] = parseDeaths({
      "x-death": [{ queue: "q", reason: "maxlen", count: "?", time: 7, "routing-keys": 7 }],
    });
    assert.deepEqual(death, { queue: "q", reason: "maxlen", count: 1, exchange: "", routingKeys: [], at: undefined });
  });

  it("are read from any value at all without an error", () => {
    fc.assert(fc.property(wireValue, wireValue, (value, other) => {
      for (const deaths of [value, [value, EXPIRED], [{ ...EXPIRED, count: value, "routing-keys": [other] }]]) {
        for (const { count } of parseDeaths({ "x-death": deaths })) {
          assert.ok(Number.isSafeInteger(count) && count >= 1);
        }
      }
    }));
  });
});
