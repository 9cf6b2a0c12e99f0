/** What the broker makes of headers, while the connection is closed by force: no message is lost to both. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { randomUuid } from "../../src/clock.ts";
import { retry } from "../../src/consume/ack.ts";
import type { HeaderValue } from "../../src/message/header_value.ts";
import type { Message } from "../../src/message/message.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { DEATHS, MALFORMED_DEATHS, QUEUE_TYPES, republished } from "../support/broker_bookkeeping.ts";
import { type FaultWorld, onFaultNode, type Peer } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";
import { UNENCODABLE } from "../support/unencodable.ts";
import { until } from "../support/until.ts";

const skip = await missing("fault_node");
const JSON_BODY = { contentType: "application/json" };

/** One second on a rung. */
const RUNG = fixedRetry(2, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 });

/** Consumes from queues; first attempts fail, and are on their rung when the connection is closed by force. */
async function failFirst(world: FaultWorld, peer: Peer, queues: readonly string[]): Promise<Message[]> {
  const seen: Message[] = [];
  const handler = world.ledger.handler((message) => {
    seen.push(message);
    return message.envelope.attempt === 1 ? retry("busy") : undefined;
  });
  for (const queue of queues) await peer.mq.consume(queue, handler, { retry: RUNG });
  return seen;
}

/** Closes the connection when so many messages wait on their rungs, and waits until it is back and all of them are home. */
async function closeOnTheWay(world: FaultWorld, peer: Peer, count: number): Promise<void> {
  await until("all are on their rungs", () => world.sink.count("acemq.messages.retried.total") >= count);
  await world.node.forceClose(peer.name);
  await world.recovered(peer);
  await until("all are home", () => world.ledger.handledMessages >= count);
  assert.equal(world.sink.count("acemq.messages.dead.lettered.total"), 0);
}

