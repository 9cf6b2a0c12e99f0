/**
 * Comparing: how what is to be declared relates to what is there, found without creating it.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { BrokerConnection, CompareResult } from "../../../src/ports/broker.ts";
import type { ExchangeSpec, ExchangeType, QueueSpec } from "../../../src/topology/specs.ts";
import { askingFor, type Scenario } from "./world.ts";

const ARGUMENTS = { "x-message-ttl": 60_000, "x-max-length": 5 };

/** What a declaration says otherwise than a durable classic queue with {@linkcode ARGUMENTS}. */
const DIFFERENCES: readonly Partial<QueueSpec>[] = [
  { arguments: { ...ARGUMENTS, "x-message-ttl": 2_000 } },
  { arguments: { ...ARGUMENTS, "x-expires": 100_000 } },
  { arguments: { "x-message-ttl": 60_000 } },
  { arguments: { ...ARGUMENTS, "x-queue-type": "quorum" } },
  { arguments: { ...ARGUMENTS, "x-message-ttl": -1 } },
  { durable: false, arguments: ARGUMENTS },
  { autoDelete: true, arguments: ARGUMENTS },
];

/** What a declaration says otherwise than a durable direct exchange. */
const EXCHANGE_DIFFERENCES: readonly Partial<ExchangeSpec>[] = [
  { type: "topic" },
  { durable: false },
  { autoDelete: true },
  { arguments: { "alternate-exchange": "a" } },
];

