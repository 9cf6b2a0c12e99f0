/**
 * Names: which the broker takes, which never reach it, and what it makes of a line break.
 *
 * @module
 */

import assert from "node:assert/strict";
import { TopologyError } from "../../../src/errors.ts";
import type { BrokerConnection } from "../../../src/ports/broker.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../../src/topology/specs.ts";
import type { Scenario, World } from "./world.ts";

/** What no short text of AMQP holds. */
const IMPOSSIBLE: readonly (readonly [label: string, name: string])[] = [
  ["of 256 characters", "n".repeat(256)],
  ["of 256 bytes in 128 characters", "é".repeat(128)],
  ["with half a character in it", "half \ud800 of one"],
];

/** The cases about names. */
export function names(it: Scenario): void {
  for (const [label, name] of IMPOSSIBLE) {
    it(`refuses to declare, bind or compare a name ${label}, and goes on`, async (world) => {
      const answers = await declarations(world, name);
      assert.deepEqual(answers.map(({ status }) => status), answers.map(() => "refused"));
      await goesOn(world);
    });

    it(`rejects a question about a name ${label}, and goes on`, async (world) => {
      for (const ask of questions(world.mq, name)) {
        await assert.rejects(
          ask,
          (error) =>
            error instanceof RangeError ||
            error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_REFUSED",
        );
      }
      await assert.rejects(world.read(name));
      await goesOn(world);
    });

    it(`writes no message to an exchange or by a key ${label}`, async (world) => {
      const exchange = await world.exchange("x", "fanout");
      const queue = await world.queue("q");
      await world.bind(queue, exchange);
      for (const [key, parts] of [[name, {}], [name, { exchange }], ["key", { exchange: name }]] as const) {
        const receipt = await world.publish(key, { ...parts, mandatory: false });
        assert.ok(receipt.outcome === "refused" && !receipt.written);
      }
      assert.deepEqual(await world.publish("key", { exchange }), { outcome: "confirmed" });
      await world.depth(queue, 1);
      await goesOn(world);
    });
  }

  it("takes names and keys of 255 bytes", async (world) => {
    const [queue, exchange] = [full(world.name("q")), full(world.name("x"))];
    const key = "é".repeat(127) + "k";
    assert.deepEqual(await world.declareQueue(queue), { status: "declared" });
    assert.deepEqual(await world.declareExchange(exchange), { status: "declared" });
    await world.bind(queue, exchange, { key });
    assert.deepEqual(await world.publish(key, { exchange }), { outcome: "confirmed" });
    await world.fill(queue, "2");
    assert.equal(await world.mq.checkExchange(exchange), "present");
    await world.depth(queue, 2);
  });

  it("takes line breaks out of a name that is declared, asked for, bound or deleted, and out of no other", async (world) => {
    const [plain, broken] = [world.name("ab"), `${world.name("a")}\r\nb\n`];
    assert.deepEqual(await world.declareExchange(plain), { status: "declared" });
    assert.deepEqual(await world.mq.declareExchange(exchangeSpec(broken)), { status: "declared" });
    assert.deepEqual(await world.declareQueue(plain), { status: "declared" });
    assert.deepEqual(await world.mq.declareQueue(queueSpec(broken)), { status: "declared" });
    assert.deepEqual(await world.mq.compareQueue(queueSpec(broken)), { status: "same" });
    assert.deepEqual(await world.mq.compareExchange(exchangeSpec(broken)), { status: "same" });
    await world.bind(broken, broken, { key: "k" });
    assert.deepEqual(await world.publish("k", { exchange: plain }), { outcome: "confirmed" });
    assert.deepEqual(await world.mq.checkQueue(broken), { status: "present", messages: 1, consumers: 0 });
    assert.equal(await world.mq.checkExchange(broken), "present");
    const missing = (error: unknown): boolean =>
      error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_MISSING";
    for (const ask of [() => world.pull(broken), () => world.mq.purgeQueue(broken), () => world.read(broken)]) {
      await assert.rejects(ask, missing);
    }
    assert.equal((await world.publish(broken)).outcome, "unroutable");
    assert.equal((await world.publish("k", { exchange: broken })).outcome, "refused");
    await world.mq.deleteQueue(broken);
    await world.mq.deleteExchange(broken);
    assert.deepEqual(await world.mq.checkQueue(plain), { status: "absent" });
    assert.equal(await world.mq.checkExchange(plain), "absent");
  });

  it("leaves line breaks in a routing key", async (world) => {
    const [exchange, queue] = [await world.exchange("x", "direct"), await world.queue("q")];
    await world.bind(queue, exchange, { key: "a\nb" });
    assert.deepEqual(await world.publish("a\nb", { exchange }), { outcome: "confirmed" });
    assert.equal((await world.publish("ab", { exchange })).outcome, "unroutable");
  });

  it("binds no queue that has no name", async (world) => {
    const exchange = await world.exchange("x", "direct");
    assert.deepEqual(await world.mq.bindQueue(binding({ queue: "", exchange })), {
      status: "refused",
      reason: "NOT_FOUND - no previously declared queue",
    });
  });

  it("finds nothing by a name that only the broker may give", async ({ mq }) => {
    const name = "amq.acemq-contract-none";
    assert.deepEqual(await mq.checkQueue(name), { status: "absent" });
    assert.equal(await mq.checkExchange(name), "absent");
    assert.equal((await mq.compareQueue(queueSpec(name))).status, "absent");
    await mq.deleteQueue(name);
    await assert.rejects(mq.deleteExchange(name), TopologyError);
  });

  it("refuses a consumer tag that is no name", async (world) => {
    const queue = await world.queue("q");
    const subscribe = (consumerTag: string): Promise<unknown> =>
      world.mq.subscribe(queue, {
        prefetch: 1,
        consumerTag,
        onDelivery: () => {},
        onLost: () => {},
        onRecovered: () => {},
      });
    await assert.rejects(subscribe(""), TypeError);
    await assert.rejects(subscribe("t".repeat(256)), RangeError);
    assert.deepEqual(await world.mq.checkQueue(queue), { status: "present", messages: 0, consumers: 0 });
  });
}

