/** Streams on RabbitMQ: what goes over the wire, and what becomes of the connection. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BrokerConnection } from "../../../src/ports/broker.ts";
import { messageFor, openAmqp, queueSpec, reading, uniqueName } from "../../support/amqp_connection.ts";
import { readContentHeader } from "../../support/content_header.ts";
import { AMQP_URL, missing, RABBITMQ4_URL } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { WireTap } from "../../support/wire_tap.ts";

const BROKERS = [
  { name: "RabbitMQ 3", url: AMQP_URL, skip: await missing("rabbitmq") },
  { name: "RabbitMQ 4", url: RABBITMQ4_URL, skip: await missing("rabbitmq4") },
] as const;

const FIRST = { "x-stream-offset": "first" };

for (const { name, url, skip } of BROKERS) {
  describe(`a stream on ${name}`, () => {
    it("says where an entry lies with a signed long integer", { skip }, async () => {
      const tap = await WireTap.open(url);
      try {
        await withStream(tap.url, async (mq, stream) => {
          for (let entry = 0; entry < 2; entry++) await mq.publish(messageFor(stream), { lane: 1, confirm: true });
          const { deliveries } = await reading(mq, stream, { arguments: FIRST });
          await until("two entries", () => deliveries.length === 2);
          const offsets = tap.contentHeaders.map((bytes) =>
            readContentHeader(bytes).headers.find(([header]) => header === "x-stream-offset")
          );
          assert.deepEqual(offsets, [["x-stream-offset", "l", 0], ["x-stream-offset", "l", 1]]);
        });
      } finally {
        await tap.close();
      }
    });
  });
}

/** A connection and a stream that is removed in the end. */
async function withStream(
  url: string,
  play: (mq: BrokerConnection, stream: string, observed: Awaited<ReturnType<typeof openAmqp>>) => Promise<void>,
): Promise<void> {
  const observed = await openAmqp(url);
  const { mq } = observed;
  const stream = uniqueName("stream");
  try {
    const spec = { ...queueSpec(stream), arguments: { "x-queue-type": "stream" } };
    assert.deepEqual(await mq.declareQueue(spec), { status: "declared" });
    await play(mq, stream, observed);
  } finally {
    await until("a connection", () => mq.state.status === "open");
    await mq.deleteQueue(stream);
    await mq.close();
  }
}
