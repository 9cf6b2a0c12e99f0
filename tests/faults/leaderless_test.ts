import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type FaultWorld, onFaultNode, type Peer } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("fault_node");

/** A connection that consumes from a quorum queue and an ordinary one. */
async function consuming(world: FaultWorld): Promise<{ peer: Peer; quorum: string; ordinary: string }> {
  const peer = await world.connect();
  const quorum = await world.queue(peer, "quorum", { type: "quorum" });
  const ordinary = await world.queue(peer, "ordinary");
  for (const queue of [quorum, ordinary]) await peer.mq.consume(queue, world.ledger.handler());
  return { peer, quorum, ordinary };
}

/** Sends to a queue, and waits until it was handled. */
async function works(world: FaultWorld, { mq }: Peer, queue: string): Promise<void> {
  const { id, outcome } = await world.ledger.send(mq.publisher("", queue));
  assert.equal(outcome, "confirmed");
  await until("handled", () => world.ledger.handled(id) > 0);
}

/** Health is degraded by this queue alone. */
async function degraded({ mq }: Peer, queue: string): Promise<void> {
  const { status, parts } = await mq.health();
  assert.equal(status, "degraded");
  const consumers = parts?.["consumers"];
  assert.ok(typeof consumers === "object" && consumers?.detail === `not consuming: ${queue}`);
}

describe("a quorum queue without a leader", () => {
  const inWorld = onFaultNode(skip);

  it(
    "does not keep its connection from being back: its consumer alone is lost, degrades health, and is back with the leader [HLT-08]",
    { skip, timeout: 60_000 },
    inWorld(async (world) => {
      const { peer, quorum, ordinary } = await consuming(world);
      // As a young one that RabbitMQ 3.10 was killed with: it never answers, until RabbitMQ gives up after 65 s.
      await world.whileHeldUp(quorum, async () => {
        await world.node.forceClose(peer.name);
        await world.recovered(peer);
        assert.deepEqual(peer.seen.of("consumer_lost").map(({ queue }) => queue), [quorum]);
        await degraded(peer, quorum);
        await works(world, peer, ordinary);
        assert.equal(peer.seen.of("consumer_recovered").length, 0);
      });
      await until("consumer recovered", () => peer.seen.of("consumer_recovered").length === 1);
      await works(world, peer, quorum);
      assert.equal((await peer.mq.health()).status, "up");
      assert.deepEqual([peer.seen.of("lost").length, peer.seen.of("consumer_lost").length], [1, 1]);
    }),
  );

  it(
    "whose process has died, so that RabbitMQ closes every connection that would consume from it, costs its connection no more than " +
      "its consumer [REC-03]",
    { skip, timeout: 60_000 },
    inWorld(async (world) => {
      const { peer, quorum, ordinary } = await consuming(world);
      await world.node.stopQuorumQueue(quorum);
      await world.node.forceClose(peer.name);
      await world.recovered(peer);
      const attempts = peer.seen.of("retrying").length;
      await until("lost", () => peer.seen.of("consumer_lost").some(({ queue }) => queue === quorum));
      await until("the ordinary one", async () => (await world.node.consumers(ordinary)).length === 1);
      for (let round = 0; round < 10; round++) {
        await works(world, peer, ordinary);
        await degraded(peer, quorum);
        await world.clock.delay(100);
      }
      assert.equal(peer.seen.of("retrying").length, attempts, "The connection stands");
      await world.node.restartQuorumQueue(quorum);
      await until("consuming again", async () => (await peer.mq.health()).status === "up");
      await works(world, peer, quorum);
      assert.equal(peer.seen.of("lost").length, 1);
      assert.equal(peer.seen.of("consumer_recovered").length, peer.seen.of("consumer_lost").length);
      await until("one link", async () => (await world.node.channels(`${peer.name} (trial)`)).length === 0);
    }),
  );
});
