/**
 * Routing: which queues a message reaches.
 *
 * @module
 */

import assert from "node:assert/strict";
import { WireDouble, type WireTable } from "../../../src/message/wire_value.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { type Scenario, textOf, type World } from "./world.ts";

/** Pattern, keys it matches, keys it does not. */
const TOPICS: readonly (readonly [pattern: string, matches: readonly string[], misses: readonly string[]])[] = [
  ["order.placed", ["order.placed"], ["order", "order.placed.eu", "order.Placed", ""]],
  ["order.*", ["order.placed", "order."], ["order", "order.placed.eu"]],
  ["*", ["order", "*"], ["", "a.b"]],
  ["#", ["", "a", "a.b.c", "."], []],
  ["order.#", ["order", "order.placed", "order.placed.eu"], ["orders", "a.order"]],
  ["#.eu", ["eu", "order.eu", "a.b.eu"], ["order.us", "eu.a"]],
  ["a.#.z", ["a.z", "a.b.z", "a.b.c.z"], ["a", "a.b", "z"]],
  ["#.*", ["a", "a.b", "a.b.c"], [""]],
  ["*.#.*", ["a.b", "a.b.c"], ["a", ""]],
  ["a..b", ["a..b"], ["a.b", "a.x.b"]],
  ["a.*.b", ["a..b", "a.x.b"], ["a.b", "a.x.y.b"]],
  ["a.#.b", ["a.b", "a..b", "a...b"], ["a", "ab"]],
  ["*.*", [".", "a.", ".b", "a.b"], ["", "a", "a.b.c"]],
  ["*.#", ["a", ".", "a.b.c"], [""]],
  ["#.#", ["", "a", "a.b"], []],
  ["a*", ["a*"], ["ab", "a.b"]],
  ["a.", ["a."], ["a", "a.b"]],
  ["", [""], ["a"]],
];

/** Arguments of a binding, headers they match, headers they do not. */
const HEADERS:
  readonly (readonly [args: DeclareArguments, matches: readonly WireTable[], misses: readonly WireTable[]])[] = [
    [{ "x-match": "all", a: 1, b: "x" }, [{ a: 1, b: "x" }, { a: 1, b: "x", c: 2 }], [{ a: 1 }, { a: 2, b: "x" }, {}]],
    [{ a: 1 }, [{ a: 1 }, { a: 1n }, { a: new WireDouble(1) }, { a: new Date(1_000) }], [{ a: "1" }, { a: true }]],
    [{ a: "x" }, [{ a: "x" }, { a: new Uint8Array([0x78]) }], [{ a: "X" }, { a: null }]],
    [{ a: [1, "x"] }, [{ a: [1, "x"] }], [{ a: [1] }, { a: ["x", 1] }, { a: 1 }]],
    [{ a: { b: 1, c: 2 } }, [{ a: { b: 1, c: 2 } }], [{ a: { c: 2, b: 1 } }, { a: { b: 1 } }]],
    [{ a: [] }, [{ a: [] }, { a: {} }], [{ a: [1] }, { a: { b: 1 } }, { a: "" }, { a: null }]],
    [{ "x-match": "any", a: 1, b: "x" }, [{ a: 1 }, { b: "x", a: 2 }], [{ a: 2 }, { c: 1 }, {}]],
    [{ "x-match": "all", a: null }, [{ a: 1 }, { a: "text" }, { a: null }], [{ b: 1 }]],
    [{ "x-match": "all" }, [{}, { a: 1 }], []],
    [{ "x-match": "any" }, [], [{}, { a: 1 }]],
    [{ "x-match": "all", "x-a": 1, b: 1 }, [{ b: 1 }], [{ "x-a": 1 }]],
    [{ "x-match": "all-with-x", "x-a": 1 }, [{ "x-a": 1 }], [{}, { "x-a": 2 }]],
    [{ "x-match": "any-with-x", "x-a": 1, b: 1 }, [{ "x-a": 1 }, { b: 1 }], [{}]],
    [{ a: true }, [{ a: true }], [{ a: false }, { a: 1 }]],
    [{ "x-match": "any", a: null, b: 1 }, [{ a: false }, { b: 1 }], [{ b: 2 }, {}]],
    [{ "x-match": "any-with-x", a: 1 }, [{ a: 1, "x-a": 2 }], [{ "x-match": "any-with-x" }, {}]],
    [{ a: 1.5 }, [{ a: 1.5 }, { a: new WireDouble(1.5) }], [{ a: 1 }, { a: "1.5" }]],
  ];