describe("a connection that is closed by force", () => {
  const inWorld = onFaultNode(skip);

  it(
    "does not cost a message its way home that the broker had dead-lettered and somebody has put back [BRK-01]",
    { skip },
    inWorld(async (world) => {
      const [peer, other] = [await world.connect(), await world.other()];
      const queues: string[] = [];
      for (const [type, args, death] of DEATHS) {
        const queue = world.name(`${type}-${death.reason}`);
        const deadLetter = { "x-dead-letter-exchange": "acemq.dlx", "x-dead-letter-routing-key": `${queue}.dlq` };
        await other.declare(queue, { ...args, ...death.args, ...deadLetter });
        await (await peer.mq.consume(queue, () => {}, { retry: RUNG })).close();
        await other.put(queue, `"mine"`, { ...JSON_BODY, messageId: randomUuid() });
        await death.kill(other, queue);
        // Consumed from before it has died, it would not.
        await until("it is dead", async () => await other.depth(`${queue}.dlq`) === 1);
        queues.push(queue);
      }
      const seen = await failFirst(world, peer, queues);
      for (const queue of queues) {
        const dead = await other.take(`${queue}.dlq`);
        assert.ok("x-death" in dead.copied);
        await other.put(queue, dead.body, republished(dead));
        world.ledger.enter(republished(dead).messageId);
      }
      await closeOnTheWay(world, peer, queues.length);
      assert.ok(seen.every(({ payload }) => payload === "mine"));
    }),
  );

  it(
    "does not multiply a message that names further queues [BRK-02]",
    { skip },
    inWorld(async (world) => {
      const [peer, other] = [await world.connect(), await world.other()];
      const [orders, copies] = [await world.queue(peer, "orders"), await world.queue(peer, "copies")];
      await failFirst(world, peer, [orders]);
      for (const header of ["CC", "BCC"]) {
        const messageId = randomUuid();
        await other.put(orders, "1", { ...JSON_BODY, messageId, headers: { [header]: [copies] } });
        world.ledger.enter(messageId);
      }
      await closeOnTheWay(world, peer, 2);
      assert.equal(await world.node.messages(copies), 2, "One of each, from the first publish");
    }),
  );

  it(
    "counts as a redelivery of what was in hand, and not of its copy [BRK-03]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const queue = await world.queue(peer, "orders", { type: "quorum" });
      const counts: unknown[] = [];
      await world.ledger.send(peer.mq.publisher("", queue));
      await peer.mq.consume(
        queue,
        world.ledger.handler(async ({ envelope, headers }) => {
          const losses = peer.seen.of("lost").length;
          counts.push([envelope.attempt, headers["x-delivery-count"]]);
          if (envelope.attempt > 1) return;
          if (losses < 2) await until("the next loss", () => peer.seen.of("lost").length > losses);
          return retry("busy");
        }),
        { retry: RUNG },
      );
      for (const times of [1, 2]) {
        await until(`delivery ${times}`, () => counts.length === times);
        await world.node.forceClose(peer.name);
        await world.recovered(peer, times);
      }
      await until("handled", () => world.ledger.handledMessages === 1);
      assert.deepEqual(counts, [[1, undefined], [1, 1], [1, 2], [2, undefined]]);
    }),
  );

  it(
    "is not what a number that is none, or a value no AMQP kind holds, leads to: only its own publish fails [BRK-04, BRK-07]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect();
      const publisher = peer.mq.publisher("", await world.queue(peer, "orders"));
      const headers = Object.values(UNENCODABLE).flatMap((value) => [value, [value], { deep: [{ value }] }]);
      const before = world.ledger.sendMany(publisher, 50);
      const bad = (headers as HeaderValue[]).map((header) => world.ledger.send(publisher, { headers: { header } }));
      const after = world.ledger.sendMany(publisher, 50);
      for (const { outcome } of await Promise.all(bad)) assert.equal(outcome, "ACEMQ_PUBLISH_REFUSED");
      for (const { outcome } of [...await before, ...await after]) assert.equal(outcome, "confirmed");
      assert.deepEqual(peer.seen.events, []);
    }),
  );

  it(
    "does not cost a message its way home whose history of deaths only a client can have written so [BRK-05]",
    { skip },
    inWorld(async (world) => {
      const [peer, other] = [await world.connect(), await world.other()];
      const queues: string[] = [];
      for (const [type, args] of QUEUE_TYPES) {
        const queue = world.name(type);
        await other.declare(queue, args);
        queues.push(queue);
      }
      await failFirst(world, peer, queues);
      for (const queue of queues) {
        for (const [, value] of MALFORMED_DEATHS) {
          const messageId = randomUuid();
          await other.put(queue, "1", { ...JSON_BODY, messageId, headers: { "x-death": value } });
          world.ledger.enter(messageId);
        }
      }
      await closeOnTheWay(world, peer, queues.length * MALFORMED_DEATHS.length);
    }),
  );

  it(
    "does not keep a message from being set aside whose error text fits no frame: it is cut at a character [BRK-06]",
    { skip },
    inWorld(async (world) => {
      const [peer, other] = [await world.connect(), await world.other()];
      const queue = await world.queue(peer, "orders", { type: "quorum" });
      const said = "ü🧀".repeat(50_000);
      const isClosed = world.recovered(peer);
      await peer.mq.consume(
        queue,
        world.ledger.handler(async () => {
          await isClosed;
          throw new Error(said);
        }),
      );
      await world.ledger.send(peer.mq.publisher("", queue), { headers: { "x-large": "h".repeat(100_000) } });
      await until("in hand", async () => await other.depth(queue) === 0);
      await world.node.forceClose(peer.name);
      const { table } = await other.peek(`${queue}.dlq`);
      const words = String(table["x-acemq-error"]);
      assert.ok(`exhausted 1 attempt: Error: ${said}`.startsWith(words) && words.isWellFormed());
      assert.ok(Buffer.byteLength(words) > 8_000, `${Buffer.byteLength(words)} bytes`);
      assert.equal(world.sink.count("acemq.messages.set.aside.failed"), 0);
    }),
  );
});
