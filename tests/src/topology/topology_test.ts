/** The builder: contract core 5.2 and 5.4, what is declared and what is refused before a broker hears of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exponentialRetry, fixedRetry } from "../../../src/retry/policy.ts";
import type { QueueSpec } from "../../../src/topology/specs.ts";
import { type ExchangeOptions, type QueueOptions, type Topology, topology } from "../../../src/topology/topology.ts";

/** The queue `q` as it is declared with these options. */
function queue(options: QueueOptions = {}): QueueSpec {
  return topology().queue("q", options).spec.queues[0] ?? assert.fail("no queue");
}

/** A topology with one exchange and one queue. */
function shop(options: QueueOptions = {}): Topology {
  return topology().exchange("shop").queue("orders.new", options);
}

function refuses(make: () => unknown, name: "TypeError" | "RangeError", ...words: readonly string[]): void {
  assert.throws(make, (error: unknown) => {
    assert.ok(error instanceof Error);
    assert.equal(error.name, name);
    for (const word of words) assert.ok(error.message.includes(word), error.message);
    return true;
  });
}

describe("a queue", () => {
  const DEAD_LETTER = { "x-dead-letter-exchange": "acemq.dlx", "x-dead-letter-routing-key": "q.dlq" };
  const rows: readonly (readonly [string, QueueOptions, QueueSpec["arguments"]])[] = [
    ["is quorum by itself", {}, { "x-queue-type": "quorum" }],
    ["is quorum when asked", { type: "quorum" }, { "x-queue-type": "quorum" }],
    ["dead-letters by two more arguments", { deadLetter: true }, { "x-queue-type": "quorum", ...DEAD_LETTER }],
    ["is classic by the absence of a type", { type: "classic" }, {}],
    ["that is classic dead-letters the same way", { type: "classic", deadLetter: true }, DEAD_LETTER],
    ["that is a stream says so", { type: "stream" }, { "x-queue-type": "stream" }],
    [
      "that is a stream has its retention",
      { type: "stream", maxAgeMs: 604_800_000, maxLengthBytes: 1_000_000 },
      { "x-queue-type": "stream", "x-max-age": "604800s", "x-max-length-bytes": 1_000_000 },
    ],
    [
      "takes whatever else the caller passes",
      { arguments: { "x-max-length": 10, "x-single-active-consumer": true } },
      { "x-queue-type": "quorum", "x-max-length": 10, "x-single-active-consumer": true },
    ],
    [
      "may dead-letter where the caller says",
      { arguments: { "x-dead-letter-exchange": "mine" } },
      { "x-queue-type": "quorum", "x-dead-letter-exchange": "mine" },
    ],
    ["that retries dead-letters nowhere by itself", { retry: fixedRetry(3) }, { "x-queue-type": "quorum" }],
  ];
  for (const [what, options, args] of rows) {
    it(what, () => {
      const { arguments: declared, ...rest } = queue(options);
      assert.deepEqual(declared, args);
      assert.deepEqual(rest, { name: "q", durable: true, exclusive: false, autoDelete: false });
    });
  }

  const passing: readonly QueueOptions[] = [
    { exclusive: true },
    { autoDelete: true },
    { exclusive: true, durable: false },
    { exclusive: true, autoDelete: true, durable: false, type: "classic" },
  ];
  for (const options of passing) {
    it(`that is passing is classic: ${JSON.stringify(options)} [TOP-07]`, () => {
      const { type: _type, ...flags } = options;
      const plain = { name: "q", durable: true, exclusive: false, autoDelete: false, arguments: {} };
      assert.deepEqual(queue(options), { ...plain, ...flags });
    });
  }

  for (const flag of [{ exclusive: true }, { autoDelete: true }, { exclusive: true, durable: false }]) {
    for (const type of ["quorum", "stream"] as const) {
      it(`that is passing is refused as ${type}: ${JSON.stringify(flag)} [TOP-07]`, () => {
        refuses(() => queue({ ...flag, type }), "TypeError", '"q"', "must be classic", `found ${type}`);
      });
    }
  }

  it("that is transient must be exclusive, since RabbitMQ 4 closes the connection over any other", () => {
    refuses(() => queue({ durable: false }), "TypeError", '"q"', "transient", "exclusive");
    refuses(() => queue({ durable: false, autoDelete: true }), "TypeError", "transient", "exclusive");
  });
});

