import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { onFaultNode } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("fault_node");

describe("a network that passes nothing on and tells nobody", () => {
  const inWorld = onFaultNode(skip);

  it(
    "ends the wait for a confirm at the confirm's deadline, and the wait for a permit at the permit's [PUB-23]",
    { skip },
    inWorld(async (world) => {
      const proxy = await world.proxy();
      const options = { maxOutstandingPublishes: 2, publishTimeoutMs: 900, permitTimeoutMs: 300 };
      const { mq } = await world.connect({ url: proxy.url, ...options });
      const queue = await world.queue(await world.connect(), "orders");
      const publisher = mq.publisher("", queue);
      assert.equal((await world.ledger.send(publisher)).outcome, "confirmed");
      proxy.pause();
      const entries = await world.ledger.sendMany(publisher, 3);
      const written = entries.filter(({ outcome }) => outcome === "ACEMQ_PUBLISH_UNKNOWN");
      const [declined, ...others] = entries.filter(({ outcome }) => outcome === "ACEMQ_PUBLISH_PAUSED");
      assert.equal(written.length, 2);
      for (const { tookMs, reason } of written) {
        assert.ok(tookMs >= 890 && tookMs < 1_500, `${tookMs} ms`);
        assert.equal(reason, "no confirm came within 900 ms");
      }
      assert.ok(declined !== undefined && others.length === 0);
      assert.ok(declined.tookMs >= 290 && declined.tookMs < 850, `${declined.tookMs} ms`);
      assert.match(
        declined.reason,
        /^2 publishes are already waiting for a confirm and none completed within 300 ms\./,
      );
      proxy.resume();
      await until("the written ones arrive", async () => await world.node.messages(queue) === 3);
    }),
  );

  it(
    "leaves no publish of a closing connection resolved that the broker has not confirmed, and none without a reason [OB-42]",
    { skip },
    inWorld(async (world) => {
      const proxy = await world.proxy();
      const { mq, seen } = await world.connect({
        url: proxy.url,
        maxOutstandingPublishes: 400,
        publishTimeoutMs: 1_500,
        permitTimeoutMs: 300,
      });
      const queue = await world.queue(await world.connect(), "orders");
      const publishers = Array.from({ length: 4 }, () => mq.publisher("", queue));
      for (const publisher of publishers) await world.ledger.send(publisher);
      const before = await world.node.messages(queue);
      proxy.pause("from_broker");
      const sends = publishers.map((publisher) => world.ledger.sendMany(publisher, 250));
      const closed = mq.close();
      const entries = (await Promise.all(sends)).flat();
      assert.equal(entries.length, 1_000);
      assert.ok(entries.every(({ reason }) => reason !== ""));
      const { confirmed, ACEMQ_PUBLISH_UNKNOWN: unknown, ACEMQ_CONNECTION_CLOSED: declined } = world.ledger.counts;
      assert.deepEqual({ confirmed, unknown, declined }, { confirmed: before, unknown: 400, declined: 600 });
      assert.equal(seen.mostInFlight, 400);
      assert.equal(await world.node.messages(queue), before + 400, "Which is why they are unknown");
      proxy.resume();
      assert.deepEqual(await closed, { drained: true, stranded: 0 });
    }),
  );

  it(
    "settles every publish by its deadline, is found out by two silent heartbeats, and is got over [CN-22]",
    { skip, timeout: 60_000 },
    inWorld(async (world) => {
      const heartbeatMs = 2_000;
      await world.node.configure({ heartbeat: heartbeatMs / 1_000 });
      const proxy = await world.proxy();
      const peer = await world.connect({ url: proxy.url, publishTimeoutMs: 1_000, connectTimeoutMs: 500 });
      const queue = await world.queue(peer, "orders");
      await peer.mq.consume(queue, world.ledger.handler());
      const publisher = peer.mq.publisher("", queue);
      await world.ledger.sendMany(publisher, 100);
      await until("the first are handled", () => world.ledger.handledMessages === 100);

      proxy.pause();
      const pausedAt = performance.now();
      // Writing goes on all the while: on a half-open line it succeeds, and proves nothing.
      while (!peer.seen.isLost) {
        for (const { outcome, tookMs } of await world.ledger.sendMany(publisher, 100)) {
          assert.match(outcome, /^ACEMQ_PUBLISH_(UNKNOWN|PAUSED)$/);
          assert.ok(tookMs < 1_500, `${tookMs} ms`);
        }
      }
      const silentMs = performance.now() - pausedAt;
      assert.ok(silentMs > heartbeatMs && silentMs < 3 * heartbeatMs + 1_000, `${silentMs} ms`);
      assert.match(peer.seen.of("lost")[0]?.reason ?? "", /nothing was heard for two heartbeats/);
      assert.equal((await peer.mq.health()).status, "down");
      await until("an attempt in vain", () => peer.seen.of("retrying").length >= 2);
      const meanwhile = await world.ledger.send(publisher);
      assert.equal(meanwhile.outcome, "ACEMQ_PUBLISH_PAUSED");

      proxy.resume();
      await world.recovered(peer);
      const late = await world.ledger.sendMany(publisher, 100);
      assert.ok(late.every(({ outcome }) => outcome === "confirmed"));
      await until("all of them are handled", () => late.every(({ id }) => world.ledger.handled(id) > 0));
    }),
  );
});
