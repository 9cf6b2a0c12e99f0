/** What a connection remembers of its declarations. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Declared } from "../../../src/topology/declared.ts";
import type { BindingSpec } from "../../../src/topology/specs.ts";
import { queueSpec } from "../../support/amqp_connection.ts";

const binding = (queue: string, exchange: string, parts: Partial<BindingSpec> = {}): BindingSpec => ({
  queue,
  exchange,
  routingKey: "k",
  arguments: {},
  ...parts,
});

describe("what was declared", () => {
  it("is remembered once for each name, as it was declared last", () => {
    const declared = new Declared();
    declared.addQueue(queueSpec("q"));
    declared.addQueue({ ...queueSpec("q"), durable: false });
    declared.addExchange({ name: "x", type: "topic", durable: true, autoDelete: false, arguments: {} });
    assert.deepEqual(declared.queues.map(({ name, durable }) => [name, durable]), [["q", false]]);
    assert.deepEqual(declared.exchanges.map(({ name }) => name), ["x"]);
  });

  it("has bindings apart by key and arguments, 64-bit integers included", () => {
    const declared = new Declared();
    for (const spec of [binding("q", "x"), binding("q", "x"), binding("q", "x", { routingKey: "l" })]) {
      declared.addBinding(spec);
    }
    declared.addBinding(binding("q", "x", { arguments: { due: 2n ** 60n } }));
    assert.equal(declared.bindings.length, 3);
  });

  it("forgets a deleted queue or exchange, and every binding of it", () => {
    const declared = new Declared();
    declared.addQueue(queueSpec("q"));
    for (const spec of [binding("q", "x"), binding("q", "y"), binding("r", "x"), binding("r", "y")]) {
      declared.addBinding(spec);
    }
    declared.removeQueue("q");
    declared.removeExchange("x");
    assert.deepEqual(declared.queues, []);
    assert.deepEqual(declared.bindings.map(({ queue, exchange }) => [queue, exchange]), [["r", "y"]]);
  });

  it("may be gone with a queue that goes by itself: the queue, its bindings, and what only they kept", () => {
    const exchange = { name: "x", type: "topic", durable: true, autoDelete: true, arguments: {} } as const;
    const parts = [{ durable: false }, { exclusive: true }, { autoDelete: true }, { arguments: { "x-expires": 1 } }];
    for (const part of parts) {
      const declared = new Declared();
      for (const name of ["x", "away"]) declared.addExchange({ ...exchange, name });
      declared.addExchange({ ...exchange, name: "stays", autoDelete: false });
      const queue = { ...queueSpec("q"), arguments: {}, ...part };
      declared.addQueue(queue);
      const bindings = [binding("q", "x"), binding("q", "stays"), binding("q", "undeclared")];
      for (const spec of [...bindings, binding("r", "away")]) declared.addBinding(spec);
      assert.deepEqual(declared.mayBeGoneWith("q"), { exchanges: [exchange], queues: [queue], bindings });
      assert.deepEqual(declared.mayBeGoneWith("r").queues, []);
    }
  });

  it("may not be gone with a queue that only somebody can have deleted", () => {
    const declared = new Declared();
    declared.addQueue({ ...queueSpec("q"), arguments: {} });
    declared.addBinding(binding("q", "x"));
    assert.deepEqual(declared.mayBeGoneWith("q"), { exchanges: [], queues: [], bindings: [] });
  });

  it("forgets a queue with its last consumer where the broker does", () => {
    const declared = new Declared();
    declared.addQueue(queueSpec("q"));
    declared.addQueue({ ...queueSpec("auto"), autoDelete: true });
    declared.addBinding(binding("auto", "x"));
    for (const queue of ["q", "auto", "none"]) declared.endConsumers(queue);
    assert.deepEqual([declared.queues.map(({ name }) => name), declared.bindings], [["q"], []]);
  });
});
