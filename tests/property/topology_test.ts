/** What holds for every topology a caller can build. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { fixedRetry, noRetry } from "../../src/retry/policy.ts";
import { type QueueOptions, type Topology, topology } from "../../src/topology/topology.ts";

const options: fc.Arbitrary<QueueOptions> = fc.record({
  type: fc.constantFrom("quorum", "classic", "stream"),
  durable: fc.boolean(),
  exclusive: fc.boolean(),
  autoDelete: fc.boolean(),
  deadLetter: fc.boolean(),
  retry: fc.constantFrom(noRetry(), fixedRetry(3, { delayMs: 60_000 })),
  rungsMs: fc.constantFrom([], [1_000, 2_000]),
}, { requiredKeys: [] });

/** The topology with these queues; a queue that is refused is left out. */
function built(queues: readonly QueueOptions[]): Topology {
  return queues.reduce((shop, one, index) => {
    try {
      return shop.queue(`q${index}`, one);
    } catch (error) {
      assert.ok(error instanceof TypeError);
      return shop;
    }
  }, topology());
}

describe("any topology", () => {
  it("asks for no queue that is neither durable nor exclusive: RabbitMQ 4 closes the connection over it [TOP-11]", () => {
    let asked = 0;
    fc.assert(fc.property(fc.array(options, { maxLength: 4 }), (queues) => {
      for (const { durable, exclusive } of built(queues).spec.queues) {
        asked++;
        assert.ok(durable || exclusive);
      }
    }));
    assert.ok(asked > 100);
  });

  it("names every queue once, and binds only what it names", () => {
    fc.assert(fc.property(fc.array(options, { maxLength: 4 }), (queues) => {
      const { spec } = built(queues);
      const names = spec.queues.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length);
      for (const { queue, exchange } of spec.bindings) {
        assert.ok(names.includes(queue));
        assert.ok(spec.exchanges.some(({ name }) => name === exchange));
      }
    }));
  });
});
