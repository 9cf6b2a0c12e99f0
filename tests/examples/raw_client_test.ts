/** The demonstration's foreign input is foreign: what was recorded goes out as it was recorded. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connect, topology } from "@acemq/amqp";
import { RawClient } from "../../examples/demo/raw_client.ts";
import { recordedValues, recordings } from "../../examples/demo/recordings.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import { WireTap } from "../support/wire_tap.ts";

const skip = await missing("rabbitmq");
const all = recordings();

describe("the recordings of the demonstration", () => {
  it("are replayed byte for byte: content header and body arrive as they were recorded", { skip }, async () => {
    const tap = await WireTap.open();
    const mq = await connect(tap.url);
    const queue = `demo-test-${crypto.randomUUID()}`;
    const bodies: Uint8Array[] = [];
    try {
      await mq.declare(topology().queue(queue, { exclusive: true }));
      const client = await RawClient.open(new URL(AMQP_URL));
      for (const recording of all) await client.publish({ exchange: "", routingKey: queue }, recording);
      client.close();
      for await (const delivery of mq.deliveries<Uint8Array>(queue, { codec: "bytes", declare: false })) {
        bodies.push(delivery.payload);
        if (bodies.length === all.length) break;
      }
    } finally {
      await mq.close();
      await tap.close();
    }
    assert.deepEqual(bodies, all.map(({ body }) => body));
    assert.deepEqual(tap.contentHeaders, all.map(({ contentHeader }) => contentHeader));
  });

  it("refuse to be counted where no queue takes them", { skip }, async () => {
    const client = await RawClient.open(new URL(AMQP_URL));
    const [recording] = all;
    assert.ok(recording !== undefined);
    const target = { exchange: "", routingKey: `demo-test-${crypto.randomUUID()}` };
    await assert.rejects(client.publish(target, recording), /^Error: Cannot go on: the broker answered with NO_ROUTE$/);
    client.close();
  });

  it("hold what this library never writes: no header at all, byte strings, integers of other widths", () => {
    const target = { exchange: "", routingKey: "orders.new" };
    const values = all.map((recording) => recordedValues(recording, target));
    assert.ok(values.some(({ headers = {} }) => Object.keys(headers).length === 0));
    assert.ok(values.some(({ headers }) => headers?.["x-acemq-id"] instanceof Uint8Array));
    const attempt = new TextEncoder().encode("x-acemq-attempt");
    const kinds = all.map(({ contentHeader }) => kindAfter(contentHeader, attempt));
    assert.ok(kinds.includes("b") && kinds.includes("s") && kinds.includes("l"), kinds.join());
  });
});

/** The AMQP kind of the header of this name. */
function kindAfter(header: Uint8Array, name: Uint8Array): string {
  const text = new TextDecoder("latin1");
  const at = text.decode(header).indexOf(text.decode(name));
  return at < 0 ? "" : text.decode(header.slice(at + name.length, at + name.length + 1));
}
