/**
 * The queues the library keeps beside a queue, on the broker that has to make them work: rungs, dead letters, and what may
 * not be sent along.
 *
 * @module
 */

import assert from "node:assert/strict";
import { rungName } from "../../../src/naming/queue_names.ts";
import { rungs } from "../../../src/topology/standard.ts";
import { topology } from "../../../src/topology/topology.ts";
import type { WireTable } from "../../../src/message/wire_value.ts";
import { type Scenario, textOf, type World } from "./world.ts";

const RUNG_MS = 100;

/** The cases about the library's own topology. */
export function ladder(it: Scenario): void {
  const quorum = it.needing("quorum_queues");

  it(
    "brings a message home from a rung: the retry exchange has a binding for the queue [RET-01]",
    async (world) => {
      const { queue, rung } = await ladderedQueue(world);
      const routed = await world.publish(queue, { exchange: "acemq.retry", body: "straight home" });
      assert.deepEqual(routed, { outcome: "confirmed" });
      assert.deepEqual(await world.bodies(queue, 1), ["straight home"]);
      await world.fill(rung, "one rung");
      const message = await world.take(queue);
      assert.deepEqual([textOf(message), message.exchange, message.routingKey], ["one rung", "acemq.retry", queue]);
      await world.depth(rung, 0);
    },
  );

  quorum("takes a rung with exactly three arguments, and no other [RET-11]", async (world) => {
    const { queue, rung } = await ladderedQueue(world);
    const literal = {
      "x-message-ttl": RUNG_MS,
      "x-dead-letter-exchange": "acemq.retry",
      "x-dead-letter-routing-key": queue,
    };
    assert.deepEqual(await world.declareQueue(rung, { arguments: literal }), { status: "declared" });
    const others = [{ ...literal, "x-queue-type": "quorum" }, { ...literal, "x-dead-letter-exchange": "" }];
    for (const args of others) {
      assert.equal((await world.declareQueue(rung, { arguments: args })).status, "differs");
    }
  });

  quorum(
    "takes a source queue for quorum and its dead letters for classic, and says so otherwise [TOP-06]",
    async (world) => {
      const queue = world.name("orders");
      await world.apply(topology().queue(queue, { deadLetter: true }).spec);
      const java = {
        "x-queue-type": "quorum",
        "x-dead-letter-exchange": "acemq.dlx",
        "x-dead-letter-routing-key": `${queue}.dlq`,
      };
      assert.deepEqual(await world.declareQueue(queue, { arguments: java }), { status: "declared" });
      const { "x-queue-type": _, ...untyped } = java;
      const refused = await world.declareQueue(queue, { arguments: untyped });
      assert.ok(refused.status === "differs");
      assert.match(refused.reason, /'x-queue-type'/);
      for (const aside of [`${queue}.dlq`, `${queue}.parked`]) {
        assert.deepEqual(await world.declareQueue(aside), { status: "declared" });
        assert.equal((await world.declareQueue(aside, { arguments: { "x-queue-type": "quorum" } })).status, "differs");
      }
    },
  );

  quorum("sends what overflows a queue with dead-lettering to its .dlq [TOP-01]", async (world) => {
    const queue = world.name("orders");
    await world.apply(topology().queue(queue, { deadLetter: true, arguments: { "x-max-length": 1 } }).spec);
    await world.fill(queue, "1", "2");
    assert.deepEqual(await world.bodies(`${queue}.dlq`, 1), ["1"]);
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
  });

  it(
    "carries a message through ten rungs, twice through the same ones, when its history is left behind [SC-14]",
    async (world) => {
      const { queue, rung } = await ladderedQueue(world);
      await world.fill(queue, "1");
      for (let hop = 0; hop < 10; hop++) {
        const delivery = await world.hold(queue);
        assert.equal((await world.publish(rung, { body: delivery.message.body })).outcome, "confirmed");
        delivery.settle("ack");
      }
      assert.deepEqual(await world.bodies(queue, 1), ["1"]);
    },
  );

  for (const reason of ["expired", "maxlen", "delivery_limit"] as const) {
    (reason === "delivery_limit" ? quorum : it)(
      `loses a message on its way home from a rung when it carries that it was ${reason} there before [BRK-01]`,
      async (world) => {
        const { queue, rung } = await ladderedQueue(world);
        const dead = await deadFrom(world, { reason, queue });
        await world.publish(rung, { body: "with its history", headers: { "x-death": dead } });
        await world.publish(rung, { body: "without" });
        assert.deepEqual(await world.bodies(queue, 1), ["without"]);
        await world.depth(rung, 0);
        await world.depth(queue, 0);
      },
    );
  }

  it("loses a message on a rung whose x-death no broker can have written [BRK-05]", async (world) => {
    const { queue, rung } = await ladderedQueue(world);
    for (const malformed of [["text"], [{ count: "many", reason: "expired", queue: rung }]]) {
      // A persistent one would come back with its queue, and bring it down again until the broker gives the queue up.
      await world.publish(rung, { body: "with it", headers: { "x-death": malformed }, persistent: false });
      await world.downAndBack(rung);
      assert.deepEqual(await world.publish(rung, { body: "without" }), { outcome: "confirmed" });
      assert.deepEqual(await world.bodies(queue, 1), ["without"]);
    }
    await world.depth(queue, 0);
  });
}

/** A queue with one short rung and the way home. */
async function ladderedQueue(world: World): Promise<{ queue: string; rung: string }> {
  const queue = await world.queue("orders");
  await world.apply(rungs(queue, [RUNG_MS]));
  return { queue, rung: rungName(queue, RUNG_MS) };
}

/** The death record of a message that left `queue` for that reason. */
async function deadFrom(
  world: World,
  { reason, queue }: { reason: "expired" | "maxlen" | "delivery_limit"; queue: string },
): Promise<readonly WireTable[]> {
  const limits = {
    expired: { "x-message-ttl": 50 },
    maxlen: { "x-max-length": 0 },
    delivery_limit: { "x-queue-type": "quorum", "x-delivery-limit": 0 },
  };
  const dead = await world.queue("dead");
  const args = { ...limits[reason], "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
  await world.mq.deleteQueue(queue);
  await world.declareQueue(queue, { arguments: args });
  await world.fill(queue, "1");
  if (reason === "delivery_limit") await returnOnce(world, queue);
  const message = await world.take(dead);
  const deaths = message.headers["x-death"] as readonly WireTable[];
  assert.deepEqual([deaths[0]?.["reason"], deaths[0]?.["queue"]], [reason, queue]);
  await world.mq.deleteQueue(queue);
  await world.declareQueue(queue);
  await world.bind(queue, "acemq.retry", { key: queue });
  return deaths;
}

/** Over a connection of its own: RabbitMQ 3.10 drops one that goes on using the name for a queue of another type. */
async function returnOnce(world: World, queue: string): Promise<void> {
  const { mq } = await world.connect();
  (await world.until("a message", () => world.pull(queue, mq))).settle("requeue");
  await mq.close();
}
