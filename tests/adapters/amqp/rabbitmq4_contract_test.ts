/** RabbitMQ 4 keeps the broker contract, and where it answers otherwise than RabbitMQ 3, this is how. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { systemClock } from "../../../src/clock.ts";
import type { ReceivedMessage } from "../../../src/message/received.ts";
import { WireDouble, WireUnsigned, type WireValue } from "../../../src/message/wire_value.ts";
import { rungName } from "../../../src/naming/queue_names.ts";
import { rungs } from "../../../src/topology/standard.ts";
import { type BrokerUnderTest, World } from "../../contract/broker/world.ts";
import { brokerContract } from "../../contract/mod.ts";
import { type Difference, STREAM_DIFFERENCES } from "../../support/rabbitmq4_streams.ts";
import { missing, RABBITMQ4_URL } from "../../support/services.ts";

const skip = await missing("rabbitmq4");
const RUNG_MS = 100;

const DIFFERENCES: readonly Difference[] = [
  ...STREAM_DIFFERENCES,
  [
    ['matches the headers binding {"a":1}'],
    "tells a double and a date from an integer in a headers binding",
    async (world) => {
      const [exchange, queue] = [await world.exchange("x", "headers"), await world.queue("q")];
      await world.bind(queue, exchange, { args: { a: 1 } });
      const fate = async (a: WireValue): Promise<string> =>
        (await world.publish("", { exchange, headers: { a } })).outcome;
      for (const same of [1, 1n]) assert.equal(await fate(same), "confirmed", String(same));
      for (const other of [new WireDouble(1), new Date(1_000), "1", true]) {
        assert.equal(await fate(other), "unroutable", String(other));
      }
    },
  ],
  [["carries every kind of header value"], "reads an unsigned integer as a signed one", async (world) => {
    const queue = await world.queue("q");
    await world.publish(queue, { headers: { large: new WireUnsigned(2n ** 64n - 1n), small: new WireUnsigned(5n) } });
    assert.deepEqual((await world.take(queue)).headers, { large: -1, small: 5 });
  }],
  [
    ["puts a requeued message of a quorum queue without a delivery limit at the back"],
    "puts a requeued message of a quorum queue at the front: there is always a delivery limit",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum" });
      await world.fill(queue, "1", "2", "3");
      (await world.hold(queue)).settle("requeue");
      await world.depth(queue, 3);
      assert.deepEqual(await world.bodies(queue, 3), ["1", "2", "3"]);
    },
  ],
  [
    ["tells a first pull from a quorum queue that the message came back 0 times"],
    "says nothing of x-delivery-count when a message is handed out for the first time, by push or by pull",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum" });
      await world.fill(queue, "pulled", "pushed");
      assert.deepEqual((await world.take(queue)).headers, {});
      const { deliveries } = await world.read(queue);
      await world.until("the message", () => deliveries.length === 1);
      assert.deepEqual(deliveries.map(({ message }) => message.headers), [{}]);
    },
  ],
  [
    ["counts only what waits against the length of a quorum queue"],
    "drops from a quorum queue that is too long what came back to it",
    async (world) => {
      const dead = await world.queue("dead");
      const args = { "x-queue-type": "quorum", "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
      const queue = await world.queue("q", { ...args, "x-max-length": 1 });
      await world.fill(queue, "1");
      const held = await world.hold(queue);
      await world.fill(queue, "2");
      held.settle("requeue");
      assert.deepEqual([await world.bodies(dead, 1), await world.bodies(queue, 1)], [["1"], ["2"]]);
    },
  ],
  [
    ["classic", "quorum"].map((type) =>
      `writes on a message rejected from a ${type} queue where it died, why and when`
    ),
    "writes the last death beside the first one, and keeps the CC of a message",
    async (world) => {
      for (const type of ["classic", "quorum"]) {
        const { queue, dead } = await deadLetteringQueue(world, type);
        await world.publish(queue, { headers: { mine: 1, CC: ["nobody"] } });
        (await world.hold(queue)).settle("discard");
        const { "x-death": deaths, ...others } = (await world.take(dead)).headers;
        assert.ok(Array.isArray(deaths) && deaths.length === 1);
        assert.deepEqual(others, { mine: 1, CC: ["nobody"], ...deathHeaders(queue, "rejected") });
      }
    },
  ],
  [
    [
      "believes an x-death that a client sent: counts go on from it",
      "puts a death of another cause before those a client sent",
    ],
    "does not believe an x-death that a client sent: its own begins at one",
    async (world) => {
      const { queue, dead } = await deadLetteringQueue(world, "classic");
      for (
        const sent of [{ count: 7, reason: "rejected", queue }, { count: 2, reason: "expired", queue: "elsewhere" }]
      ) {
        await world.publish(queue, { headers: { "x-death": [sent] } });
        const held = await world.hold(queue);
        assert.deepEqual(held.message.headers, { "x-death": [sent] });
        held.settle("discard");
        assert.deepEqual(deathsOn(await world.take(dead)), [[queue, "rejected", 1]]);
      }
    },
  ],
  [
    ["tells what differs in a queue that is declared again with another type"],
    "gives every queue a type, so that another one is a difference of values",
    async (world) => {
      const queue = await world.queue("q");
      assert.deepEqual(await world.declareQueue(queue, { arguments: { "x-queue-type": "classic" } }), {
        status: "declared",
      });
      assert.deepEqual(await world.declareQueue(queue, { arguments: { "x-queue-type": "quorum" } }), {
        status: "differs",
        reason: `PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue '${queue}' in vhost '/': ` +
          "received 'quorum' but current is 'classic'",
      });
    },
  ],
  [
    [
      ...["expired", "maxlen", "delivery_limit"].map((reason) =>
        `loses a message on its way home from a rung when it carries that it was ${reason} there before [BRK-01]`
      ),
      "loses a message on a rung whose x-death no broker can have written [BRK-05]",
      "looks for a rejection among the deaths before the last one there, in the order it has written them",
    ],
    "brings a message home from a rung whatever x-death a client sent along",
    async (world) => {
      const queue = await world.queue("orders");
      await world.apply(rungs(queue, [RUNG_MS]));
      const rung = rungName(queue, RUNG_MS);
      const there = ["expired", "maxlen", "delivery_limit"].map((reason) => ({ count: 1, reason, queue }));
      const known = [...there.map((death) => [death]), [{ count: 1, reason: "rejected", queue: "other" }, ...there]];
      for (const sent of [...known, ["text"], [{ count: "many", reason: "expired", queue: rung }]]) {
        await world.publish(rung, { headers: { "x-death": sent } });
        assert.deepEqual(deathsOn(await world.take(queue)), [[rung, "expired", 1]]);
      }
    },
  ],
  [
    ["hands a message of a quorum queue without a delivery limit out as often as it comes back"],
    "gives a quorum queue a delivery limit of 20 when nobody names one: what comes back more often is dead",
    async (world) => {
      const { queue, dead } = await deadLetteringQueue(world, "quorum");
      await world.fill(queue, "1");
      const { deliveries } = await world.read(queue, { prefetch: 1, each: (delivery) => delivery.settle("requeue") });
      assert.deepEqual(deathsOn(await world.take(dead)), [[queue, "delivery_limit", 1]]);
      assert.deepEqual([deliveries.length, deliveries.at(-1)?.message.headers["x-delivery-count"]], [21, 20]);
    },
  ],
  [
    ["takes a delivery limit below zero for one that any return exceeds"],
    "takes a delivery limit below zero for none at all",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum", "x-delivery-limit": -1 });
      await world.fill(queue, "1");
      let left = 30;
      const { deliveries } = await world.read(queue, {
        prefetch: 1,
        each: (delivery) => delivery.settle(left-- > 0 ? "requeue" : "ack"),
      });
      await world.until("31 deliveries", () => deliveries.length === 31);
      await world.depth(queue, 0);
    },
  ],
  [
    ["has no queue in a place that nobody can find"],
    "pays no attention to the place that is named for a queue: there are no mirrors",
    async (world) => {
      for (const locator of ["nowhere", "", 5]) await world.queue(`q${locator}`, { "x-queue-master-locator": locator });
    },
  ],
  [
    ["pays no attention to priorities on a quorum queue"],
    "hands out of a quorum queue two messages with a priority above 4 for each other one",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum" });
      for (const priority of [0, 1, 4, 5, undefined, 255, 6]) {
        await world.publish(queue, { body: String(priority), priority });
      }
      await world.depth(queue, 7);
      assert.deepEqual(await world.bodies(queue, 7), ["5", "255", "0", "6", "1", "4", "undefined"]);
    },
  ],
  [
    ["takes a consumer of a quorum queue whose prefetch changes for a new one: others come before it"],
    "leaves a consumer of a quorum queue active whose prefetch changes",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum", "x-single-active-consumer": true });
      const [first, second] = [await world.read(queue, { prefetch: 1 }), await world.read(queue, { prefetch: 1 })];
      await first.subscription.setPrefetch(3);
      await world.fill(queue, "1", "2", "3");
      await world.until("all three", () => first.bodies().length === 3);
      assert.deepEqual(second.bodies(), []);
    },
  ],
  [
    ["pays no attention to the priority of those that wait for a quorum queue"],
    "goes over to the consumer of a quorum queue with the highest priority as soon as the active one has settled",
    async (world) => {
      const queue = await world.queue("q", { "x-queue-type": "quorum", "x-single-active-consumer": true });
      const first = await world.read(queue);
      await world.fill(queue, "1");
      await world.until("a message", () => first.bodies().length === 1);
      const second = await world.read(queue, { arguments: { "x-priority": 2 } });
      const third = await world.read(queue, { arguments: { "x-priority": 1 } });
      await world.fill(queue, "2");
      await world.depth(queue, 1);
      first.deliveries[0]?.settle("ack");
      await world.until("the other message", () => second.bodies().length === 1);
      assert.deepEqual([first.bodies(), second.bodies(), third.bodies()], [["1"], ["2"], []]);
    },
  ],
];

brokerContract("RabbitMQ 4", open, { skip, except: DIFFERENCES.flatMap(([titles]) => titles) });

describe("RabbitMQ 4, where it differs from RabbitMQ 3", () => {
  for (const [, instead, body] of DIFFERENCES) {
    it(instead, { skip }, async () => {
      const world = new World(await open());
      try {
        await world.start();
        await body(world);
      } finally {
        await world.end();
      }
    });
  }
});

async function open(): Promise<BrokerUnderTest> {
  const clock = systemClock();
  return { broker: amqpBroker(RABBITMQ4_URL), clock, pass: (ms) => clock.delay(ms) };
}

async function deadLetteringQueue(world: World, type: string): Promise<{ queue: string; dead: string }> {
  const dead = await world.queue(`${type}.dead`);
  const args = { "x-queue-type": type, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
  return { queue: await world.queue(type, args), dead };
}

function deathHeaders(queue: string, reason: string): Record<string, string> {
  const entries = ["first", "last"].flatMap((which) => [
    [`x-${which}-death-queue`, queue],
    [`x-${which}-death-reason`, reason],
    [`x-${which}-death-exchange`, ""],
  ]);
  return Object.fromEntries(entries);
}

function deathsOn({ headers }: ReceivedMessage): readonly WireValue[][] {
  const deaths = headers["x-death"];
  assert.ok(Array.isArray(deaths));
  return deaths.map(({ queue, reason, count }) => [queue, reason, count]);
}