describe("what comes with a queue", () => {
  it("is its failure side for dead lettering, its rungs for a policy", () => {
    const { exchanges, queues, bindings } = shop({
      deadLetter: true,
      retry: exponentialRetry(4, { initialDelayMs: 20_000 }),
    }).spec;
    assert.deepEqual(exchanges.map(({ name }) => name), ["shop", "acemq.dlx", "acemq.retry"]);
    assert.deepEqual(queues.map(({ name }) => name), [
      "orders.new",
      "orders.new.dlq",
      "orders.new.parked",
      "orders.new.retry.40s",
      "orders.new.retry.80s",
    ]);
    assert.deepEqual(bindings.map(({ queue, exchange, routingKey }) => [queue, exchange, routingKey]), [
      ["orders.new.dlq", "acemq.dlx", "orders.new.dlq"],
      ["orders.new.parked", "acemq.dlx", "orders.new.parked"],
      ["orders.new", "acemq.retry", "orders.new"],
    ]);
  });

  it("is nothing without either, and nothing for a policy without rungs", () => {
    for (const options of [{}, { retry: exponentialRetry(5) }]) {
      const { exchanges, queues, bindings } = shop(options).spec;
      assert.deepEqual([exchanges.length, queues.length, bindings.length], [1, 1, 0]);
    }
  });

  it("is no rung under a threshold of zero, however long the waits [RET-09]", () => {
    const policy = fixedRetry(3, { delayMs: 3_600_000, brokerWaitThresholdMs: 0 });
    assert.deepEqual(shop({ retry: policy }).spec.queues.map(({ name }) => name), ["orders.new"]);
  });

  it("is one rung for equal waits [RET-12]", () => {
    const { queues } = shop({ retry: fixedRetry(4, { delayMs: 40_000 }) }).spec;
    assert.deepEqual(queues.map(({ name }) => name), ["orders.new", "orders.new.retry.40s"]);
  });

  it("is a rung for each delay that handlers may ask for, with or without a policy", () => {
    const names = (options: QueueOptions): readonly string[] => shop(options).spec.queues.map(({ name }) => name);
    assert.deepEqual(names({ rungsMs: [60_000] }), ["orders.new", "orders.new.retry.1m"]);
    assert.deepEqual(names({ rungsMs: [60_000], retry: fixedRetry(3, { delayMs: 30_000 }) }), [
      "orders.new",
      "orders.new.retry.30s",
      "orders.new.retry.1m",
    ]);
  });

  it("is refused with a policy whose waits on the broker are not whole seconds [RET-12] [RET-13]", () => {
    const growing = exponentialRetry(3, { initialDelayMs: 1_200, multiplier: 1.4 / 1.2, brokerWaitThresholdMs: 1_000 });
    const half = fixedRetry(2, { delayMs: 500, brokerWaitThresholdMs: 500 });
    refuses(() => shop({ retry: growing }), "RangeError", "whole seconds", "1200 ms");
    refuses(() => shop({ retry: half }), "RangeError", "whole seconds", "500 ms");
    refuses(() => shop({ rungsMs: [1_500] }), "RangeError", "whole seconds", "1500 ms");
  });

  it("must fit the 255 bytes of a name as well", () => {
    const longest = "q".repeat(255 - ".parked".length);
    assert.equal(topology().queue(longest).spec.queues.length, 1);
    refuses(() => topology().queue(`${longest}q`), "RangeError", "255 bytes");
    refuses(() => topology().queue(longest, { rungsMs: [60_000] }), "RangeError", "255 bytes");
  });
});

describe("a queue is refused", () => {
  it("without a name, or with one that is too long", () => {
    refuses(() => topology().queue(""), "TypeError", "queue name", "empty text");
    refuses(() => topology().queue(7 as unknown as string), "TypeError", "queue name", "number");
    refuses(() => topology().queue("ü".repeat(128)), "RangeError", "queue name", "256");
  });

  it("when its name is taken, also by what comes with another", () => {
    refuses(() => shop().queue("orders.new"), "TypeError", '"orders.new"', "already");
    refuses(() => shop({ deadLetter: true }).queue("orders.new.dlq"), "TypeError", '"orders.new.dlq"', "already");
    const taken = topology().queue("orders.new.retry.1m");
    refuses(() => taken.queue("orders.new", { rungsMs: [60_000] }), "TypeError", '"orders.new.retry.1m"', "already");
  });

  it("when its type is no type, or said twice", () => {
    refuses(() => queue({ type: "lazy" as "classic" }), "TypeError", "quorum, classic or stream", "lazy");
    refuses(() => queue({ arguments: { "x-queue-type": "quorum" } }), "TypeError", "x-queue-type");
    refuses(() => queue({ type: "classic", arguments: { "x-queue-type": "classic" } }), "TypeError", "x-queue-type");
  });

  it("when it dead-letters by option and by argument", () => {
    for (const name of ["x-dead-letter-exchange", "x-dead-letter-routing-key"]) {
      refuses(() => queue({ deadLetter: true, arguments: { [name]: "mine" } }), "TypeError", "'deadLetter'", "both");
    }
  });

  it("when a stream is asked for what it cannot do, or another queue for what only a stream can", () => {
    refuses(() => queue({ type: "stream", deadLetter: true }), "TypeError", "stream");
    refuses(() => queue({ type: "stream", retry: fixedRetry(2) }), "TypeError", "stream");
    refuses(() => queue({ type: "stream", rungsMs: [60_000] }), "TypeError", "stream");
    refuses(() => queue({ maxAgeMs: 1_000 }), "TypeError", "'maxAgeMs'", "streams");
    refuses(() => queue({ type: "classic", maxLengthBytes: 1 }), "TypeError", "'maxLengthBytes'", "streams");
    refuses(() => queue({ type: "stream", maxAgeMs: 1_500 }), "RangeError", "'maxAgeMs'", "whole seconds");
    refuses(() => queue({ type: "stream", maxAgeMs: 0 }), "RangeError", "'maxAgeMs'");
    refuses(() => queue({ type: "stream", maxLengthBytes: 0 }), "RangeError", "'maxLengthBytes'");
  });
});

