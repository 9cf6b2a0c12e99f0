import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type HealthReport, type Publisher, reject, topology } from "../../mod.ts";
import type { Alarm } from "../support/fault_node.ts";
import { type FaultWorld, onFaultNode, type Peer, type PeerOptions } from "../support/fault_world.ts";
import { smallestGrowthMiB } from "../support/memory_growth.ts";
import { missing } from "../support/services.ts";
import { whenAborted } from "../../src/internal/abort.ts";
import { deferred, until } from "../support/until.ts";

const skip = await missing("fault_node");

/** What every AceMQ library says first of a blocked connection. */
const BLOCKED = "the broker has blocked this connection; publishing is paused";

/** A connection whose first publish has gone into an alarm: the broker has read half of it and reads no more. */
async function intoAlarm(world: FaultWorld, alarm: Alarm = "memory", options: PeerOptions = {}): Promise<Blocked> {
  const peer = await world.connect(options);
  const queue = await world.queue(peer, "orders");
  const publisher = peer.mq.publisher("", queue);
  await world.ledger.send(publisher);
  await raiseAlarm(world, peer, alarm);
  const first = world.ledger.send(publisher);
  await until("blocked", () => peer.seen.of("blocked").length === 1);
  return { peer, queue, publisher, first };
}

interface Blocked {
  readonly peer: Peer;
  readonly queue: string;
  readonly publisher: Publisher;
  /** The end of the publish that was on the wire. */
  readonly first: ReturnType<FaultWorld["ledger"]["send"]>;
}

/** Raises an alarm, and waits until the broker's side of the connection has heard of it. */
async function raiseAlarm({ node }: FaultWorld, { name }: Peer, alarm: Alarm): Promise<void> {
  await node.raiseAlarm(alarm);
  await until("blocking", async () => (await node.states(name))[0] === "blocking");
}

/** The report of the connection alone, and how long it took. */
async function brokerHealth({ mq }: Peer): Promise<{ readonly report: HealthReport; readonly tookMs: number }> {
  const started = performance.now();
  const { parts } = await mq.health();
  const report = parts?.["broker"];
  assert.ok(typeof report === "object" && report !== null);
  return { report, tookMs: performance.now() - started };
}

/** Fetches from a queue and begins nothing; answers with the way to end it. */
async function fetching(
  { mq }: Peer,
  queue: string,
  what: "consumer" | "loop over deliveries" | "connection",
): Promise<() => Promise<unknown>> {
  if (what === "loop over deliveries") {
    const leaving = new AbortController();
    const loop = (async () => {
      for await (const _ of mq.deliveries(queue, { signal: leaving.signal })) await whenAborted(leaving.signal);
    })();
    return () => {
      leaving.abort();
      return loop;
    };
  }
  const consumer = await mq.consume(queue, () => assert.fail("It must not run"));
  consumer.pause();
  return async () => {
    const report = await (what === "consumer" ? consumer : mq).close();
    assert.deepEqual(report, { drained: true, stranded: 0 });
  };
}

