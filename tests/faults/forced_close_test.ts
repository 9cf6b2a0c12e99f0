import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { logOf } from "../support/fault_node.ts";
import { type FaultWorld, onFaultNode, type Peer } from "../support/fault_world.ts";
import { openSockets } from "../support/residue.ts";
import { missing } from "../support/services.ts";
import { deferred, until } from "../support/until.ts";

const skip = await missing("fault_node");

/** How often the long test closes its connection. */
const CLOSES = 240;

/** Closes the connection by force, and waits until it is back and confirms again. */
async function closeAndReturn(world: FaultWorld, peer: Peer): Promise<void> {
  const times = peer.seen.of("recovered").length + 1;
  assert.equal(await world.node.forceClose(peer.name), 1);
  await world.recovered(peer, times);
  const confirmed = world.ledger.of("confirmed").length;
  await until("confirmed again", () => world.ledger.of("confirmed").length > confirmed);
}

describe("a connection that the broker closes", () => {
  const inWorld = onFaultNode(skip);

  it(
    "leaves 200 waiting publishes unknown, not rejected, and the broker has every confirmed one [PUB-09]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      const publisher = peer.mq.publisher("", queue);
      const confirmed = await world.ledger.sendMany(publisher, 50);
      assert.ok(confirmed.every(({ outcome }) => outcome === "confirmed"));
      await world.whileHeldUp(queue, async () => {
        const waiting = world.ledger.sendMany(publisher, 200);
        await until("200 are written", () => peer.seen.inFlight === 200);
        await world.node.forceClose(peer.name);
        for (const { outcome, reason } of await waiting) {
          assert.equal(outcome, "ACEMQ_PUBLISH_UNKNOWN");
          assert.equal(reason, "the connection was lost before the broker confirmed");
        }
      });
      assert.equal(world.sink.count("acemq.publish.total", { outcome: "failed" }), 200);
      assert.ok(await world.node.messages(queue) >= 50);
    }),
  );

  it(
    "ends the wait for a confirm at once, and the next publish goes out as soon as it is back [REC-04]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      const publisher = peer.mq.publisher("", queue);
      await world.ledger.send(publisher);
      await world.whileHeldUp(queue, async () => {
        const waiting = world.ledger.send(publisher);
        await until("written", () => peer.seen.inFlight === 1);
        const closedAt = performance.now();
        await world.node.forceClose(peer.name);
        assert.equal((await waiting).outcome, "ACEMQ_PUBLISH_UNKNOWN");
        assert.ok(performance.now() - closedAt < 1_000);
      });
      await world.recovered(peer);
      const next = await world.ledger.send(publisher);
      assert.equal(next.outcome, "confirmed");
      assert.ok(next.tookMs < 1_000, `${next.tookMs} ms`);
    }),
  );

  it(
    "never has more publishes out than the ceiling, and has all 10 permits free after 20 closes under load [PUB-11, PUB-12]",
    { skip, timeout: 60_000 },
    inWorld(async (world) => {
      const peer = await world.connect({ maxOutstandingPublishes: 10, permitTimeoutMs: 200 });
      const queue = await world.queue(peer, "orders");
      const publishers = Array.from({ length: 30 }, () => peer.mq.publisher("", queue));
      const stop = world.load(publishers);
      for (let close = 0; close < 20; close++) await closeAndReturn(world, peer);
      await stop();
      assert.equal(peer.seen.mostInFlight, 10);
      assert.equal(peer.seen.inFlight, 0);
      await world.whileHeldUp(queue, async () => {
        const [first] = publishers;
        assert.ok(first !== undefined);
        const ten = world.ledger.sendMany(first, 10);
        await until("10 are out", () => peer.seen.inFlight === 10);
        const eleventh = await world.ledger.send(first);
        assert.equal(eleventh.outcome, "ACEMQ_PUBLISH_PAUSED");
        await world.node.resume(queue);
        assert.ok((await ten).every(({ outcome }) => outcome === "confirmed"));
      });
    }),
  );

  it(
    "declines what is sent while it is away as refused, so that only what was written counts as failed [REC-12]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      const publisher = peer.mq.publisher("", queue);
      const stop = world.load(Array.from({ length: 20 }, () => peer.mq.publisher("", queue)));
      for (let close = 1; close <= 5; close++) {
        await world.node.forceClose(peer.name);
        await until("lost", () => peer.seen.of("lost").length === close);
        const handedOver = peer.seen.published;
        while (peer.seen.isLost) {
          const { outcome, tookMs } = await world.ledger.send(publisher);
          if (outcome === "confirmed") break;
          assert.equal(outcome, "ACEMQ_PUBLISH_PAUSED");
          assert.ok(tookMs < 100, `${tookMs} ms`);
          if (peer.seen.isLost) assert.equal(peer.seen.published, handedOver, "Nothing goes to a link that is gone");
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await world.recovered(peer, close);
      }
      await stop();
      const { ACEMQ_PUBLISH_UNKNOWN: unknown = 0, ACEMQ_PUBLISH_PAUSED: declined = 0 } = world.ledger.counts;
      assert.ok(declined > 0);
      assert.equal(world.sink.count("acemq.publish.total", { outcome: "refused" }), declined);
      assert.equal(world.sink.count("acemq.publish.total", { outcome: "failed" }), unknown);
      // Of each of the 20 publishers, at most the one message it had out when the link broke.
      assert.ok(unknown <= 5 * 20, `${unknown} are unknown`);
    }),
  );

  it(
    "is back at its one address within one interval and a second, at the first attempt [REC-13]",
    { skip },
    inWorld(async (world) => {
      const intervalMs = 400;
      const peer = await world.connect({ reconnect: { initialDelayMs: intervalMs } });
      for (let close = 1; close <= 3; close++) {
        await world.node.forceClose(peer.name);
        await until("lost", () => peer.seen.of("lost").length === close);
        const lostAt = performance.now();
        await world.recovered(peer, close);
        const awayMs = performance.now() - lostAt;
        assert.ok(awayMs < intervalMs + 1_000, `${awayMs} ms`);
      }
      assert.deepEqual(peer.seen.of("recovered").map(({ attempts }) => attempts), [1, 1, 1]);
    }),
  );

  it(
    `${CLOSES} times in a row under load stays one link with the same channels, one ` +
      "consumer under its tag, fresh credentials, and no more sockets, timers, listeners or memory than before " +
      "[REC-05, REC-07, REC-09, REC-11, REC-14]",
    { skip, timeout: 240_000 },
    inWorld(async (world) => {
      let asked = 0;
      const credentials = (): { username: string; password: string } => {
        asked++;
        return { username: "guest", password: "guest" };
      };
      const peer = await world.connect({ credentials, reconnect: { initialDelayMs: 10, maxDelayMs: 100 } });
      const queue = await world.queue(peer, "orders");
      await peer.mq.consume(queue, world.ledger.handler(), { signal: world.ledger.signal });
      const { clock, ledger } = world;
      const idle = { timers: clock.pending, listeners: ledger.listeners };
      const stop = world.load([peer.mq.publisher("", queue), peer.mq.publisher("", queue)]);
      await until("under way", () => ledger.handledMessages > 50);
      const consumer = await world.node.consumers(queue);
      assert.equal(consumer.length, 1);
      assert.match(consumer[0]?.tag ?? "", new RegExp(`^acemq-${queue}-.{8}$`));
      const before = { sockets: await openSockets(), rss: process.memoryUsage().rss };
      const { mark } = await world.node.log();
      for (let close = 1; close <= CLOSES; close++) {
        // Two publishers and a consumer have one channel each; those of declarations are gone again.
        assert.deepEqual(await world.node.forceCloseStanding(peer.name, { channels: 3, queue }), consumer);
        await world.recovered(peer, close);
        const { length } = ledger.of("confirmed");
        await until("confirmed again", () => ledger.of("confirmed").length > length);
      }
      await until("no more sockets than before", async () => await openSockets() <= before.sockets);
      const growth = process.memoryUsage().rss / before.rss;
      assert.ok(growth < 2, `${growth} times the memory`);
      assert.equal(asked, 1 + peer.seen.of("retrying").length);
      assert.equal(peer.seen.of("recovered").length, CLOSES);
      assert.equal(peer.seen.of("redeclare_failed").length, 0);
      await stop();
      await until("all is handled", () => ledger.of("confirmed").every(({ id }) => ledger.handled(id) > 0));
      await until("idle", () => clock.pending <= idle.timers);
      assert.equal(ledger.listeners, idle.listeners);
      const text = logOf(peer.name, (await world.node.log(mark)).text);
      assert.ok(text.includes("connection_forced"), text);
      assert.doesNotMatch(text, /channel exception|CHANNEL_ERROR|unexpected/i);
    }),
  );

  it(
    "replaces a channel that the broker has closed 50 times, and keeps nothing of the old ones [REC-08]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      // A publisher a lane: four share the connection's lanes, the fifth is on the lane of the first.
      const [first, ...others] = Array.from(
        { length: 5 },
        (_, n) => peer.mq.publisher(n < 4 ? "" : "acemq-none", queue),
      );
      const failing = others.at(-1);
      assert.ok(first !== undefined && failing !== undefined);
      await world.ledger.send(first);
      await until("one channel", async () => String(await world.node.channels(peer.name)) === "1");
      const timers = world.clock.pending;
      const sockets = await openSockets();
      for (let replacement = 0; replacement < 50; replacement++) {
        const refused = await world.ledger.send(failing);
        assert.equal(refused.outcome, "ACEMQ_PUBLISH_REFUSED");
        assert.match(refused.reason, /^404 /);
        assert.equal((await world.ledger.send(first)).outcome, "confirmed");
      }
      assert.deepEqual(await world.node.channels(peer.name), [1]);
      assert.equal(world.clock.pending, timers);
      await until("no more sockets than before", async () => await openSockets() <= sockets);
      assert.deepEqual(peer.seen.events, []);
    }),
  );

  it(
    "while 5 handlers run settles none of theirs on the next channel: every message comes again and is handled [CON-09, CN-11]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders");
      await world.ledger.sendMany(peer.mq.publisher("", queue), 10);
      const isFree = [deferred(), deferred()] as const;
      const begun: string[] = [];
      const handler = world.ledger.handler(async (message) => {
        const place = begun.push(message.envelope.id);
        await isFree[place <= 5 ? 0 : 1].promise;
        if (place === 1) throw new Error("Too late to matter");
      });
      await peer.mq.consume(queue, handler, { concurrency: 5, prefetch: 5 });
      await until("5 handlers run", () => begun.length === 5);
      const { mark } = await world.node.log();
      await world.node.forceClose(peer.name);
      await world.recovered(peer);
      isFree[0].resolve();
      await until("5 handlers run again", () => begun.length === 10);
      // Their tags were 1 to 5, and so are those in hand now: had one been sent, a message would be gone.
      assert.equal(await world.node.messages(queue), 10);
      assert.deepEqual(begun.slice(5).sort(), begun.slice(0, 5).sort());
      isFree[1].resolve();
      await until("all is settled", async () => await world.node.messages(queue) === 0);
      assert.ok(world.ledger.entries.every(({ id }) => world.ledger.handled(id) >= 1));
      assert.equal(world.sink.count("acemq.messages.dead.lettered.total"), 0);
      assert.equal(peer.seen.of("consumer_lost").length, 0);
      const text = logOf(peer.name, (await world.node.log(mark)).text);
      assert.ok(text.includes("connection_forced"), text);
      assert.doesNotMatch(text, /precondition_failed|unknown delivery tag/i);
    }),
  );
});
