/** What the library declares, as it goes over the wire: nothing that RabbitMQ 4 closes a connection over. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { topology } from "../../../src/topology/topology.ts";
import { onBroker } from "../../support/brokers.ts";
import { DeclarationTap } from "../../support/declaration_tap.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../../support/services.ts";

const BROKERS = [
  { name: "RabbitMQ 3", url: AMQP_URL, skip: await missing("rabbitmq") },
  { name: "RabbitMQ 4", url: RABBITMQ4_URL, skip: await missing("rabbitmq4") },
] as const;

for (const { name, url, skip } of BROKERS) {
  describe(`what is declared on ${name}`, () => {
    it("is durable or exclusive on every path: topology, consumers, recovery [TOP-11]", { skip }, async () => {
      const tap = await DeclarationTap.open(url);
      try {
        await onBroker(tap.url, async ({ mq, prefix, removes }) => {
          const retry = fixedRetry(3, { delayMs: 60_000 });
          const options = { deadLetter: true, retry, rungsMs: [2_000] };
          const shop = removes(
            topology().queue(`${prefix}.quorum`, options)
              .queue(`${prefix}.classic`, { ...options, type: "classic" })
              .queue(`${prefix}.stream`, { type: "stream" })
              .queue(`${prefix}.auto`, { autoDelete: true })
              .queue(`${prefix}.mine`, { exclusive: true })
              .queue(`${prefix}.transient`, { exclusive: true, durable: false }),
          );
          await mq.declare(shop);
          await mq.declare(shop);
          await mq.consume(`${prefix}.classic`, () => {}, { retry, rungsMs: [3_000] });
          removes(topology().queue(`${prefix}.classic`, { retry, rungsMs: [3_000] }));
          const events = mq.events();
          const beforeCut = tap.declarations.length;
          tap.cut();
          for await (const { type } of events) if (type === "recovered") break;
          const names = shop.spec.queues.map((queue) => queue.name);
          const again = tap.declarations.slice(beforeCut).map(({ queue }) => queue);
          assert.deepEqual(names.filter((queue) => !again.includes(queue)), []);
          assert.ok(again.includes(`${prefix}.classic.retry.3s`));
        }, { cleanUrl: url, reconnect: { initialDelayMs: 50 } });
      } finally {
        await tap.close();
      }
      const asked = tap.declarations.filter(({ passive }) => !passive);
      assert.deepEqual(asked.filter(({ durable, exclusive }) => !durable && !exclusive), []);
    });
  });
}
