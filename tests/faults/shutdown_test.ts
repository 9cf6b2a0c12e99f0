import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { onFaultNode, type Peer } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";
import { deferred, until } from "../support/until.ts";

const skip = await missing("fault_node");

describe("a service that is told to stop", () => {
  const inWorld = onFaultNode(skip);

  it(
    "with 10 handlers running and 40 messages prefetched finishes the 10, hands the 40 back untouched, and is gone in time [CN-26]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      const sent = await world.ledger.sendMany(peer.mq.publisher("", queue), 60);
      const mayEnd = deferred();
      const begun: string[] = [];
      const consumer = await peer.mq.consume(
        queue,
        world.ledger.handler(async ({ envelope }) => {
          begun.push(envelope.id);
          await mayEnd.promise;
        }),
        { concurrency: 10, prefetch: 50 },
      );
      await until("10 run and 40 wait", () => consumer.state.inFlight === 10 && consumer.state.held === 40);

      const stopped = new Promise<number>((resolve) => {
        process.once("SIGTERM", () => {
          const toldAt = performance.now();
          void peer.mq.close().then(() => resolve(performance.now() - toldAt));
        });
      });
      process.kill(process.pid, "SIGTERM");
      await until("the 40 are back", async () => await world.node.waiting(queue) === 50);
      assert.equal(await world.node.messages(queue), 60, "The 10 are still in hand");
      mayEnd.resolve();
      const tookMs = await stopped;
      assert.ok(tookMs < 5_000, `${tookMs} ms`);
      assert.equal(begun.length, 10);
      assert.equal(await world.node.messages(queue), 50);
      assert.equal(await world.node.waiting(queue), 50);
      assert.equal(world.sink.count("acemq.consume.total", { queue, outcome: "acked" }), 10);

      // In the order they were sent in, and as they were: no attempt was counted.
      const successor = await world.connect();
      const attempts: number[] = [];
      const order: string[] = [];
      await successor.mq.consume(
        queue,
        world.ledger.handler(({ envelope }) => {
          order.push(envelope.id);
          attempts.push(envelope.attempt);
        }),
      );
      await until("the rest is handled", () => order.length === 50);
      assert.deepEqual(order, sent.map(({ id }) => id).filter((id) => !begun.includes(id)));
      assert.ok(attempts.every((attempt) => attempt === 1));
    }),
  );

  it(
    "is gone in time also where the network or the queue does not answer, and leaves its messages to the broker [CN-26]",
    { skip },
    inWorld(async (world) => {
      const proxy = await world.proxy();
      const queues: string[] = [];
      const services: Peer[] = [];
      for (const [label, url] of [["silent", proxy.url], ["stuck", world.node.url]] as const) {
        const peer = await world.connect({ url, drainTimeoutMs: 300, publishTimeoutMs: 300 });
        const queue = await world.queue(peer, label);
        await world.ledger.sendMany(peer.mq.publisher("", queue), 20);
        const consumer = await peer.mq.consume(queue, () => new Promise<void>(() => {}), { prefetch: 10 });
        await until("1 runs and 9 wait", () => consumer.state.inFlight === 1 && consumer.state.held === 9);
        services.push(peer);
        queues.push(queue);
      }
      const [silent = "", stuck = ""] = queues;

      proxy.pause();
      await world.whileHeldUp(stuck, async () => {
        const toldAt = performance.now();
        const reports = await Promise.all(services.map(({ mq }) => mq.close()));
        const tookMs = performance.now() - toldAt;
        assert.deepEqual(reports, [{ drained: false, stranded: 1 }, { drained: false, stranded: 1 }]);
        // The budget, a moment, and the farewell of the connection that nobody answers.
        assert.ok(tookMs < 300 + 1_000 + 5_000, `${tookMs} ms`);
      });
      proxy.resume();
      for (const queue of [silent, stuck]) {
        await until("all are back", async () => await world.node.waiting(queue) === 20);
      }
    }),
  );
});