describe("an exchange", () => {
  const added = (options?: ExchangeOptions): unknown =>
    topology().exchange("shop", "fanout", options).spec.exchanges[0];

  it("is durable, and a topic one when nothing is said", () => {
    assert.deepEqual(topology().exchange("shop").spec.exchanges, [
      { name: "shop", type: "topic", durable: true, autoDelete: false, arguments: {} },
    ]);
  });

  it("is what its options say", () => {
    const options = { durable: false, autoDelete: true, arguments: { "alternate-exchange": "lost" } };
    assert.deepEqual(added(options), { name: "shop", type: "fanout", ...options });
  });

  it("is refused without a name, with a name that is taken, with an unknown type", () => {
    refuses(() => topology().exchange(""), "TypeError", "exchange name");
    refuses(() => topology().exchange("shop").exchange("shop", "direct"), "TypeError", '"shop"', "already");
    refuses(() => topology().exchange("shop", "x-delayed-message" as "direct"), "TypeError", "x-delayed-message");
  });
});

describe("a binding", () => {
  it("joins a queue and an exchange of the topology", () => {
    const args = { "x-match": "all", kind: "order" };
    const bound = shop().bind("orders.new", { exchange: "shop", routingKey: "order.*", arguments: args })
      .bind("orders.new", { exchange: "shop" });
    assert.deepEqual(bound.spec.bindings, [
      { queue: "orders.new", exchange: "shop", routingKey: "order.*", arguments: args },
      { queue: "orders.new", exchange: "shop", routingKey: "", arguments: {} },
    ]);
  });

  it("may name an exchange of the broker's own, and what comes with a queue", () => {
    const bound = shop({ deadLetter: true }).bind("orders.new", { exchange: "amq.topic", routingKey: "#" })
      .bind("orders.new.dlq", { exchange: "shop", routingKey: "order.lost" });
    assert.deepEqual(bound.spec.bindings.slice(0, 2).map(({ queue, exchange }) => [queue, exchange]), [
      ["orders.new", "amq.topic"],
      ["orders.new.dlq", "shop"],
    ]);
  });

  it("is refused for a queue or an exchange that the topology does not name [TOP-16]", () => {
    refuses(() => shop().bind("orders.old", { exchange: "shop" }), "TypeError", '"orders.old"', "no queue");
    refuses(() => shop().bind("orders.new.dlq", { exchange: "shop" }), "TypeError", '"orders.new.dlq"', "no queue");
    refuses(() => shop().bind("orders.new", { exchange: "store" }), "TypeError", '"store"', "no exchange");
  });

  it("is refused for the default exchange and for a routing key of 256 bytes", () => {
    refuses(() => shop().bind("orders.new", { exchange: "" }), "TypeError", "default exchange");
    refuses(
      () => shop().bind("orders.new", { exchange: "shop", routingKey: "ü".repeat(128) }),
      "RangeError",
      "routing key",
      "256",
    );
  });
});

describe("a topology", () => {
  it("is a value: every step is a new one", () => {
    const empty = topology();
    const one = empty.queue("a");
    one.exchange("x").queue("b").bind("a", { exchange: "x" });
    assert.deepEqual(empty.spec, { exchanges: [], queues: [], bindings: [] });
    assert.deepEqual(one.spec.queues.map(({ name }) => name), ["a"]);
  });

  it("does not change with the arguments it was given", () => {
    const args: Record<string, string> = { kind: "order" };
    const made = topology().exchange("x", "headers", { arguments: args }).queue("q", { arguments: args })
      .bind("q", { exchange: "x", arguments: args });
    const before = JSON.stringify(made.spec);
    args["kind"] = "other";
    assert.equal(JSON.stringify(made.spec), before);
  });
});