describe("a broker short of memory or disk", () => {
  const inWorld = onFaultNode(skip);

  for (const alarm of ["memory", "disk"] as const) {
    it(
      `may have the publish that ran into the ${alarm} alarm, declines the next ones at once, and takes both after it [PUB-10, PUB-18]`,
      { skip },
      inWorld(async (world) => {
        const { publisher, queue, first } = await intoAlarm(world, alarm);
        const second = await world.ledger.send(publisher);
        assert.equal(second.outcome, "ACEMQ_PUBLISH_PAUSED");
        assert.match(second.reason, new RegExp(`blocked this connection: .*${alarm}`));
        assert.ok(second.tookMs < 1_000, `${second.tookMs} ms`);
        assert.equal(world.sink.count("acemq.publish.total", { "routing.key": queue, outcome: "refused" }), 1);
        assert.equal(world.ledger.pending, 1, "The first waits for the broker's word");
        await world.node.reset();
        assert.equal((await first).outcome, "confirmed");
        await until("publishing goes on", async () => (await world.ledger.send(publisher)).outcome === "confirmed");
      }),
    );
  }

  it(
    "whose alarm outlasts the deadline of the first publish leaves its outcome unknown, and has it afterwards [PUB-10]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect({ publishTimeoutMs: 300 });
      const queue = await world.queue(peer, "orders");
      const publisher = peer.mq.publisher("", queue);
      assert.equal((await world.ledger.send(publisher)).outcome, "confirmed");
      await raiseAlarm(world, peer, "memory");
      const first = await world.ledger.send(publisher);
      assert.equal(first.outcome, "ACEMQ_PUBLISH_UNKNOWN");
      assert.equal((await world.ledger.send(publisher)).outcome, "ACEMQ_PUBLISH_PAUSED");
      await world.node.reset();
      await until("the unknown one arrives", async () => await world.node.messages(queue) === 2);
    }),
  );

  it(
    "that does not read a copy for longer than a deadline has it once: the original waits in hand meanwhile [SC-21]",
    { skip },
    inWorld(async (world) => {
      const peer = await world.connect({ publishTimeoutMs: 1_000 });
      const [queue, other] = [await world.queue(peer, "orders"), await world.queue(peer, "other")];
      const [orders, others] = [peer.mq.publisher("", queue), peer.mq.publisher("", other)];
      const alarmed = deferred();
      const handled: string[] = [];
      await peer.mq.consume(queue, async ({ envelope }) => {
        if (handled.push(envelope.id) === 2) await alarmed.promise;
        return reject("no");
      });
      // Both lanes have a channel before the alarm.
      const ids = [(await world.ledger.send(orders)).id];
      await world.ledger.send(others);
      await until("a first dead letter", async () => await world.node.waiting(`${queue}.dlq`) === 1);
      ids.push((await world.ledger.send(orders)).id);
      await until("a second handler", () => handled.length === 2);
      await raiseAlarm(world, peer, "memory");
      alarmed.resolve();
      // Written together with the copy, and given up after the same time.
      assert.equal((await world.ledger.send(others)).outcome, "ACEMQ_PUBLISH_UNKNOWN");
      await world.connect();
      await world.node.reset();
      await until("unblocked", () => peer.seen.of("unblocked").length === 1);
      ids.push((await world.ledger.send(orders)).id);
      await until("three dead letters", async () => await world.node.waiting(`${queue}.dlq`) >= 3);
      await until("every original is settled", async () => await world.node.messages(queue) === 0);
      assert.deepEqual([handled, await world.node.waiting(`${queue}.dlq`)], [ids, 3]);
    }),
  );

  for (const what of ["consumer", "loop over deliveries", "connection"] as const) {
    it(
      `does not hold up the close of a ${what} with nothing in a handler; what was fetched comes again, once`,
      { skip },
      inWorld(async (world) => {
        const peer = await world.connect({ publishTimeoutMs: 300 });
        const [queue, other] = [await world.queue(peer, "idle"), await world.queue(peer, "other")];
        const leaving = await fetching(peer, queue, what);
        await world.ledger.sendMany(peer.mq.publisher("", queue), 3);
        await until("three in hand", async () => await world.node.waiting(queue) === 0);
        await raiseAlarm(world, peer, "memory");
        assert.equal((await world.ledger.send(peer.mq.publisher("", other))).outcome, "ACEMQ_PUBLISH_UNKNOWN");
        const started = performance.now();
        await leaving();
        const tookMs = performance.now() - started;
        assert.ok(tookMs < 1_000, `${tookMs} ms`);
        await world.node.reset();
        await until("three waiting", async () => await world.node.waiting(queue) === 3);
      }),
    );
  }

  it(
    "is seen in an event and in health, which stays up, with the reason; and so is the end of it [CN-21, HLT-05]",
    { skip },
    inWorld(async (world) => {
      const { peer, first } = await intoAlarm(world);
      const { report } = await brokerHealth(peer);
      assert.equal(report.status, "up");
      assert.equal(report.detail, `${BLOCKED}: low on memory`);
      assert.deepEqual(report.parts, { consumers: 0, blocked: true, blockedReason: "low on memory" });
      assert.deepEqual(peer.events, [{ type: "blocked", reason: "low on memory" }]);
      await world.node.reset();
      await first;
      await until("unblocked", () => peer.events.length === 2);
      assert.deepEqual(peer.events[1], { type: "unblocked" });
      assert.equal((await brokerHealth(peer)).report.parts?.["blocked"], false);
    }),
  );

  it(
    "is not asked for health: the answer comes at once, while a question hangs until the alarm ends [HLT-01]",
    { skip },
    inWorld(async (world) => {
      const { peer, first } = await intoAlarm(world);
      let isAnswered = false;
      const question = peer.mq.declare(topology().queue(world.name("asked"), { type: "classic" }))
        .then(() => isAnswered = true);
      for (let round = 0; round < 10; round++) {
        const { report, tookMs } = await brokerHealth(peer);
        assert.ok(tookMs < 100, `${tookMs} ms`);
        assert.equal(report.status, "up");
      }
      // Long after an open connection would have answered: one whole round trip of another.
      await world.connect();
      assert.equal(isAnswered, false);
      await world.node.reset();
      await Promise.all([question, first]);
    }),
  );

  it(
    "does not hide a consumer that has stopped: degraded, by the name of its queue, and up when it is back [HLT-08]",
    { skip },
    inWorld(async (world) => {
      const { peer, queue, first } = await intoAlarm(world);
      const stopped = await world.queue(await world.connect(), "stopped");
      await world.node.reset();
      await first;
      await peer.mq.consume(stopped, world.ledger.handler());
      await raiseAlarm(world, peer, "memory");
      const again = world.ledger.send(peer.mq.publisher("", queue));
      await until("blocked again", () => peer.seen.of("blocked").length === 2);
      await world.node.deleteQueue(stopped);
      await until("consumer lost", () => peer.seen.of("consumer_lost").length === 1);
      const report = await peer.mq.health();
      assert.equal(report.status, "degraded");
      const { broker, consumers } = report.parts ?? {};
      assert.ok(typeof broker === "object" && typeof consumers === "object" && broker !== null && consumers !== null);
      assert.equal(broker.status, "up");
      assert.equal(consumers.status, "degraded");
      assert.ok(consumers.detail?.includes(stopped));
      await world.node.reset();
      await again;
      await peer.mq.declare(topology().queue(stopped, { type: "classic" }));
      await until("consuming again", async () => (await peer.mq.health()).status === "up");
      assert.equal((await world.ledger.send(peer.mq.publisher("", stopped))).outcome, "confirmed");
      await until("handled", () => world.ledger.handledMessages === 1);
    }),
  );

  it(
    "that closes a connection it had blocked does not leave the next link blocked [CN-21]",
    { skip },
    inWorld(async (world) => {
      const { peer, publisher, first } = await intoAlarm(world);
      await world.node.forceClose(peer.name);
      assert.equal((await first).outcome, "ACEMQ_PUBLISH_UNKNOWN");
      await world.recovered(peer);
      assert.equal((await brokerHealth(peer)).report.parts?.["blocked"], false);
      await world.node.reset();
      assert.equal((await world.ledger.send(publisher)).outcome, "confirmed");
    }),
  );

  it(
    "does not fill the memory of a producer at full speed: 100,000 sends, none beyond the ceiling, none hangs [CN-20, PUB-11]",
    { skip, timeout: 60_000 },
    inWorld(async (world) => {
      const { peer, queue, first } = await intoAlarm(world, "memory", { telemetry: {}, publishTimeoutMs: 60_000 });
      const publishers = Array.from({ length: 4 }, () => peer.mq.publisher("", queue));
      const payload = { text: "x".repeat(2_048) };
      const sendRound = async (): Promise<void> => {
        const sends = Array.from({ length: 1_000 }, (_, n) => publishers[n % 4]?.send(payload).catch(codeOf));
        for (const code of await Promise.all(sends)) assert.equal(code, "ACEMQ_PUBLISH_PAUSED");
      };
      const written = peer.seen.published;
      const sendMany = async (): Promise<void> => {
        for (let round = 0; round < 50; round++) await sendRound();
      };
      await sendMany();
      // Whoever kept 50,000 bodies of 2 KiB would have 100 MiB more.
      const grownMiB = await smallestGrowthMiB(sendMany, { belowMiB: 32, runs: 5 });
      assert.ok(grownMiB < 32, `${grownMiB} MiB more`);
      assert.equal(peer.seen.published, written, "Nothing was handed to the blocked broker");
      assert.ok(peer.seen.mostInFlight <= 1_000);
      await world.node.reset();
      assert.equal((await first).outcome, "confirmed");
    }),
  );
});

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : error;
}