/** Everything that is answered with a status. */
async function declarations(world: World, name: string): Promise<readonly { readonly status: string }[]> {
  const { mq } = world;
  const [queue, exchange] = [await world.queue("q"), await world.exchange("x", "direct")];
  return [
    await mq.declareQueue(queueSpec(name)),
    await mq.declareExchange(exchangeSpec(name)),
    await mq.compareQueue(queueSpec(name)),
    await mq.compareExchange(exchangeSpec(name)),
    await mq.bindQueue(binding({ queue: name, exchange })),
    await mq.bindQueue(binding({ queue, exchange: name })),
    await mq.bindQueue(binding({ queue, exchange, routingKey: name })),
  ];
}

/** Everything that is answered with a value, or rejects. */
function questions(mq: BrokerConnection, name: string): readonly (() => Promise<unknown>)[] {
  return [
    () => mq.checkQueue(name),
    () => mq.checkExchange(name),
    () => mq.openPuller(name),
    () => mq.purgeQueue(name),
    () => mq.deleteQueue(name),
    () => mq.deleteExchange(name),
  ];
}

async function goesOn(world: World): Promise<void> {
  await world.fill(await world.queue("and everything goes on"), "1");
  assert.deepEqual(world.events, []);
}

/** A name filled up to the 255 bytes that fit. */
function full(name: string): string {
  return name.padEnd(255, ".");
}

function queueSpec(name: string): QueueSpec {
  return { name, durable: true, exclusive: false, autoDelete: false, arguments: {} };
}

function exchangeSpec(name: string): ExchangeSpec {
  return { name, type: "direct", durable: true, autoDelete: false, arguments: {} };
}

function binding(spec: Pick<BindingSpec, "queue" | "exchange"> & Partial<BindingSpec>): BindingSpec {
  return { routingKey: "", arguments: {}, ...spec };
}
