/** Planning and validating on RabbitMQ 3 and RabbitMQ 4: contract core 5.5. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TopologyError } from "../../src/errors.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { type Topology, topology } from "../../src/topology/topology.ts";
import { type OnBroker, onBroker } from "../support/brokers.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../support/services.ts";

const BROKERS = [
  { name: "RabbitMQ 3", url: AMQP_URL, skip: await missing("rabbitmq") },
  { name: "RabbitMQ 4", url: RABBITMQ4_URL, skip: await missing("rabbitmq4") },
] as const;

const RETRY = fixedRetry(2, { delayMs: 60_000 });

/** Every kind of queue, and an exchange. */
function shopOf({ prefix, removes }: OnBroker): Topology {
  return removes(
    topology().exchange(`${prefix}.orders`, "topic")
      .queue(`${prefix}.quorum`, { deadLetter: true, retry: RETRY })
      .queue(`${prefix}.classic`, { type: "classic", deadLetter: true })
      .queue(`${prefix}.stream`, { type: "stream", maxAgeMs: 3_600_000 })
      .bind(`${prefix}.classic`, { exchange: `${prefix}.orders`, routingKey: "order.#" }),
  );
}

/** The exchanges and queues of a topology that nobody else has, and what a plan says of each. */
async function ownOf({ mq, prefix }: OnBroker, wanted: Topology): Promise<Map<string, string>> {
  const { items } = await mq.plan(wanted);
  const own = items.filter(({ kind, name }) => kind !== "binding" && name.startsWith(prefix));
  return new Map(own.map(({ name, status }) => [name, status]));
}

for (const { name, url, skip } of BROKERS) {
  describe(`a plan on ${name}`, () => {
    it(`says what would be created and creates nothing, then that all of it is present [TOP-03] [TOP-13] (${name})`, {
      skip,
    }, () =>
      onBroker(url, async (on) => {
        const { mq, prefix } = on;
        const shop = shopOf(on);
        for (let again = 0; again < 2; again++) {
          const statuses = await ownOf(on, shop);
          assert.equal(statuses.size, 9);
          assert.deepEqual(new Set(statuses.values()), new Set(["would_create"]));
        }
        await assert.rejects(mq.publisher(`${prefix}.orders`, "k").send(1), { code: "ACEMQ_PUBLISH_REFUSED" });
        await assert.rejects(mq.publisher("", `${prefix}.quorum`).send(1), { code: "ACEMQ_PUBLISH_UNROUTABLE" });
        await assert.rejects(mq.validate(shop), (error: TopologyError) => {
          assert.equal(error.code, "ACEMQ_TOPOLOGY_MISSING");
          assert.ok(error.findings.length >= 9);
          return true;
        });
        await mq.declare(shop);
        assert.deepEqual(new Set((await ownOf(on, shop)).values()), new Set(["present"]));
        await mq.validate(shop);
      }));

    it(
      `neither binds nor unbinds, and says of bindings that they are unknown (${name})`,
      { skip },
      () =>
        onBroker(url, async ({ mq, prefix, removes }) => {
          const [queue, exchange] = [`${prefix}.q`, `${prefix}.x`];
          const ends = removes(topology().exchange(exchange, "direct").queue(queue));
          await mq.declare(ends);
          const bound = ends.bind(queue, { exchange, routingKey: "k" });
          const planned = async (): Promise<unknown[]> =>
            (await mq.plan(bound)).items.map(({ kind, status }) => [kind, status]);
          const expected = [["exchange", "present"], ["queue", "present"], ["binding", "unknown"]];
          assert.deepEqual(await planned(), expected);
          await assert.rejects(mq.publisher(exchange, "k").send(1), { code: "ACEMQ_PUBLISH_UNROUTABLE" });
          await mq.declare(bound);
          assert.deepEqual(await planned(), expected);
          assert.equal((await mq.publisher(exchange, "k").send(1)).outcome, "confirmed");
          await mq.validate(bound);
        }),
    );

    it(
      `tells what differs in the broker's words, and a consumer goes on meanwhile [TOP-03] (${name})`,
      { skip },
      () =>
        onBroker(url, async ({ mq, prefix, removes }) => {
          const [queue, exchange] = [`${prefix}.q`, `${prefix}.x`];
          await mq.declare(removes(topology().exchange(exchange, "direct").queue(queue, { type: "classic" })));
          const other = topology().exchange(exchange, "fanout").queue(queue, { type: "quorum" });
          const deliveries = mq.deliveries(queue, { declare: false });
          await mq.publisher("", queue).send("first");
          assert.equal((await deliveries.next()).value?.payload, "first");
          const { items } = await mq.plan(other);
          assert.deepEqual(items.map(({ name, status }) => [name, status]), [[exchange, "differs"], [
            queue,
            "differs",
          ]]);
          assert.match(items[0]?.reason ?? "", /^PRECONDITION_FAILED - inequivalent arg 'type' for exchange/);
          assert.match(items[1]?.reason ?? "", /^PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue/);
          await assert.rejects(mq.validate(other), { code: "ACEMQ_TOPOLOGY_DRIFT" });
          await mq.publisher("", queue).send("second");
          assert.equal((await deliveries.next()).value?.payload, "second");
          await deliveries.return?.();
        }),
    );

    it(
      `says of a queue that another connection has for itself that it is locked (${name})`,
      { skip },
      () =>
        onBroker(url, async ({ mq, prefix, removes }) => {
          const mine = removes(topology().queue(`${prefix}.mine`, { exclusive: true }));
          await mq.declare(mine);
          assert.equal((await mq.plan(mine)).items[0]?.status, "present");
          await onBroker(url, async ({ mq: another }) => {
            const [found] = (await another.plan(mine)).items;
            assert.equal(found?.status, "unknown");
            assert.match(found?.reason ?? "", /^RESOURCE_LOCKED/);
            await assert.rejects(another.validate(mine), { code: "ACEMQ_TOPOLOGY_REFUSED" });
          });
        }),
    );
  });
}
