/** Which queue is read and where its messages go: contract core 1.8, 4.3 and 6. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { placesOf, type ReplayTarget, targetOf } from "../../../../src/patterns/replay/places.ts";

describe("the queue that is read", () => {
  it("is on the failure side of the named one, the dead letters unless parked ones are asked for", () => {
    const home = "orders.new";
    assert.deepEqual(placesOf(home, undefined), { source: "orders.new.dlq", home });
    assert.deepEqual(placesOf(home, "dlq"), { source: "orders.new.dlq", home });
    assert.deepEqual(placesOf(home, "parked"), { source: "orders.new.parked", home });
    assert.deepEqual(placesOf(home, "queue"), { source: home, home });
  });

  it("is the named one where its name says so, .NET's old one included", () => {
    for (const source of ["orders.new.dlq", "orders.new.parked", "orders.new.dead"]) {
      assert.deepEqual(placesOf(source, undefined), { source, home: "orders.new" });
    }
    assert.deepEqual(placesOf("orders.dlq", "dlq"), { source: "orders.dlq.dlq", home: "orders.dlq" });
    assert.deepEqual(placesOf(".dlq", undefined), { source: ".dlq.dlq", home: ".dlq" });
  });

  it("has a name, and a side that there is", () => {
    assert.throws(() => placesOf("", "dlq"), TypeError);
    assert.throws(() => placesOf("orders.new", JSON.parse(`"dead"`)), {
      name: "TypeError",
      message: `Cannot read beside queue "orders.new": option 'from' must be dlq, parked or queue, found dead`,
    });
  });
});

describe("the target of a replay", () => {
  const places = placesOf("orders.new", "dlq");

  it("is the queue the messages were set aside from, or the one that is named", () => {
    assert.deepEqual(targetOf(places), { exchange: "", routingKey: "orders.new" });
    assert.deepEqual(targetOf(places, "orders.again"), { exchange: "", routingKey: "orders.again" });
    const target: ReplayTarget = { exchange: "shop", routingKey: "" };
    assert.deepEqual(targetOf(places, target), target);
  });

  it("is never the queue that is read, by its name or by way of the dead-letter exchange [RPL-04]", () => {
    const loops: readonly (string | ReplayTarget)[] = [
      "orders.new.dlq",
      { exchange: "", routingKey: "orders.new.dlq" },
      { exchange: "acemq.dlx", routingKey: "orders.new.dlq" },
    ];
    for (const into of loops) {
      assert.throws(() => targetOf(places, into), {
        name: "RangeError",
        message: `Cannot replay queue "orders.new.dlq" into itself: every message would come back for ever`,
      });
    }
    assert.equal(targetOf(places, { exchange: "shop", routingKey: "orders.new.dlq" }).exchange, "shop");
  });

  it("fits the wire", () => {
    for (const faulty of ["7", "null", `{"exchange":"shop"}`, `{"routingKey":"k"}`]) {
      assert.throws(() => targetOf(places, JSON.parse(faulty)), TypeError);
    }
    assert.throws(() => targetOf(places, ""), TypeError);
    assert.throws(() => targetOf(places, "ü".repeat(128)), RangeError);
    assert.throws(() => targetOf(places, { exchange: "x".repeat(256), routingKey: "" }), RangeError);
  });
});
