/**
 * Length limits: what goes when a queue is full.
 *
 * @module
 */

import assert from "node:assert/strict";
import { onEachQueueType, type Scenario, textOf } from "./world.ts";

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

  it.needing("quorum_queues")(
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