/** The cases about comparing. */
export function comparing(it: Scenario): void {
  const quorum = it.needing("quorum_queues");

  it("finds absent what is not there, in the broker's words, and creates none of it [TOP-03]", async (world) => {
    const [queue, exchange] = [world.name("no queue"), world.name("no exchange")];
    for (let again = 0; again < 2; again++) {
      assert.deepEqual(await world.mq.compareQueue(queueSpec(queue)), {
        status: "absent",
        reason: `NOT_FOUND - no queue '${queue}' in vhost '/'`,
      });
      assert.deepEqual(await world.mq.compareExchange(exchangeSpec(exchange)), {
        status: "absent",
        reason: `NOT_FOUND - no exchange '${exchange}' in vhost '/'`,
      });
    }
    const { mq: another } = await world.connect();
    assert.deepEqual(await another.checkQueue(queue), { status: "absent" });
    assert.equal(await another.checkExchange(exchange), "absent");
  });

  it("finds the same what a declaration would not change, and leaves it as it was", async (world) => {
    const queue = await world.queue("q", ARGUMENTS);
    const exchange = await world.exchange("x", "topic", { "alternate-exchange": "a" });
    await world.fill(queue, "1");
    const alike = { ...ARGUMENTS, "x-message-ttl": 60_000n, "x-queue-type": "classic", "x-unknown": 1 };
    for (const args of [ARGUMENTS, alike]) {
      assert.deepEqual(await world.mq.compareQueue(queueSpec(queue, { arguments: args })), { status: "same" });
    }
    const wanted = exchangeSpec(exchange, { type: "topic", arguments: { "alternate-exchange": "a" } });
    assert.deepEqual(await world.mq.compareExchange(wanted), { status: "same" });
    assert.deepEqual(await world.mq.checkQueue(queue), { status: "present", messages: 1, consumers: 0 });
  });

  for (const spec of DIFFERENCES) {
    askingFor(it, spec.arguments)(
      `tells that a queue differs from ${written(spec)} as its declaration would`,
      async (world) => {
        const queue = await world.queue("q", ARGUMENTS);
        const declared = await world.declareQueue(queue, spec);
        assert.equal(declared.status, "differs");
        assert.deepEqual(await world.mq.compareQueue(queueSpec(queue, spec)), declared);
        await world.fill(queue, "and everything goes on");
      },
    );
  }

  for (const spec of EXCHANGE_DIFFERENCES) {
    it(`tells that an exchange differs from ${written(spec)} as its declaration would`, async (world) => {
      const exchange = await world.exchange("x", "direct");
      const declared = await world.declareExchange(exchange, spec);
      assert.equal(declared.status, "differs");
      assert.deepEqual(await world.mq.compareExchange(exchangeSpec(exchange, spec)), declared);
      assert.equal(await world.mq.checkExchange(exchange), "present");
    });
  }

  quorum("compares a quorum queue as well", async (world) => {
    const args = { "x-queue-type": "quorum", "x-delivery-limit": 5 };
    const queue = await world.queue("q", args);
    assert.deepEqual(await world.mq.compareQueue(queueSpec(queue, { arguments: args })), { status: "same" });
    const other = await world.mq.compareQueue(queueSpec(queue));
    assert.equal(other.status, "differs");
    assert.match(reasonOf(other), /^PRECONDITION_FAILED - inequivalent arg 'x-queue-type'/);
  });

  it("says of a queue that another connection has for itself that it is locked", async (world) => {
    const queue = world.name("mine");
    const { mq: owner } = await world.connect();
    const exclusive = { durable: false, exclusive: true };
    assert.deepEqual(await world.declareQueue(queue, { ...exclusive, by: owner }), { status: "declared" });
    const ask = (by: BrokerConnection, spec: Partial<QueueSpec>): Promise<CompareResult> =>
      by.compareQueue(queueSpec(queue, spec));
    const words = new RegExp(`^RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '${queue}'`);
    for (const spec of [exclusive, {}]) {
      const found = await ask(world.mq, spec);
      assert.equal(found.status, "refused");
      assert.match(reasonOf(found), words);
    }
    assert.deepEqual(await ask(owner, exclusive), { status: "same" });
    const shared = await ask(owner, { durable: false });
    assert.equal(shared.status, "differs");
    assert.match(reasonOf(shared), words);
  });

  it("tells that a queue everybody may use is not an exclusive one", async (world) => {
    const queue = await world.queue("q");
    const found = await world.mq.compareQueue(queueSpec(queue, { exclusive: true }));
    assert.equal(found.status, "differs");
    assert.match(reasonOf(found), /^RESOURCE_LOCKED - cannot obtain exclusive access to locked queue/);
  });

  it("knows the exchanges that are the broker's own, and compares none with the default one", async ({ mq }) => {
    assert.deepEqual(await mq.compareExchange(exchangeSpec("amq.direct")), { status: "same" });
    assert.equal((await mq.compareExchange(exchangeSpec("amq.direct", { type: "topic" }))).status, "differs");
    assert.equal((await mq.compareExchange(exchangeSpec("amq.acemq-contract"))).status, "absent");
    assert.deepEqual(await mq.compareExchange(exchangeSpec("")), {
      status: "refused",
      reason: "ACCESS_REFUSED - operation not permitted on the default exchange",
    });
  });

  it("refuses what no declaration can say, and goes on", async (world) => {
    const [queue, exchange] = [await world.queue("q"), await world.exchange("x", "direct")];
    const args = { "x-nothing": NaN };
    const type = "x-unknown" as ExchangeType;
    const found = [
      await world.mq.compareQueue(queueSpec(queue, { arguments: args })),
      await world.mq.compareQueue(queueSpec("")),
      await world.mq.compareExchange(exchangeSpec(exchange, { arguments: args })),
      await world.mq.compareExchange(exchangeSpec(exchange, { type })),
    ];
    assert.deepEqual(found.map(({ status }) => status), ["refused", "refused", "refused", "refused"]);
    assert.deepEqual(world.events, []);
    await world.fill(queue, "and everything goes on");
  });
}

function queueSpec(name: string, spec: Partial<QueueSpec> = {}): QueueSpec {
  return { name, durable: true, exclusive: false, autoDelete: false, arguments: {}, ...spec };
}

function exchangeSpec(name: string, spec: Partial<ExchangeSpec> = {}): ExchangeSpec {
  return { name, type: "direct", durable: true, autoDelete: false, arguments: {}, ...spec };
}

function written(spec: Partial<QueueSpec | ExchangeSpec>): string {
  return JSON.stringify(spec);
}

function reasonOf(found: CompareResult): string {
  return found.status === "same" ? "the same" : found.reason;
}
