import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message, QueueOptions } from "../../mod.ts";
import { onFaultNode } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";
import { deferred, until } from "../support/until.ts";

const skip = await missing("fault_node");

describe("a connection whose socket is destroyed", () => {
  const inWorld = onFaultNode(skip);

  it(
    "ten times under load is back each time, has lost nothing that was confirmed, and calls unknown what it cannot know",
    { skip, timeout: 60_000 },
    inWorld(async (world) => {
      const proxy = await world.proxy();
      const peer = await world.connect({ url: proxy.url });
      const queue = await world.queue(peer, "orders", { type: "quorum" });
      let runs = 0;
      // One in ten is still at work when the connection is back.
      const slowly = world.ledger.handler(() => world.clock.delay(runs++ % 10 === 0 ? 200 : 5));
      await peer.mq.consume(queue, slowly, { concurrency: 10, prefetch: 40 });
      const stop = world.load(Array.from({ length: 8 }, () => peer.mq.publisher("", queue)));
      for (let cut = 1; cut <= 10; cut++) {
        const [handled, confirmed] = [world.ledger.handledMessages, world.ledger.of("confirmed").length];
        await until(
          "under way",
          () => world.ledger.handledMessages > handled + 20 && world.ledger.of("confirmed").length > confirmed + 20,
        );
        proxy.cut();
        await world.recovered(peer, cut);
      }
      await stop();
      await until("all is handled", () => world.ledger.of("confirmed").every(({ id }) => world.ledger.handled(id) > 0));
      assert.deepEqual([peer.seen.of("lost").length, peer.seen.of("redeclare_failed").length], [10, 0]);
      // Of each publisher at most the one message it had out when the line was cut.
      assert.ok(world.ledger.of("ACEMQ_PUBLISH_UNKNOWN").length <= 10 * 8, JSON.stringify(world.ledger.counts));
      assert.equal(world.sink.count("acemq.messages.dead.lettered.total"), 0);
    }),
  );

  for (const type of ["classic", "quorum"] satisfies QueueOptions["type"][]) {
    it(
      `begins no message beside itself whose handler still runs when it comes again, with its sender's id or without (${type})`,
      { skip },
      inWorld(async (world) => {
        const [proxy, other] = [await world.proxy(), await world.other()];
        const peer = await world.connect({ url: proxy.url });
        const [orders, foreign] = [
          await world.queue(peer, "orders", { type }),
          await world.queue(peer, "foreign", { type }),
        ];
        await world.ledger.sendMany(peer.mq.publisher("", orders), 3);
        for (const text of ["a", "b"]) await other.put(foreign, `"${text}"`, { contentType: "application/json" });
        const mayEnd = deferred();
        const begun: string[] = [];
        const running = new Set<string>();
        const doubled: string[] = [];
        const handle = async ({ payload }: Message): Promise<void> => {
          const text = JSON.stringify(payload);
          if (running.has(text)) doubled.push(text);
          running.add(text);
          begun.push(text);
          await mayEnd.promise;
          running.delete(text);
        };
        const consumers = [
          await peer.mq.consume(orders, world.ledger.handler(handle), { concurrency: 10 }),
          await peer.mq.consume(foreign, handle, { concurrency: 10 }),
        ];
        const sum = (of: "held" | "inFlight"): number => consumers.reduce((total, { state }) => total + state[of], 0);
        await until("all run", () => begun.length === 5);
        for (let cut = 1; cut <= 2; cut++) {
          proxy.cut();
          await world.recovered(peer, cut);
          await until("all came again", () => sum("held") === 5);
        }
        assert.deepEqual([begun.length, sum("inFlight")], [5, 5]);
        mayEnd.resolve();
        await until("all ran again", () => begun.length === 10 && sum("inFlight") === 0);
        assert.deepEqual(begun.slice(5).toSorted(), begun.slice(0, 5).toSorted());
        assert.deepEqual(doubled, []);
      }),
    );
  }
});
