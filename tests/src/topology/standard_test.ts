/** The queues the library keeps beside a queue: contract core 5.2, 5.3 and rule 3 of section 0, argument by argument. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TopologySpec } from "../../../src/topology/specs.ts";
import { deadLetterArguments, failureSide, merge, rungs } from "../../../src/topology/standard.ts";

const CLASSIC = { durable: true, exclusive: false, autoDelete: false };
const DIRECT = { type: "direct", durable: true, autoDelete: false, arguments: {} } as const;

describe("the failure side of a queue", () => {
  it("is acemq.dlx and two classic queues without arguments, each bound under its own name", () => {
    assert.deepEqual(failureSide("orders.new"), {
      exchanges: [{ name: "acemq.dlx", ...DIRECT }],
      queues: [
        { name: "orders.new.dlq", ...CLASSIC, arguments: {} },
        { name: "orders.new.parked", ...CLASSIC, arguments: {} },
      ],
      bindings: [
        { queue: "orders.new.dlq", exchange: "acemq.dlx", routingKey: "orders.new.dlq", arguments: {} },
        { queue: "orders.new.parked", exchange: "acemq.dlx", routingKey: "orders.new.parked", arguments: {} },
      ],
    });
  });

  it("is reached from the queue itself by two arguments", () => {
    assert.deepEqual(deadLetterArguments("orders.new"), {
      "x-dead-letter-exchange": "acemq.dlx",
      "x-dead-letter-routing-key": "orders.new.dlq",
    });
  });
});

describe("the rungs of a queue", () => {
  it("are acemq.retry, a classic queue of exactly three arguments each, and one binding home", () => {
    assert.deepEqual(rungs("orders.new", [40_000, 80_000]), {
      exchanges: [{ name: "acemq.retry", ...DIRECT }],
      queues: [
        {
          name: "orders.new.retry.40s",
          ...CLASSIC,
          arguments: {
            "x-message-ttl": 40_000,
            "x-dead-letter-exchange": "acemq.retry",
            "x-dead-letter-routing-key": "orders.new",
          },
        },
        {
          name: "orders.new.retry.80s",
          ...CLASSIC,
          arguments: {
            "x-message-ttl": 80_000,
            "x-dead-letter-exchange": "acemq.retry",
            "x-dead-letter-routing-key": "orders.new",
          },
        },
      ],
      bindings: [{ queue: "orders.new", exchange: "acemq.retry", routingKey: "orders.new", arguments: {} }],
    });
  });

  it("are nothing at all, not even the exchange, when no wait is the broker's", () => {
    assert.deepEqual(rungs("orders.new", []), { exchanges: [], queues: [], bindings: [] });
  });

  it("have the shared name and the exact time to live for half a second as well [RET-13]", () => {
    const [rung] = rungs("orders.new", [500]).queues;
    assert.equal(rung?.name, "orders.new.retry.500ms");
    assert.equal(rung?.arguments["x-message-ttl"], 500);
  });
});

describe("topologies as one", () => {
  it("name every exchange and queue once, in the order they come, and keep every binding", () => {
    const both = merge(failureSide("a"), failureSide("b"), failureSide("a"));
    assert.deepEqual(both.exchanges.map(({ name }) => name), ["acemq.dlx"]);
    assert.deepEqual(both.queues.map(({ name }) => name), ["a.dlq", "a.parked", "b.dlq", "b.parked"]);
    assert.deepEqual(
      new Set(both.bindings.map(({ queue }) => queue)),
      new Set(["a.dlq", "a.parked", "b.dlq", "b.parked"]),
    );
  });

  it("are nothing when there are none", () => {
    assert.deepEqual(merge(), { exchanges: [], queues: [], bindings: [] } satisfies TopologySpec);
  });
});
