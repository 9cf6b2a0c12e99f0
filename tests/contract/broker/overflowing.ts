/**
 * Length limits: what goes when a queue is full.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { BrokerConnection } from "../../../src/ports/broker.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { onEachQueueType, type Scenario, textOf, type World } from "./world.ts";

/** The cases about length limits. */
export function overflowing(it: Scenario): void {
  onEachQueueType(it, (it, type) => {
    const typed = { "x-queue-type": type };

    it(`drops the oldest message of a ${type} queue that is longer than its maximum`, async (world) => {
      const dead = await world.queue("dead");
      const args = { ...typed, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
      const queue = await world.queue("q", { ...args, "x-max-length": 2 });
      await world.fill(queue, "1", "2", "3", "4");
      assert.deepEqual(await world.bodies(dead, 2), ["1", "2"]);
      assert.deepEqual(await world.bodies(queue, 2), ["3", "4"]);
    });

    it(`drops the oldest messages of a ${type} queue that has more bytes than its maximum`, async (world) => {
      const dead = await world.queue("dead");
      const args = { ...typed, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
      const queue = await world.queue("q", { ...args, "x-max-length-bytes": 1_000 });
      for (const digit of ["1", "2", "3"]) await world.fill(queue, digit.repeat(400));
      assert.deepEqual(await world.bodies(dead, 1), ["1".repeat(400)]);
      await world.depth(queue, 2);
    });

    it(`counts only what waits against the length of a ${type} queue`, async (world) => {
      const dead = await world.queue("dead");
      const args = { ...typed, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
      const queue = await world.queue("q", { ...args, "x-max-length": 1 });
      await world.fill(queue, "1");
      const held = await world.hold(queue);
      await world.fill(queue, "2");
      held.settle("requeue");
      const [dropped, kept] = type === "classic" ? ["1", "2"] : ["2", "1"];
      assert.deepEqual(await world.bodies(dead, 1), [dropped]);
      assert.deepEqual(await world.bodies(queue, 1), [kept]);
    });

    it(
      `${
        type === "classic" ? "drops" : "hands to a waiting consumer"
      } what comes back to a ${type} queue with room for none`,
      async (world) => {
        const dead = await world.queue("dead");
        const args = { ...typed, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
        const queue = await world.queue("q", { ...args, "x-max-length": 0 });
        const first = await world.read(queue, { prefetch: 1 });
        await world.fill(queue, "1");
        await world.until("the message", () => first.deliveries.length === 1);
        const second = await world.read(queue, { prefetch: 1 });
        first.deliveries[0]?.settle("requeue");
        if (type === "classic") assert.deepEqual(await world.bodies(dead, 1), ["1"]);
        else await world.until("it again", () => second.deliveries.length + first.deliveries.length === 2);
        await world.depth(dead, 0);
      },
    );

    it(`hands a message to a waiting consumer of a ${type} queue with room for none`, async (world) => {
      const queue = await world.queue("q", { ...typed, "x-max-length": 0 });
      const { bodies } = await world.read(queue);
      await world.fill(queue, "1");
      await world.until("the message", () => bodies().length === 1);
    });
  });

  it("keeps to whichever limit is reached first", async (world) => {
    const queue = await world.queue("q", { "x-max-length": 2, "x-max-length-bytes": 1_000 });
    await world.fill(queue, "1", "2", "3");
    assert.deepEqual(await world.bodies(queue, 2), ["2", "3"]);
    await world.fill(queue, "1", "2".repeat(1_000));
    assert.deepEqual(await world.bodies(queue, 1), ["2".repeat(1_000)]);
  });

  it("drops at once a message that no limit has room for", async (world) => {
    const dead = await world.queue("dead");
    const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
    const queue = await world.queue("q", { ...args, "x-max-length-bytes": 10 });
    await world.fill(queue, "1", "2".repeat(11));
    assert.deepEqual(await world.bodies(dead, 2), ["1", "2".repeat(11)]);
    await world.depth(queue, 0);
  });

  onEachQueueType(it, (it, type) => {
    it(`takes back what somebody held when a ${type} queue is full and refuses what is new`, async (world) => {
      const args = { "x-queue-type": type, "x-max-length": 1, "x-overflow": "reject-publish" };
      const queue = await world.queue("q", args);
      await world.fill(queue, "1");
      const held = await world.hold(queue);
      await world.fill(queue, "2");
      held.settle("requeue");
      await world.depth(queue, 2);
      assert.deepEqual((await world.bodies(queue, 2)).toSorted(), ["1", "2"]);
    });
  });

  it("fills a classic queue that refuses to the last byte", async (world) => {
    const queue = await world.queue("q", { "x-max-length-bytes": 1_000, "x-overflow": "reject-publish" });
    await world.fill(queue, "x".repeat(600));
    assert.equal((await world.publish(queue, { body: "x".repeat(401) })).outcome, "nacked");
    await world.fill(queue, "x".repeat(400), "");
    assert.equal((await world.publish(queue, { body: "x" })).outcome, "nacked");
  });

  const quorum = it.needing("quorum_queues");

  quorum("refuses whoever has filled a quorum queue until a fifth of its length is free", async (world) => {
    const queue = await fullQuorumQueue(world, { "x-max-length": 5 }, "x");
    await drainTo(world, queue, 5);
    assert.equal((await world.publish(queue)).outcome, "nacked");
    await drainTo(world, queue, 4);
    await taken(world, queue);
  });

  quorum("refuses whoever has filled a quorum queue until a fifth of its bytes is free", async (world) => {
    const queue = await fullQuorumQueue(world, { "x-max-length-bytes": 1_000 }, "x".repeat(401));
    await drainTo(world, queue, 2);
    assert.equal((await world.publish(queue, { body: "and no byte more" })).outcome, "nacked");
    await drainTo(world, queue, 1);
    await taken(world, queue);
  });

  quorum("rounds down what has to be free: of a quorum queue for one message, all of it", async (world) => {
    const queue = await fullQuorumQueue(world, { "x-max-length": 1 }, "x");
    await drainTo(world, queue, 1);
    assert.equal((await world.publish(queue)).outcome, "nacked");
    await world.mq.purgeQueue(queue);
    await taken(world, queue);
  });

  quorum(
    "takes from whoever comes to a quorum queue while those before wait, until it is too long again",
    async (world) => {
      const queue = await fullQuorumQueue(world, { "x-max-length": 5 }, "x");
      const { mq: early } = await world.connect();
      assert.equal((await world.publish(queue, {}, early)).outcome, "nacked");
      await drainTo(world, queue, 5);
      const { mq: late } = await world.connect();
      assert.deepEqual(await world.publish(queue, {}, late), { outcome: "confirmed" });
      await refused(world, queue, late);
      for (const mq of [world.mq, early]) assert.equal((await world.publish(queue, {}, mq)).outcome, "nacked");
      await drainTo(world, queue, 4);
      for (const mq of [world.mq, early, late]) {
        await world.mq.purgeQueue(queue);
        await taken(world, queue, mq);
      }
    },
  );

  quorum("takes again when a consumer of a quorum queue has fetched what was too much", async (world) => {
    const queue = await fullQuorumQueue(world, { "x-max-length": 5 }, "x");
    const { deliveries } = await world.read(queue, { prefetch: 1 });
    await world.until("a message", () => deliveries.length === 1);
    assert.equal((await world.publish(queue)).outcome, "nacked");
    await world.read(queue);
    await world.depth(queue, 0);
    await taken(world, queue);
  });

  onEachQueueType(it, (it, source) => {
    it.needing("quorum_queues")(
      `lets what dies in a ${source} queue into a full quorum queue that refuses, and not into a classic one`,
      async (world) => {
        const exchange = await world.exchange("dlx", "fanout");
        const full = await fullQuorumQueue(world, { "x-max-length": 1 }, "x");
        const classic = await world.queue("classic", { "x-max-length": 1, "x-overflow": "reject-publish" });
        await world.fill(classic, "x");
        const roomy = await world.queue("roomy");
        for (const queue of [full, classic, roomy]) await world.bind(queue, exchange);
        const length = await lengthOf(world, full);
        const queue = await world.queue("q", { "x-queue-type": source, "x-dead-letter-exchange": exchange });
        await world.fill(queue, "1", "2", "3");
        for (let left = 3; left > 0; left--) (await world.hold(queue)).settle("discard");
        await world.depth(roomy, 3);
        await world.depth(full, length + 3);
        await world.depth(classic, 1);
        assert.equal((await world.publish(full)).outcome, "nacked");
      },
    );
  });

  it.needing("at_least_once_dead_letters")(
    "lets what dies at least once into no full quorum queue that refuses",
    async (world) => {
      const full = await fullQuorumQueue(world, { "x-max-length": 1 }, "x");
      const queue = await world.queue("q", {
        "x-queue-type": "quorum",
        "x-dead-letter-strategy": "at-least-once",
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": full,
        "x-overflow": "reject-publish",
        "x-max-length": 1,
      });
      const length = await lengthOf(world, full);
      await world.fill(queue, "1", "2");
      for (const delivery of [await world.hold(queue), await world.hold(queue)]) delivery.settle("discard");
      // What was not taken counts against the length of its own queue.
      await refused(world, queue);
      assert.equal(await lengthOf(world, full), length);
    },
  );

  quorum(
    "drops the oldest message of a quorum queue that is told to refuse and dead-letter",
    async (world) => {
      const dead = await world.queue("dead");
      const queue = await world.queue("q", {
        "x-queue-type": "quorum",
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": dead,
        "x-max-length": 1,
        "x-overflow": "reject-publish-dlx",
      });
      await world.fill(queue, "1", "2");
      assert.deepEqual(await world.bodies(dead, 1), ["1"]);
      assert.deepEqual(await world.bodies(queue, 1), ["2"]);
    },
  );

  it("refuses and dead-letters at once when told to do both", async (world) => {
    const dead = await world.queue("dead");
    const queue = await world.queue("q", {
      "x-dead-letter-exchange": "",
      "x-dead-letter-routing-key": dead,
      "x-max-length": 1,
      "x-overflow": "reject-publish-dlx",
    });
    await world.fill(queue, "1");
    assert.equal((await world.publish(queue, { body: "2" })).outcome, "nacked");
    const message = await world.take(dead);
    assert.equal(textOf(message), "2");
    assert.equal(message.headers["x-first-death-reason"], "maxlen");
    assert.deepEqual(await world.bodies(queue, 1), ["1"]);
  });
}

/** A quorum queue that refuses, and is longer than it may be; it has told the world's connection so. */
async function fullQuorumQueue(world: World, args: DeclareArguments, body: string): Promise<string> {
  const queue = await world.queue("full", { ...args, "x-queue-type": "quorum", "x-overflow": "reject-publish" });
  await refused(world, queue, world.mq, body);
  return queue;
}

/** Publishes until that is refused: a queue tells its publishers that it is full a moment after it has become so. */
async function refused(world: World, queue: string, by: BrokerConnection = world.mq, body = ""): Promise<void> {
  await world.until("a nack", async () => (await world.publish(queue, { body }, by)).outcome === "nacked");
}

async function lengthOf(world: World, queue: string): Promise<number> {
  const state = await world.mq.checkQueue(queue);
  return state.status === "present" ? state.messages : -1;
}

/** As {@linkcode refused}, until it is not. */
async function taken(world: World, queue: string, by: BrokerConnection = world.mq): Promise<void> {
  await world.until("a confirm", async () => (await world.publish(queue, {}, by)).outcome === "confirmed");
}

/** Takes messages off a queue until so many are left. */
async function drainTo(world: World, queue: string, left: number): Promise<void> {
  for (let waiting = Infinity; waiting > left;) {
    const pulled = await world.until("a message", () => world.pull(queue));
    pulled.settle("ack");
    waiting = pulled.waiting;
    assert.ok(waiting >= left, `${waiting} messages wait in ${queue}`);
  }
  await world.depth(queue, left);
}
