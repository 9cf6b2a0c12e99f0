/** RabbitMQ 4 and RabbitMQ 3 to an application: the same program, unchanged. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PublishError } from "../../../src/errors.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { topology } from "../../../src/topology/topology.ts";
import { World } from "../../contract/broker/world.ts";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { systemClock } from "../../../src/clock.ts";
import { onBroker } from "../../support/brokers.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../../support/services.ts";
import { until } from "../../support/until.ts";

const skip = await missing("rabbitmq4") || await missing("rabbitmq");
const URLS = [AMQP_URL, RABBITMQ4_URL] as const;
const MAX_BODY_BYTES_OF_4 = 16_777_216;

describe("RabbitMQ 4 beside RabbitMQ 3", () => {
  // Of the versions users have met, 3.12, 3.13 and 4.1 to 4.3 are not at hand. 4.1 and later refuse frames below 8,192 bytes; a
  // header larger than that shows which size the defaults ask for.
  it(
    "takes a connection with the defaults, and headers beyond the frame of older clients [CN-01]",
    { skip },
    async () => {
      for (const url of URLS) {
        await onBroker(url, async ({ mq, prefix, removes }) => {
          const queue = `${prefix}.orders`;
          await mq.declare(removes(topology().queue(queue, { type: "classic" })));
          const note = "x".repeat(100_000);
          assert.equal((await mq.health()).status, "up");
          await mq.publisher("", queue).send("large headers", { headers: { note } });
          for await (const delivery of mq.deliveries(queue, { declare: false })) {
            assert.equal(delivery.headers["note"], note);
            break;
          }
        });
      }
    },
  );

  it("finds no drift in a topology that is declared twice on each [TOP-13]", { skip }, async () => {
    const retry = fixedRetry(2, { delayMs: 60_000 });
    for (const url of URLS) {
      await onBroker(url, async ({ mq, prefix, removes }) => {
        const shop = removes(
          topology().exchange(`${prefix}.orders`, "topic")
            .queue(`${prefix}.quorum`, { deadLetter: true, retry })
            .queue(`${prefix}.classic`, { type: "classic", deadLetter: true, retry })
            .queue(`${prefix}.stream`, { type: "stream", maxAgeMs: 3_600_000 })
            .bind(`${prefix}.classic`, { exchange: `${prefix}.orders`, routingKey: "order.#" }),
        );
        for (let round = 0; round < 2; round++) await mq.declare(shop);
        for (const queue of [`${prefix}.quorum`, `${prefix}.classic`]) await mq.consume(queue, () => {}, { retry });
      });
    }
  });

  it("retries through a rung: the attempt counts, whatever the broker counts", { skip }, async () => {
    for (const url of URLS) {
      await onBroker(url, async ({ mq, prefix, removes }) => {
        const queue = `${prefix}.orders`;
        const retry = fixedRetry(2, { delayMs: 1_000, brokerWaitThresholdMs: 0 });
        await mq.declare(removes(topology().queue(queue, { deadLetter: true, retry })));
        const seen: unknown[] = [];
        await mq.consume(queue, ({ envelope, headers, redelivered, payload }) => {
          seen.push([payload, envelope.attempt, redelivered, headers["x-delivery-count"] ?? 0]);
          if (envelope.attempt < 2 || payload === "hopeless") throw new Error("not yet");
        }, { retry });
        await mq.publisher("", queue).sendAll(["hopeful", "hopeless"]);
        const dead = mq.deliveries(`${queue}.dlq`, { declare: false });
        const { value } = await dead.next();
        assert.deepEqual([value?.payload, value?.envelope.attempt], ["hopeless", 2]);
        await until("the other message", () => seen.length === 4);
        await dead.return?.();
        const expected = ["hopeful", "hopeless"].flatMap((payload) => [[payload, 1, false, 0], [payload, 2, false, 0]]);
        assert.deepEqual(
          seen.map((one) => JSON.stringify(one)).sort(),
          expected.map((one) => JSON.stringify(one)).sort(),
        );
      });
    }
  });
});

describe("The message size limit of RabbitMQ 4", () => {
  it("refuses one byte too many before sending, while a hundred others are confirmed [CC-07]", { skip }, async () => {
    await onBroker(RABBITMQ4_URL, async ({ mq, prefix, removes }) => {
      const queue = `${prefix}.scans`;
      await mq.declare(removes(topology().queue(queue)));
      const scans = mq.publisher("", queue, { codec: "bytes" });
      const others = Array.from({ length: 100 }, (_, index) => scans.send(new Uint8Array([index])));
      await assert.rejects(scans.send(new Uint8Array(MAX_BODY_BYTES_OF_4 + 1)), (error) => {
        assert.ok(error instanceof PublishError);
        assert.equal(error.code, "ACEMQ_PUBLISH_REFUSED");
        assert.match(error.reason, /16777217.*16777216/);
        return true;
      });
      for (const { outcome } of await Promise.all(others)) assert.equal(outcome, "confirmed");
      assert.equal((await scans.send(new Uint8Array(MAX_BODY_BYTES_OF_4))).outcome, "confirmed");
      assert.equal((await mq.health()).status, "up");
    });
  });

  it(
    "is not reached by a message of the size that is refused: nothing of it is written [CC-07]",
    { skip },
    async () => {
      const clock = systemClock();
      const world = new World({ broker: amqpBroker(RABBITMQ4_URL), clock, pass: (ms) => clock.delay(ms) });
      try {
        await world.start();
        const queue = await world.queue("scans");
        const receipt = await world.publish(queue, { body: new Uint8Array(MAX_BODY_BYTES_OF_4 + 1) });
        assert.ok(receipt.outcome === "refused" && !receipt.written);
      } finally {
        await world.end();
      }
    },
  );
});
