/** A line that one end believes in longer than the other, and queues that go by themselves. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BrokerConnection, BrokerEvent } from "../../../src/ports/broker.ts";
import { messageFor, openAmqp, queueSpec, reading, uniqueName } from "../../support/amqp_connection.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../../support/services.ts";
import { TcpProxy } from "../../support/tcp_proxy.ts";
import { until } from "../../support/until.ts";

const BROKERS = [
  { name: "RabbitMQ 3", url: AMQP_URL, skip: await missing("rabbitmq") },
  { name: "RabbitMQ 4", url: RABBITMQ4_URL, skip: await missing("rabbitmq4") },
] as const;

for (const { name, url, skip } of BROKERS) {
  describe(`a half-open line to ${name}`, () => {
    it(
      "costs nothing but time where it is found out on this side first: the exclusive queue is locked until the broker finds out, " +
        "then it is back with its binding and its consumer, and all else went on [CN-30]",
      { skip },
      async () => {
        const proxy = await TcpProxy.open(url);
        const { mq, events, reported } = await openAmqp(proxy.url);
        const [mine, other, exchange] = [uniqueName("mine"), uniqueName("other"), uniqueName("x")];
        await mq.declareExchange({ name: exchange, type: "topic", durable: true, autoDelete: false, arguments: {} });
        await mq.declareQueue({ name: mine, durable: false, exclusive: true, autoDelete: false, arguments: {} });
        await mq.bindQueue({ queue: mine, exchange, routingKey: "order.#", arguments: {} });
        await mq.declareQueue(queueSpec(other));
        const [exclusive, ordinary] = [await reading(mq, mine), await reading(mq, other)];

        proxy.abandon();
        await reported("recovered");
        assert.deepEqual([exclusive.subscription.live, ordinary.subscription.live], [false, true]);
        const lost = events.find((event) => event.type === "consumer_lost");
        assert.ok(lost?.queue === mine);
        assert.match(lost.reason, /^40[45] /);
        const refused = events.find((event) => event.type === "redeclare_failed");
        assert.ok(refused?.object === `queue "${mine}"`);
        assert.match(refused.reason, /^RESOURCE_LOCKED - cannot obtain exclusive access to locked queue/);
        // The broker takes turns between this consumer and the one it believes in.
        for (let sent = 0; sent < 2; sent++) await send(mq, messageFor(other));
        await until("one of the messages", () => ordinary.deliveries.length === 1);

        proxy.forget();
        await reported("consumer_recovered");
        await until("everything", () => objects(events, "redeclared") === objects(events, "redeclare_failed"));
        await until("the other message", () => ordinary.deliveries.length === 2);
        // The binding is put back behind the queue: until then nothing is routed, and nothing is there twice.
        await until("the binding", async () => {
          const { outcome } = await mq.publish(messageFor("order.placed", { exchange }), { lane: 1, confirm: true });
          return outcome === "confirmed";
        });
        await until("the message", () => exclusive.deliveries.length === 1);
        assert.deepEqual([count(events, "lost"), count(events, "consumer_lost")], [1, 1]);
        await mq.deleteQueue(other);
        await mq.deleteExchange(exchange);
        await mq.close();
        await proxy.close();
      },
    );
  });

  describe(`an auto-delete queue on ${name}`, () => {
    it("that went while it was consumed from is back with its binding and its consumer", { skip }, async () => {
      const { mq, events, reported } = await openAmqp(url);
      const { mq: another } = await openAmqp(url);
      const [queue, exchange] = [uniqueName("auto"), uniqueName("x")];
      await mq.declareExchange({ name: exchange, type: "topic", durable: true, autoDelete: true, arguments: {} });
      await mq.declareQueue({ name: queue, durable: true, exclusive: false, autoDelete: true, arguments: {} });
      await mq.bindQueue({ queue, exchange, routingKey: "order.#", arguments: {} });
      const { deliveries, subscription } = await reading(mq, queue);
      await another.deleteQueue(queue);
      await reported("consumer_recovered");
      await send(mq, messageFor("order.placed", { exchange }));
      await until("the message", () => deliveries.length === 1);
      assert.deepEqual(events.map(({ type }) => type), ["consumer_lost", "consumer_recovered"]);
      await subscription.close();
      await until("the queue to go", async () => (await another.checkQueue(queue)).status === "absent");
      await Promise.all([mq.close(), another.close()]);
    });
  });
}

async function send(mq: BrokerConnection, message: Parameters<BrokerConnection["publish"]>[0]): Promise<void> {
  assert.deepEqual(await mq.publish(message, { lane: 1, confirm: true }), { outcome: "confirmed" });
}

/** What was told of, each once: a reason that changes is told again. */
function objects(events: readonly BrokerEvent[], wanted: "redeclared" | "redeclare_failed"): string {
  return [...new Set(events.flatMap((event) => event.type === wanted ? [event.object] : []))].toSorted().join();
}

function count(events: readonly BrokerEvent[], wanted: BrokerEvent["type"]): number {
  return events.filter(({ type }) => type === wanted).length;
}
