import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { topology } from "../../mod.ts";
import { onFaultNode } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";
import { deferred, until } from "../support/until.ts";

const skip = await missing("fault_node");

describe("a consumer that the broker ends", () => {
  const inWorld = onFaultNode(skip);

  it(
    "because a handler ran past the acknowledgement time-out consumes again, says so, and has counted one attempt [CN-07, SC-09]",
    { skip },
    inWorld(async (world) => {
      await world.node.configure({ consumer_timeout: 500, channel_tick_interval: 100 });
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      const publisher = peer.mq.publisher("", queue);
      const { id: slow } = await world.ledger.send(publisher);
      const mayEnd = deferred();
      const attempts: number[] = [];
      await peer.mq.consume(
        queue,
        world.ledger.handler(async ({ envelope }) => {
          if (envelope.id !== slow) return;
          if (attempts.push(envelope.attempt) === 1) await mayEnd.promise;
        }),
      );
      await until("the handler runs", () => attempts.length === 1);
      await until("consumer lost", () => peer.seen.of("consumer_lost").length === 1);
      assert.equal(peer.seen.of("consumer_lost")[0]?.queue, queue);
      assert.match(peer.seen.of("consumer_lost")[0]?.reason ?? "", /^406 .*acknowledgement/);
      mayEnd.resolve();
      await until("consumer recovered", () => peer.events.some(({ type }) => type === "consumer_recovered"));
      const { id: next } = await world.ledger.send(publisher);
      await until("the next is handled", () => world.ledger.handled(next) === 1);
      await until("all is settled", async () => await world.node.messages(queue) === 0);
      assert.deepEqual(attempts, [1, 1], "Delivered twice, and by no fault of the message");
      assert.equal(world.sink.count("acemq.consume.total", { queue, outcome: "acked" }), 2);
      assert.equal(peer.seen.of("lost").length, 0);
      assert.equal((await peer.mq.health()).status, "up");
    }),
  );

  it(
    "because a handler runs past the acknowledgement time-out, again and again, does not begin its message beside it",
    { skip },
    inWorld(async (world) => {
      await world.node.configure({ consumer_timeout: 300, channel_tick_interval: 100 });
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders", { type: "quorum" });
      const publisher = peer.mq.publisher("", queue);
      const { id: slow } = await world.ledger.send(publisher);
      const mayEnd = deferred();
      const begun: string[] = [];
      await peer.mq.consume(
        queue,
        world.ledger.handler(async ({ envelope }) => {
          if (envelope.id === slow && begun.push(envelope.id) === 1) await mayEnd.promise;
        }),
        { concurrency: 5 },
      );
      for (let loss = 1; loss <= 3; loss++) {
        await until(`loss ${loss}`, () => peer.seen.of("consumer_lost").length >= loss);
        await until("back", () => peer.seen.of("consumer_recovered").length >= loss);
        const { id } = await world.ledger.send(publisher);
        await until("others are handled meanwhile", () => world.ledger.handled(id) > 0);
      }
      assert.deepEqual(begun, [slow]);
      mayEnd.resolve();
      await until("it began again, alone", () => begun.length === 2);
      await until("all is handled", () => world.ledger.entries.every(({ id }) => world.ledger.handled(id) > 0));
    }),
  );

  it(
    "because what it held waited past the acknowledgement time-out loses nothing, repeats what was running and no more, and with " +
      "a prefetch it gets through in time is left alone [SC-11]",
    { skip },
    inWorld(async (world) => {
      await world.node.configure({ consumer_timeout: 600, channel_tick_interval: 100 });
      const peer = await world.connect();
      const [crowded, sparse] = [await world.queue(peer, "crowded"), await world.queue(peer, "sparse")] as const;
      for (const queue of [crowded, sparse]) await world.ledger.sendMany(peer.mq.publisher("", queue), 20);
      let runs = 0;
      const slowly = world.ledger.handler(async () => {
        runs++;
        await world.clock.delay(70);
      });
      await peer.mq.consume(sparse, slowly, { prefetch: 2 });
      await until("the sparse one is through", async () => await world.node.messages(sparse) === 0);
      assert.equal(runs, 20);
      assert.equal(peer.seen.of("consumer_lost").length, 0);

      await peer.mq.consume(crowded, slowly, { prefetch: 20 });
      await until("the crowded one is through", async () => await world.node.messages(crowded) === 0);
      const losses = peer.seen.of("consumer_lost").length;
      assert.ok(losses >= 1);
      // The one in the handler, and the one whose acknowledgement crossed the close.
      assert.ok(runs <= 40 + 2 * losses, `${runs - 40} repeated, ${losses} losses`);
      assert.ok(world.ledger.entries.every(({ id }) => world.ledger.handled(id) >= 1));
      assert.equal(world.sink.count("acemq.messages.retried.total"), 0);
    }),
  );

  it(
    "because its queue was deleted says so in an event and in health, and is back when the queue is [CN-09]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      const held = deferred();
      await world.ledger.send(peer.mq.publisher("", queue));
      await peer.mq.consume(queue, world.ledger.handler(() => held.promise));
      await until("a handler runs", async () => (await world.node.consumers(queue)).length === 1);
      await world.node.deleteQueue(queue);
      await until("consumer lost", () => peer.events.some(({ type }) => type === "consumer_lost"));
      // Its acknowledgement has nowhere to go, and must not close the channel of what comes back.
      held.resolve();
      for (let round = 0; round < 3; round++) {
        const { status, parts } = await peer.mq.health();
        assert.equal(status, "degraded");
        assert.ok(JSON.stringify(parts?.["consumers"]).includes(`not consuming: ${queue}`));
        await world.clock.delay(100);
      }
      assert.equal(peer.seen.of("consumer_recovered").length, 0);
      // That of the publisher: attempts in vain leave none behind.
      await until("one channel", async () => String(await world.node.channels(peer.name)) === "1");

      await peer.mq.declare(topology().queue(queue, { type: "classic" }));
      await until("consumer recovered", () => peer.events.some(({ type }) => type === "consumer_recovered"));
      const { id } = await world.ledger.send(peer.mq.publisher("", queue));
      await until("handled", () => world.ledger.handled(id) === 1);
      assert.equal((await peer.mq.health()).status, "up");
      assert.equal(peer.seen.of("lost").length, 0);
    }),
  );
});