/** The cases about routing. */
export function routing(it: Scenario): void {
  it("takes a key of the default exchange for the name of a queue", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "one");
    const { exchange, routingKey } = await world.take(queue);
    assert.deepEqual([exchange, routingKey], ["", queue]);
  });

  it("matches a key exactly on a direct exchange", async (world) => {
    const { exchange, queue } = await boundQueue(world, "direct", { key: "a.*" });
    assert.equal((await world.publish("a.*", { exchange, body: "exact" })).outcome, "confirmed");
    for (const key of ["a.b", "a", "", "A.*"]) {
      assert.equal((await world.publish(key, { exchange })).outcome, "unroutable");
    }
    const message = await world.take(queue);
    assert.deepEqual([message.exchange, message.routingKey, textOf(message)], [exchange, "a.*", "exact"]);
  });

  it("sends every message of a fanout exchange to every queue, whatever the key", async (world) => {
    const { exchange, queue } = await boundQueue(world, "fanout", { key: "ignored" });
    const other = await world.queue("other");
    await world.bind(other, exchange);
    await world.publish("any key", { exchange, body: "one" });
    assert.deepEqual([await world.bodies(queue, 1), await world.bodies(other, 1)], [["one"], ["one"]]);
  });

  for (const [pattern, matches, misses] of TOPICS) {
    it(`matches the topic pattern "${pattern}"`, async (world) => {
      const { exchange } = await boundQueue(world, "topic", { key: pattern });
      for (const key of matches) assert.equal((await world.publish(key, { exchange })).outcome, "confirmed", key);
      for (const key of misses) assert.equal((await world.publish(key, { exchange })).outcome, "unroutable", key);
    });
  }

  for (const [args, matches, misses] of HEADERS) {
    it(`matches the headers binding ${JSON.stringify(args)}`, async (world) => {
      const { exchange } = await boundQueue(world, "headers", { args });
      for (const headers of matches) assert.equal(await fate(world, exchange, headers), "confirmed", names(headers));
      for (const headers of misses) assert.equal(await fate(world, exchange, headers), "unroutable", names(headers));
    });
  }

  it("puts a message into a queue once, however many of its bindings match", async (world) => {
    const { exchange, queue } = await boundQueue(world, "topic", { key: "a.*" });
    await world.bind(queue, exchange, { key: "#" });
    await world.bind(queue, exchange, { key: "a.*" });
    await world.publish("a.b", { exchange });
    await world.depth(queue, 1);
  });

  it("sends what an exchange has no queue for to its alternate exchange", async (world) => {
    const { exchange: alternate, queue } = await boundQueue(world, "fanout", {});
    const exchange = await world.exchange("first", "direct", { "alternate-exchange": alternate });
    assert.deepEqual(await world.publish("nobody", { exchange, body: "one" }), { outcome: "confirmed" });
    const message = await world.take(queue);
    assert.deepEqual([message.exchange, message.routingKey, textOf(message)], [exchange, "nobody", "one"]);
  });

  it(
    "returns what no alternate exchange has a queue for either, though they name each other or do not exist",
    async (world) => {
      const other = world.name("other");
      const exchange = await world.exchange("first", "direct", { "alternate-exchange": other });
      assert.equal((await world.publish("nobody", { exchange })).outcome, "unroutable");
      await world.exchange("other", "direct", { "alternate-exchange": exchange });
      assert.equal((await world.publish("nobody", { exchange })).outcome, "unroutable");
    },
  );

  it("has the exchanges every broker has", async (world) => {
    const queue = await world.queue("q");
    for (const [exchange, key] of [["amq.direct", queue], ["amq.topic", `${queue}.#`], ["amq.fanout", ""]] as const) {
      await world.bind(queue, exchange, { key });
      assert.equal((await world.publish(queue, { exchange, body: exchange })).outcome, "confirmed");
    }
    for (const exchange of ["amq.headers", "amq.match"]) {
      await world.bind(queue, exchange, { args: { for: queue } });
      assert.equal(
        (await world.publish("", { exchange, body: exchange, headers: { for: queue } })).outcome,
        "confirmed",
      );
    }
    const all = ["amq.direct", "amq.topic", "amq.fanout", "amq.headers", "amq.match"];
    assert.deepEqual(await world.bodies(queue, 5), all);
  });

  it("copies a message to the keys in CC and BCC, and hides BCC", async (world) => {
    const [queue, copied, hidden] = [await world.queue("q"), await world.queue("cc"), await world.queue("bcc")];
    await world.publish(queue, { body: "one", headers: { CC: [copied, 5], BCC: [hidden], other: 1 } });
    for (const name of [queue, copied, hidden]) {
      const message = await world.take(name);
      assert.deepEqual([message.routingKey, message.headers], [queue, { CC: [copied, 5], other: 1 }]);
    }
  });

  it("puts a message into a queue once, though several of its keys lead there", async (world) => {
    const { exchange, queue } = await boundQueue(world, "direct", { key: "a" });
    await world.bind(queue, exchange, { key: "b" });
    await world.publish("a", { exchange, headers: { CC: ["b", "a"], BCC: ["a"] } });
    await world.publish(queue, { headers: { CC: [queue] } });
    await world.depth(queue, 2);
  });

  it("takes a message for routed that only its further keys have a queue for", async (world) => {
    const queue = await world.queue("q");
    assert.deepEqual(await world.publish(world.name("none"), { headers: { BCC: [queue] } }), { outcome: "confirmed" });
    assert.equal((await world.take(queue)).routingKey, world.name("none"));
  });

  it("goes through one alternate exchange after another, and to none where it has found a queue", async (world) => {
    const last = await world.exchange("last", "fanout");
    const second = await world.exchange("second", "topic", { "alternate-exchange": last });
    const first = await world.exchange("first", "headers", { "alternate-exchange": second });
    const [queue, other] = [await world.queue("q"), await world.queue("other")];
    await world.bind(queue, last);
    await world.bind(other, second, { key: "a.#" });
    for (const [key, body] of [["b", "through two"], ["a.b", "through one"]] as const) {
      assert.deepEqual(await world.publish(key, { exchange: first, body }), { outcome: "confirmed" });
    }
    assert.deepEqual([await world.bodies(queue, 1), await world.bodies(other, 1)], [["through two"], ["through one"]]);
    await world.depth(queue, 0);
  });

  it("refuses a CC that is no list", async (world) => {
    const queue = await world.queue("q");
    const receipt = await world.publish(queue, { headers: { CC: "text" } });
    assert.ok(receipt.outcome === "refused" && receipt.written);
    assert.match(receipt.reason, /PRECONDITION_FAILED - invalid message: \{unacceptable_type_in_header,"CC",longstr\}/);
    await world.fill(queue, "still here");
  });

  it("forgets the bindings of a queue and of an exchange that are deleted", async (world) => {
    const { exchange, queue } = await boundQueue(world, "direct", { key: "k" });
    await world.mq.deleteQueue(queue);
    assert.equal((await world.publish("k", { exchange })).outcome, "unroutable");
    await world.declareQueue(queue);
    assert.equal((await world.publish("k", { exchange })).outcome, "unroutable");
    await world.mq.deleteExchange(exchange);
    assert.equal((await world.publish("k", { exchange })).outcome, "refused");
  });
}

async function boundQueue(
  world: World,
  type: "direct" | "topic" | "fanout" | "headers",
  binding: { key?: string; args?: DeclareArguments },
): Promise<{ exchange: string; queue: string }> {
  const exchange = await world.exchange("x", type);
  const queue = await world.queue("q");
  await world.bind(queue, exchange, binding);
  return { exchange, queue };
}

async function fate(world: World, exchange: string, headers: WireTable): Promise<string> {
  return (await world.publish("", { exchange, headers })).outcome;
}

function names(headers: WireTable): string {
  return Object.keys(headers).join();
}
