import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { topology } from "../../mod.ts";
import { onFaultNode } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("fault_node");

describe("a channel that the broker closes under load", () => {
  const inWorld = onFaultNode(skip);

  it(
    "with a 406 leaves unknown what was out on it, is replaced for the next publish, and the connection stays",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      await peer.mq.consume(queue, world.ledger.handler());
      const stop = world.load(Array.from({ length: 20 }, () => peer.mq.publisher("", queue)));
      await until("four lanes and a consumer", async () => String(await world.node.channels(peer.name)) === "5");
      for (let close = 0; close < 5; close++) {
        assert.equal(await world.node.failChannels(peer.name, { confirming: true }), 4);
        const confirmed = world.ledger.of("confirmed").length;
        await until("confirmed again", () => world.ledger.of("confirmed").length > confirmed + 40);
        await until("four new ones", async () => String(await world.node.channels(peer.name)) === "5");
      }
      await stop();
      const failures = world.ledger.entries.filter(({ outcome }) => outcome !== "confirmed");
      assert.ok(failures.length > 0 && failures.length <= 5 * 20, `${failures.length} publishes failed`);
      for (const { outcome, reason } of failures) {
        assert.equal(outcome, "ACEMQ_PUBLISH_UNKNOWN");
        assert.match(reason, /^the broker closed the channel: 406 PRECONDITION_FAILED/);
      }
      await until("all is handled", () => world.ledger.of("confirmed").every(({ id }) => world.ledger.handled(id) > 0));
      assert.deepEqual(peer.events, []);
    }),
  );

  it(
    "with a 406 under its consumer is told in an event and in health, and the consumer comes back with its tag",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      const slowly = world.ledger.handler(() => world.clock.delay(5));
      await peer.mq.consume(queue, slowly, { concurrency: 10, prefetch: 20 });
      const stop = world.load([peer.mq.publisher("", queue), peer.mq.publisher("", queue)]);
      await until("under way", () => world.ledger.handledMessages > 20);
      const consumers = await world.node.consumers(queue);
      for (let close = 1; close <= 3; close++) {
        assert.equal(await world.node.failChannels(peer.name, { confirming: false }), 1);
        await until(
          "recovered",
          () => peer.events.filter(({ type }) => type === "consumer_recovered").length === close,
        );
        const handled = world.ledger.handledMessages;
        await until("handled again", () => world.ledger.handledMessages > handled + 20);
        assert.deepEqual(await world.node.consumers(queue), consumers);
      }
      await stop();
      await until("all is handled", () => world.ledger.of("confirmed").every(({ id }) => world.ledger.handled(id) > 0));
      assert.equal(world.ledger.of("confirmed").length, world.ledger.entries.length, "Publishing went on");
      assert.ok(peer.seen.of("consumer_lost").every(({ reason }) => reason.startsWith("406 PRECONDITION_FAILED")));
      assert.equal(peer.seen.events.length, 6);
    }),
  );

  it(
    "because its exchange was deleted refuses each publish until the exchange is there again, in the broker's words",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const [exchange, queue] = [world.name("events"), world.name("orders")];
      const events = topology()
        .exchange(exchange, "topic")
        .queue(queue, { type: "classic" })
        .bind(queue, { exchange, routingKey: "order.#" });
      await peer.mq.declare(events);
      await peer.mq.consume(queue, world.ledger.handler());
      // There are four lanes: the fifth publisher is on that of the first, and suffers with it.
      const [placed, elsewhere, , , beside] = Array.from(
        { length: 5 },
        (_, n) => n === 0 ? peer.mq.publisher(exchange, "order.placed") : peer.mq.publisher("", queue),
      );
      assert.ok(placed !== undefined && elsewhere !== undefined && beside !== undefined);
      const stop = world.load([placed, elsewhere]);
      await until("under way", () => world.ledger.handledMessages > 50);
      await world.node.deleteExchange(exchange);
      await until("refused", () => world.ledger.of("ACEMQ_PUBLISH_REFUSED").length > 20);
      assert.equal(world.ledger.of("ACEMQ_PUBLISH_UNKNOWN").length, 0, "It was alone on its channel");
      const stopBeside = world.load([beside]);
      await until("unknown", () => world.ledger.of("ACEMQ_PUBLISH_UNKNOWN").length > 20);
      await stopBeside();
      assert.equal((await peer.mq.health()).status, "up");
      await peer.mq.declare(events);
      const declared = world.ledger.entries.length;
      await until("none is refused any more", () => {
        const latest = world.ledger.entries.slice(declared).slice(-100);
        return latest.length === 100 && latest.every(({ outcome }) => outcome === "confirmed");
      });
      await stop();
      for (const { outcome, reason } of world.ledger.entries) {
        // The exchange is there again a moment before its binding.
        if (outcome === "confirmed" || outcome === "ACEMQ_PUBLISH_UNROUTABLE") continue;
        assert.match(outcome, /^ACEMQ_PUBLISH_(REFUSED|UNKNOWN)$/);
        assert.ok(reason.includes(`404 NOT_FOUND - no exchange '${exchange}'`), reason);
      }
      await until("all is handled", () => world.ledger.of("confirmed").every(({ id }) => world.ledger.handled(id) > 0));
      assert.deepEqual(peer.events, []);
    }),
  );
});
