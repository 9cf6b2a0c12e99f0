/**
 * Consuming: who gets which message, how many at once, and what happens when a consumer or its queue goes away.
 *
 * @module
 */

import assert from "node:assert/strict";
import { TopologyError } from "../../../src/errors.ts";
import { onEachQueueType, type Scenario } from "./world.ts";

/** The cases about consuming. */
export function consuming(it: Scenario): void {
  it("hands out what waits, then what comes, in order", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2");
    const { bodies, subscription } = await world.read(queue);
    assert.equal(subscription.live, true);
    await world.fill(queue, "3", "4");
    await world.until("four messages", () => bodies().length === 4);
    assert.deepEqual(bodies(), ["1", "2", "3", "4"]);
  });

  it("hands out no more than the prefetch until something is settled", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2", "3", "4", "5");
    const { bodies, deliveries } = await world.read(queue, { prefetch: 2 });
    await world.depth(queue, 3);
    await world.until("two messages", () => bodies().length === 2);
    deliveries[0]?.settle("ack");
    await world.until("a third message", () => bodies().length === 3);
    await world.depth(queue, 2);
    assert.deepEqual(bodies(), ["1", "2", "3"]);
  });

  it("hands out everything when the prefetch is 0", async (world) => {
    const queue = await world.queue("q");
    await Promise.all(Array.from({ length: 200 }, () => world.publish(queue)));
    const { deliveries } = await world.read(queue, { prefetch: 0 });
    await world.until("all messages", () => deliveries.length === 200);
  });

  it("takes a larger prefetch while it runs", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2", "3", "4");
    const { bodies, subscription } = await world.read(queue, { prefetch: 1 });
    await world.until("one message", () => bodies().length === 1);
    await subscription.setPrefetch(3);
    await world.until("three messages", () => bodies().length >= 3);
    assert.deepEqual(bodies().slice(0, 3), ["1", "2", "3"]);
  });

  it(
    "takes a smaller prefetch while it runs: what was in hand does not make room for more than that",
    async (world) => {
      const queue = await world.queue("q");
      const { bodies, deliveries, subscription } = await world.read(queue, { prefetch: 3 });
      await world.fill(queue, "1", "2", "3", "4", "5", "6");
      await world.until("three messages", () => bodies().length === 3);
      await subscription.setPrefetch(1);
      for (const delivery of deliveries.slice(0, 3)) delivery.settle("ack");
      await world.until("one message more", () => bodies().length === 4);
      await world.depth(queue, 2);
      assert.deepEqual(bodies(), ["1", "2", "3", "4"]);
    },
  );

  onEachQueueType(it, (it, type) => {
    it(
      `hands out of a ${type} queue as many as a changed prefetch allows, beside what is in hand from before`,
      async (world) => {
        const queue = await world.queue("q", { "x-queue-type": type });
        await world.fill(queue, "1", "2", "3", "4", "5", "6", "7");
        const { bodies, deliveries, subscription } = await world.read(queue, { prefetch: 2 });
        await world.until("two messages", () => bodies().length === 2);
        await subscription.setPrefetch(1);
        await world.until("a third", () => bodies().length === 3);
        await subscription.setPrefetch(2);
        await world.until("two more", () => bodies().length === 5);
        for (const settled of [0, 2]) deliveries[settled]?.settle("ack");
        deliveries[4]?.settle("ack");
        await world.until("a sixth for the fifth", () => bodies().length === 6);
        await world.depth(queue, 1);
        assert.deepEqual(bodies(), ["1", "2", "3", "4", "5", "6"]);
      },
    );

    it(`has handed over all that left its ${type} queue, once it has caught up`, async (world) => {
      const queue = await world.queue("q", { "x-queue-type": type });
      const { deliveries, subscription } = await world.read(queue, { each: (delivery) => delivery.settle("ack") });
      for (let messages = 50; messages <= 250; messages += 50) {
        await Promise.all(Array.from({ length: 50 }, () => world.publish(queue)));
        await world.depth(queue, 0);
        await subscription.caughtUp();
        assert.equal(deliveries.length, messages);
      }
    });
  });

  it("has caught up when it is over", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1");
    const { subscription, deliveries } = await world.read(queue);
    await subscription.cancel();
    await subscription.caughtUp();
    assert.equal(deliveries.length, 1);
    await subscription.close();
    await subscription.caughtUp();
  });

  it("takes turns between the consumers of a queue", async (world) => {
    const queue = await world.queue("q");
    const readers = [await world.read(queue), await world.read(queue), await world.read(queue)];
    for (const body of ["1", "2", "3", "4", "5", "6"]) await world.fill(queue, body);
    await world.until("six messages", () => readers.flatMap(({ bodies }) => bodies()).length === 6);
    const shares = readers.map(({ bodies }) => bodies().join());
    assert.deepEqual(shares.toSorted(), ["1,4", "2,5", "3,6"]);
  });

  onEachQueueType(it, (it, type) => {
    it(`takes a consumer of a ${type} queue whose prefetch changes for a new one: its turn comes last`, async (world) => {
      const queue = await world.queue("q", { "x-queue-type": type });
      const readers = [await world.read(queue), await world.read(queue), await world.read(queue)];
      await readers[0]?.subscription.setPrefetch(5);
      await world.fill(queue, "1", "2", "3", "4");
      await world.until("four messages", () => readers.flatMap(({ bodies }) => bodies()).length === 4);
      assert.deepEqual(readers.map(({ bodies }) => bodies().join()), ["3", "1,4", "2"]);
    });
  });

  onEachQueueType(it, (it, type) => {
    const label = type === "classic"
      ? "keeps the turn of a consumer of a classic queue that has room again before anything has come"
      : "takes the turn of a consumer of a quorum queue that has its prefetch in hand";
    it(label, async (world) => {
      const queue = await world.queue("q", { "x-queue-type": type });
      const first = await world.read(queue, { prefetch: 1 });
      await world.fill(queue, "1");
      await world.until("a message", () => first.deliveries.length === 1);
      const second = await world.read(queue, { prefetch: 1 });
      first.deliveries[0]?.settle("ack");
      // Whatever stands behind the acknowledgement on its channel.
      await first.subscription.caughtUp();
      await world.fill(queue, "2");
      await world.until("another", () => first.deliveries.length + second.deliveries.length === 2);
      assert.deepEqual([first.bodies(), second.bodies()], type === "classic" ? [["1", "2"], []] : [["1"], ["2"]]);
    });
  });

  it("passes over a consumer that has its prefetch in hand", async (world) => {
    const queue = await world.queue("q");
    const busy = await world.read(queue, { prefetch: 1 });
    await world.fill(queue, "1");
    await world.until("a busy consumer", () => busy.bodies().length === 1);
    const free = await world.read(queue, { prefetch: 10 });
    await world.fill(queue, "2", "3", "4");
    await world.until("three messages", () => free.bodies().length === 3);
    assert.deepEqual([busy.bodies(), free.bodies()], [["1"], ["2", "3", "4"]]);
  });

  it("hands out nothing after a cancel, and still takes what was handed out", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1");
    const { bodies, deliveries, subscription } = await world.read(queue);
    await world.until("a message", () => deliveries[0]);
    await subscription.cancel();
    assert.equal(subscription.live, false);
    await world.fill(queue, "2");
    await world.depth(queue, 1);
    assert.equal(deliveries[0]?.settle("ack"), "sent");
    await subscription.close();
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
    await world.depth(queue, 0);
    assert.deepEqual(bodies(), ["1"]);
  });

  onEachQueueType(it, (it, type) => {
    it(
      `gives a ${type} queue back what a closed subscription held, in order and marked as redelivered`,
      async (world) => {
        const queue = await world.queue("q", { "x-queue-type": type });
        await world.fill(queue, "1", "2", "3", "4", "5");
        const { deliveries, subscription } = await world.read(queue, { prefetch: 4 });
        await world.until("four messages", () => deliveries.length === 4);
        await subscription.cancel();
        deliveries[1]?.settle("ack");
        await subscription.close();
        await world.depth(queue, 4);
        const back = [
          await world.hold(queue),
          await world.hold(queue),
          await world.hold(queue),
          await world.hold(queue),
        ];
        assert.deepEqual(back.map(({ message }) => message.redelivered), [true, true, true, false]);
        assert.deepEqual(back.map(({ message }) => new TextDecoder().decode(message.body)), ["1", "3", "4", "5"]);
        assert.equal(deliveries[0]?.settle("ack"), "stale");
      },
    );
  });

  it("gives back what a closed connection held, pulled messages as well", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2");
    const { mq } = await world.connect();
    const pulled = await world.until("a message", () => world.pull(queue, mq));
    const { deliveries } = await world.read(queue, { by: mq });
    await world.until("the other message", () => deliveries.length === 1);
    await mq.close();
    await world.depth(queue, 2);
    assert.deepEqual([pulled.settle("ack"), deliveries[0]?.settle("discard")], ["stale", "stale"]);
    assert.deepEqual(await world.bodies(queue, 2), ["1", "2"]);
  });

  it("refuses a subscription to a queue that does not exist, and goes on", async (world) => {
    const queue = world.name("none");
    await assert.rejects(world.read(queue), (error) => {
      assert.ok(error instanceof TopologyError);
      assert.equal(error.code, "ACEMQ_TOPOLOGY_MISSING");
      assert.match(error.message, new RegExp(`NOT_FOUND - no queue '${queue}'`));
      return true;
    });
    await world.fill(await world.queue("q"), "still here");
  });

  it("refuses a prefetch that is no whole number of 16 bits", async (world) => {
    const queue = await world.queue("q");
    for (const prefetch of [-1, 1.5, 65_536, NaN]) await assert.rejects(world.read(queue, { prefetch }), RangeError);
    await world.read(queue, { prefetch: 65_535 });
  });

  it("tells a consumer that its queue was deleted, and goes on when the queue is back", async (world) => {
    const queue = await world.queue("q");
    const { mq, events } = await world.connect();
    const { deliveries, losses, recoveries, subscription } = await world.read(queue, { by: mq });
    await world.fill(queue, "1");
    await world.until("a message", () => deliveries.length === 1);
    await world.mq.deleteQueue(queue);
    await world.until("a loss", () => losses.length === 1);
    assert.equal(subscription.live, false);
    assert.equal(deliveries[0]?.settle("ack"), "stale");
    await world.declareQueue(queue);
    await world.until("a recovery", () => recoveries() === 1);
    assert.equal(subscription.live, true);
    await world.fill(queue, "2");
    await world.until("a message on the new queue", () => deliveries.length === 2);
    assert.equal(deliveries[1]?.settle("ack"), "sent");
    assert.deepEqual(losses.length, 1);
    assert.deepEqual(events.map(({ type }) => type), ["consumer_lost", "consumer_recovered"]);
  });

  it(
    "has a queue that goes by itself declared and bound again by whoever consumes from it, and the exchange that went with it",
    async (world) => {
      const { mq, events } = await world.connect();
      const [queue, exchange] = [world.name("q"), world.name("x")];
      await world.declareExchange(exchange, { type: "topic", autoDelete: true, by: mq });
      await world.declareQueue(queue, { autoDelete: true, by: mq });
      await world.bind(queue, exchange, { key: "k.#", by: mq });
      const { deliveries, recoveries, subscription } = await world.read(queue, { by: mq });
      await world.mq.deleteQueue(queue);
      await world.until("a recovery", () => recoveries() === 1);
      assert.deepEqual(await world.publish("k.l", { exchange }), { outcome: "confirmed" });
      await world.until("a message on the new queue", () => deliveries.length === 1);
      assert.deepEqual(events.map(({ type }) => type), ["consumer_lost", "consumer_recovered"]);
      await subscription.close();
      await world.until("the queue to go", async () => (await world.mq.checkQueue(queue)).status === "absent");
    },
  );

  it("leaves a subscription alone that was closed while its queue was away", async (world) => {
    const queue = await world.queue("q");
    const { losses, recoveries, subscription } = await world.read(queue);
    await world.mq.deleteQueue(queue);
    await world.until("a loss", () => losses.length === 1);
    await subscription.close();
    await world.declareQueue(queue);
    await world.fill(queue, "1");
    await world.depth(queue, 1);
    assert.equal(recoveries(), 0);
  });

  it("counts the consumers of a queue", async (world) => {
    const queue = await world.queue("q");
    const consumers = async (): Promise<number> => {
      const state = await world.mq.checkQueue(queue);
      return state.status === "present" ? state.consumers : -1;
    };
    const { subscription } = await world.read(queue);
    await world.read(queue);
    assert.equal(await consumers(), 2);
    await subscription.close();
    await world.until("one consumer", async () => await consumers() === 1);
  });
}
