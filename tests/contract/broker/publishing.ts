/**
 * Publishing: what a receipt says, and that it says it of the right message.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { PublishReceipt } from "../../../src/ports/broker.ts";
import { WireDecimal, WireDouble, type WireTable, WireUnsigned } from "../../../src/message/wire_value.ts";
import { outbound, type Scenario, type World } from "./world.ts";

/** Messages on one lane at most: more than that no broker has to take without a confirm. */
const PER_LANE = 250;

/** The cases about publishing. */
export function publishing(it: Scenario): void {
  it("confirms a message that a queue has taken", async (world) => {
    const queue = await world.queue("q");
    assert.deepEqual(await world.publish(queue, { body: "one" }), { outcome: "confirmed" });
    assert.deepEqual(await world.bodies(queue, 1), ["one"]);
  });

  it(
    "returns a mandatory message that no queue is bound for, and says so in the broker's words",
    async (world) => {
      const exchange = await world.exchange("x", "direct");
      assert.deepEqual(await world.publish("nowhere", { exchange }), { outcome: "unroutable", reason: "312 NO_ROUTE" });
      assert.deepEqual(await world.publish(world.name("none")), { outcome: "unroutable", reason: "312 NO_ROUTE" });
    },
  );

  it("gives a message that has no usable id one of its own, so that a return finds it", async (world) => {
    const queue = await world.queue("q");
    for (const messageId of [undefined, "", "é".repeat(128)]) {
      assert.equal((await world.publish(world.name("none"), { messageId })).outcome, "unroutable");
      assert.equal((await world.publish(queue, { messageId })).outcome, "confirmed");
      const { properties, headers } = await world.take(queue);
      assert.match(properties.messageId ?? "", /^[0-9a-f-]{36}$/);
      assert.deepEqual(headers, {});
    }
  });

  it("confirms a message that is not mandatory and reaches no queue", async (world) => {
    assert.deepEqual(await world.publish(world.name("none"), { mandatory: false }), { outcome: "confirmed" });
  });

  it(
    "tells each of 1,000 messages in flight its own fate: every other one is returned [CN-18] [PUB-05]",
    async (world) => {
      const queue = await world.queue("q");
      const receipts = await flood(world, 1_000, (index) => index % 2 === 0 ? queue : world.name("none"));
      receipts.forEach(({ outcome }, index) => assert.equal(outcome, index % 2 === 0 ? "confirmed" : "unroutable"));
      await world.depth(queue, 500);
    },
  );

  it("confirms 500 messages handed over at once [PUB-15]", async (world) => {
    const queue = await world.queue("q");
    const receipts = await flood(world, 500, () => queue);
    assert.ok(receipts.every(({ outcome }) => outcome === "confirmed"));
  });

  it("keeps the messages of one lane in order", async (world) => {
    const queue = await world.queue("q");
    const sent = Array.from({ length: 200 }, (_, index) => String(index));
    await Promise.all(sent.map((body) => world.publish(queue, { body })));
    const { deliveries, bodies } = await world.read(queue);
    await world.until("all 200 messages", () => deliveries.length === 200);
    assert.deepEqual(bodies(), sent);
  });

  it("says nacked when a full classic queue refuses a message [PUB-03]", async (world) => {
    const queue = await world.queue("q", { "x-max-length": 1, "x-overflow": "reject-publish" });
    await world.fill(queue, "one");
    assert.equal((await world.publish(queue, { body: "two" })).outcome, "nacked");
    assert.deepEqual(await world.bodies(queue, 1), ["one"]);
    assert.equal((await world.publish(queue, { body: "three" })).outcome, "confirmed");
  });

  it.needing("quorum_queues")(
    "says nacked when a quorum queue is beyond its length, one message later than a classic one",
    async (world) => {
      const args = { "x-queue-type": "quorum", "x-max-length": 1, "x-overflow": "reject-publish" };
      const queue = await world.queue("q", args);
      await world.fill(queue, "one", "two");
      // The queue tells its publishers that it is full a moment after it has become so.
      await world.until("a nack", async () => (await world.publish(queue)).outcome === "nacked");
    },
  );

  it("says nacked when one of two queues refuses, although the other has taken the message", async (world) => {
    const exchange = await world.exchange("x", "fanout");
    const full = await world.queue("full", { "x-max-length": 0, "x-overflow": "reject-publish" });
    const other = await world.queue("other");
    await world.bind(full, exchange);
    await world.bind(other, exchange);
    assert.equal((await world.publish("", { exchange, body: "one" })).outcome, "nacked");
    assert.deepEqual(await world.bodies(other, 1), ["one"]);
  });

  it("refuses a message to an exchange that does not exist, and goes on", async (world) => {
    const queue = await world.queue("q");
    const exchange = world.name("none");
    const receipt = await world.publish("key", { exchange });
    assert.ok(receipt.outcome === "refused");
    assert.equal(receipt.written, true);
    assert.match(receipt.reason, new RegExp(`404 NOT_FOUND - no exchange '${exchange}' in vhost '[^']*'`));
    await world.fill(queue, "still here");
  });

  it(
    "refuses a number that is not finite before it is written, and nothing else with it [BRK-04]",
    async (world) => {
      const queue = await world.queue("q");
      const bad: readonly WireTable[] = [
        { n: NaN },
        { n: { deep: [Infinity] } },
        { n: new WireDouble(-Infinity) },
      ];
      const receipts = await Promise.all(
        [{}, ...bad, {}].map((headers) => world.publish(queue, { headers })),
      );
      assert.deepEqual(receipts.map(({ outcome }) => outcome), [
        "confirmed",
        "refused",
        "refused",
        "refused",
        "confirmed",
      ]);
      assert.ok(receipts.every((receipt) => receipt.outcome !== "refused" || !receipt.written));
      assert.equal(world.mq.state.status, "open");
      assert.deepEqual(world.events, []);
    },
  );

  it(
    "refuses an integer of more than 64 bits, half a character and a name of more than 255 bytes",
    async (world) => {
      const queue = await world.queue("q");
      const bad: readonly WireTable[] = [
        { n: 2n ** 63n },
        { n: [-(2n ** 63n) - 1n] },
        { n: 2 ** 63 },
        { n: new WireUnsigned(2n ** 64n) },
        { text: "a\ud800b" },
        { date: new Date(NaN) },
        { decimal: new WireDecimal(256, 1) },
        { ["n".repeat(256)]: 1 },
      ];
      for (const headers of bad) {
        const receipt = await world.publish(queue, { headers });
        assert.ok(receipt.outcome === "refused" && !receipt.written);
      }
      await world.fill(queue, "still here");
    },
  );

  it("refuses a property that has no place on the wire, before it is written, and goes on", async (world) => {
    const queue = await world.queue("q");
    const bad = [
      ...["c".repeat(256), "a\ud800b"].flatMap((text) => [{ contentType: text }, { replyTo: text }]),
      ...[256, -1, 1.5, NaN].map((priority) => ({ priority })),
    ];
    for (const parts of bad) {
      const receipt = await world.publish(queue, parts);
      assert.ok(receipt.outcome === "refused" && !receipt.written, JSON.stringify(parts));
    }
    await world.publish(queue, { contentType: "c".repeat(255), replyTo: "é".repeat(127), priority: 255 });
    const { contentType, replyTo, priority } = (await world.take(queue)).properties;
    assert.deepEqual([contentType, replyTo, priority], ["c".repeat(255), "é".repeat(127), 255]);
  });

  it("refuses a time to live that is no whole number or more than ten years, and goes on", async (world) => {
    const queue = await world.queue("q");
    for (const expirationMs of [1.5, -1, NaN]) {
      const receipt = await world.publish(queue, { expirationMs });
      assert.ok(receipt.outcome === "refused" && !receipt.written);
    }
    const tooLong = await world.publish(queue, { expirationMs: 315_360_000_001 });
    assert.ok(tooLong.outcome === "refused");
    assert.match(
      tooLong.reason,
      /406 PRECONDITION_FAILED - invalid expiration '315360000001': \{value_too_large,315360000001\}/,
    );
    assert.deepEqual(await world.publish(queue, { expirationMs: 315_360_000_000 }), { outcome: "confirmed" });
    await world.take(queue);
    await world.fill(queue, "still here");
  });

  it("refuses headers that do not fit a frame, and goes on", async (world) => {
    const queue = await world.queue("q");
    const { maxHeaderBytes } = world.mq.limits;
    if (maxHeaderBytes === undefined) return;
    const receipt = await world.publish(queue, { headers: { long: "x".repeat(maxHeaderBytes) } });
    assert.ok(receipt.outcome === "refused" && !receipt.written);
    const headers = { long: "x".repeat(maxHeaderBytes - 200) };
    assert.deepEqual(await world.publish(queue, { headers }), { outcome: "confirmed" });
    assert.deepEqual((await world.take(queue)).headers, headers);
  });

  it("says only published when no confirm was asked for, whatever became of the message", async (world) => {
    const queue = await world.queue("q");
    const send = (key: string): Promise<PublishReceipt> => world.mq.publish(outbound(key), { lane: 1, confirm: false });
    assert.deepEqual(await send(queue), { outcome: "published" });
    assert.deepEqual(await send(world.name("none")), { outcome: "published" });
    await world.depth(queue, 1);
  });

  it("is paused when the connection is closed: not a byte was written", async (world) => {
    const queue = await world.queue("q");
    const { mq } = await world.connect();
    await mq.close();
    assert.equal((await world.publish(queue, {}, mq)).outcome, "paused");
    await world.depth(queue, 0);
  });
}

/** Publishes so many messages in one tick, no lane beyond its limit. */
function flood(world: World, count: number, keyOf: (index: number) => string): Promise<readonly PublishReceipt[]> {
  return Promise.all(
    Array.from(
      { length: count },
      (_, index) => world.mq.publish(outbound(keyOf(index)), { lane: 1 + Math.floor(index / PER_LANE), confirm: true }),
    ),
  );
}
