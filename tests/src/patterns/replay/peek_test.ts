/** Looking into a queue in memory: everything is still there afterwards, however the looking ended. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { textCodec } from "../../../../src/codec/text.ts";
import type { Connection } from "../../../../src/connection.ts";
import { reject } from "../../../../src/consume/ack.ts";
import { ConnectionError, TopologyError } from "../../../../src/errors.ts";
import type { PeekOptions } from "../../../../src/patterns/replay/peek.ts";
import type { PeekedMessage } from "../../../../src/patterns/replay/peeked_message.ts";
import { MemoryWorld } from "../../../support/memory_world.ts";
import { NOW_MS } from "../../../support/sources.ts";
import { deferred } from "../../../support/until.ts";

const QUEUE = "orders.new";
const DLQ = `${QUEUE}.dlq`;

/** A queue with a failure side, and so many messages in its dead letters. */
async function scene(...dead: readonly unknown[]): Promise<{ readonly world: MemoryWorld; readonly mq: Connection }> {
  const world = new MemoryWorld();
  const mq = await world.withQueue(QUEUE, { queue: { deadLetter: true } });
  for (const [index, payload] of dead.entries()) world.put(DLQ, payload, { messageId: `m-${index}` });
  return { world, mq };
}

async function all<T>(mq: Connection, options: PeekOptions<T> = {}): Promise<PeekedMessage<T>[]> {
  const found: PeekedMessage<T>[] = [];
  for await (const message of mq.peek<T>(QUEUE, options)) found.push(message);
  return found;
}

/** The ids that wait, head first. */
function ids(world: MemoryWorld, queue = DLQ): readonly unknown[] {
  return world.waiting(queue).map(({ properties }) => properties.messageId);
}

describe("a look at the dead letters", () => {
  it("shows them head first and takes nothing away", async () => {
    const { world, mq } = await scene("a", "b", "c");
    const seen = await all(mq);
    assert.deepEqual(seen.map(({ envelope }) => envelope.id), ["m-0", "m-1", "m-2"]);
    assert.deepEqual([ids(world), world.unsettled(DLQ)], [["m-0", "m-1", "m-2"], 0]);
    await world.close();
  });

  it("shows why a message is there: its error, its attempts, what the broker did, earlier replays [DL-03]", async () => {
    const { world, mq } = await scene();
    await (await mq.consume(QUEUE, () => reject("no such product"))).close();
    world.put(QUEUE, { sku: 7 }, {
      headers: { "x-acemq-attempt": 3, "acemq-replay-count": 2, "acemq-replayed-from": DLQ, "x-tenant": "north" },
    });
    const consumer = await mq.consume(QUEUE, () => reject("no such product"));
    await world.settled();
    await consumer.close();
    const [message] = await all(mq);
    assert.ok(message !== undefined);
    const { error, attempt, replayCount, replayedFrom } = message.envelope;
    assert.deepEqual([error, attempt, replayCount, replayedFrom], [
      "the handler rejected it: no such product",
      3,
      2,
      DLQ,
    ]);
    assert.deepEqual([message.queue, message.exchange, message.routingKey], [DLQ, "", DLQ]);
    assert.deepEqual([message.headers["x-tenant"], message.contentType, message.deaths], [
      "north",
      "application/json",
      [],
    ]);
    assert.equal(message.redelivered, false);
    await world.close();
  });

  it("shows of a message the broker gave up how it came to that, and the type it was published under", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE, { queue: { deadLetter: true, arguments: { "x-message-ttl": 1_000 } } });
    world.put(QUEUE, "late");
    await world.clock.advance(1_000);
    const [message] = await all(mq);
    assert.deepEqual(message?.deaths, [{
      queue: QUEUE,
      reason: "expired",
      count: 1,
      exchange: "",
      routingKeys: [QUEUE],
      at: new Date(NOW_MS + 1_000),
    }]);
    assert.deepEqual([message?.envelope.type, message?.routingKey], [QUEUE, DLQ]);
    await world.close();
  });

  it("reads a body when it is asked to, and answers with the reason where that fails", async () => {
    const { world, mq } = await scene({ id: "A-19" }, new TextEncoder().encode("{"));
    const [readable, broken] = await all(mq);
    assert.deepEqual(await readable?.decode(), { status: "decoded", payload: { id: "A-19" } });
    const answer = await broken?.decode();
    assert.equal(answer?.status, "failed");
    assert.equal(answer?.status === "failed" && answer.error instanceof Error, true);
    assert.deepEqual(broken?.body, new TextEncoder().encode("{"));

    const throwing = textCodec();
    const [first] = await all(mq, { codec: { ...throwing, canDecode: () => true } });
    assert.deepEqual(await first?.decode(), { status: "decoded", payload: `{"id":"A-19"}` });
    await world.close();
  });

  it("gives out copies of a body: what is done to one changes nothing", async () => {
    const { world, mq } = await scene("a");
    const [message] = await all(mq);
    message?.body.fill(0);
    assert.deepEqual(message?.body, new TextEncoder().encode(`"a"`));
    await world.close();
  });

  it("can be taken at the parked ones, or at any queue", async () => {
    const { world, mq } = await scene("dead");
    world.put(`${QUEUE}.parked`, "parked", { messageId: "p" });
    world.put(QUEUE, "waiting", { messageId: "w" });
    const idsOf = async (from: NonNullable<PeekOptions["from"]>): Promise<unknown> =>
      (await all(mq, { from })).map(({ envelope }) => envelope.id);
    assert.deepEqual(await idsOf("parked"), ["p"]);
    assert.deepEqual(await idsOf("queue"), ["w"]);
    assert.deepEqual(await idsOf("dlq"), ["m-0"]);
    const named: unknown[] = [];
    for await (const { envelope } of mq.peek(`${QUEUE}.parked`)) named.push(envelope.id);
    assert.deepEqual(named, ["p"]);
    await world.close();
  });

  it("ends at its limit, and at what lay there when it began", async () => {
    const { world, mq } = await scene("a", "b", "c");
    assert.equal((await all(mq, { limit: 2 })).length, 2);
    const seen: string[] = [];
    for await (const { envelope } of mq.peek(QUEUE)) {
      seen.push(envelope.id);
      world.put(DLQ, "later", { messageId: `later-${seen.length}` });
    }
    assert.deepEqual(seen, ["m-0", "m-1", "m-2"]);
    assert.deepEqual(ids(world), ["m-0", "m-1", "m-2", "later-1", "later-2", "later-3"]);
    await world.close();
  });

  it("takes a hundred at most unless it is told otherwise", async () => {
    const { world, mq } = await scene(...Array.from({ length: 101 }, (_, index) => index));
    assert.equal((await all(mq)).length, 100);
    assert.equal((await all(mq, { limit: 1_000 })).length, 101);
    await world.close();
  });
});

describe("whatever ends a look,", () => {
  it("a break or a throw in the loop, everything is back at once and in its place", async () => {
    const { world, mq } = await scene("a", "b", "c");
    for await (const { envelope } of mq.peek(QUEUE)) {
      if (envelope.id === "m-1") break;
    }
    assert.deepEqual([ids(world), world.unsettled(DLQ)], [["m-0", "m-1", "m-2"], 0]);
    const looking = async (): Promise<void> => {
      for await (const _ of mq.peek(QUEUE)) throw new Error("Enough");
    };
    await assert.rejects(looking, /Enough/);
    assert.deepEqual([ids(world), world.unsettled(DLQ)], [["m-0", "m-1", "m-2"], 0]);
    await world.close();
  });

  it("its signal ends it before the next message, or before the first", async () => {
    const { world, mq } = await scene("a", "b", "c");
    const abort = new AbortController();
    const seen: string[] = [];
    for await (const { envelope } of mq.peek(QUEUE, { signal: abort.signal })) {
      seen.push(envelope.id);
      abort.abort(new Error("Enough"));
    }
    assert.deepEqual(seen, ["m-0"]);
    assert.deepEqual(ids(world), ["m-0", "m-1", "m-2"]);
    await assert.rejects(all(mq, { signal: abort.signal }), /Enough/);
    await world.close();
  });

  it("its signal ends it also while whoever loops does something else: everything is back at once", async () => {
    const { world, mq } = await scene("a", "b", "c");
    const abort = new AbortController();
    const looking = mq.peek(QUEUE, { signal: abort.signal });
    await looking.next();
    await looking.next();
    assert.equal(world.unsettled(DLQ), 2);
    abort.abort();
    await mq.idle();
    assert.deepEqual([ids(world), world.unsettled(DLQ)], [["m-0", "m-1", "m-2"], 0]);
    assert.equal((await looking.next()).done, true);
    await world.close();
  });

  it("its signal ends it also while the broker is asked whether there is a queue", async () => {
    const { world, mq } = await scene("a");
    const asked = deferred();
    world.faults.onPuller = () => asked.promise;
    const abort = new AbortController();
    const next = mq.peek(QUEUE, { signal: abort.signal }).next();
    await world.settled();
    abort.abort();
    assert.equal((await next).done, true);
    asked.resolve();
    await mq.idle();
    assert.deepEqual([ids(world), world.unsettled(DLQ)], [["m-0"], 0]);
    await world.close();
  });

  it("a loss of the connection is said, since the next message would be the first one again", async () => {
    const { world, mq } = await scene("a", "b", "c");
    const looking = mq.peek(QUEUE);
    await looking.next();
    await world.faults.lose();
    await world.faults.recover();
    await assert.rejects(looking.next(), (error) => {
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.code, "ACEMQ_CONNECTION_LOST");
      return true;
    });
    assert.deepEqual(ids(world), ["m-0", "m-1", "m-2"]);
    await world.close();
  });

  it("its signal ends it also while the broker reads nothing, and what comes later goes back", async () => {
    const { world, mq } = await scene("a", "b");
    const abort = new AbortController();
    const looking = mq.peek(QUEUE, { signal: abort.signal });
    await looking.next();
    world.broker.block("memory");
    void mq.publisher("", QUEUE).send("into the block").catch(() => {});
    const next = looking.next();
    await world.settled();
    abort.abort();
    assert.equal((await next).done, true);
    world.broker.unblock();
    await world.settled();
    assert.deepEqual([ids(world), world.unsettled(DLQ)], [["m-0", "m-1"], 0]);
    await world.close();
  });

  it("a close of the connection gives everything back", async () => {
    const { world, mq } = await scene("a", "b");
    const looking = mq.peek(QUEUE);
    await looking.next();
    await mq.close();
    assert.deepEqual(ids(world), ["m-0", "m-1"]);
    assert.equal((await looking.next()).done, true);
    assert.throws(() => mq.peek(QUEUE), ConnectionError);
    await world.close();
  });
});

describe("a look that cannot begin", () => {
  it("says that there is no such queue", async () => {
    const { world, mq } = await scene();
    await assert.rejects(mq.peek("unknown").next(), (error) => {
      assert.ok(error instanceof TopologyError);
      assert.deepEqual([error.code, error.message], [
        "ACEMQ_TOPOLOGY_MISSING",
        `Cannot pull from queue "unknown.dlq": NOT_FOUND - no queue 'unknown.dlq' in vhost '/'`,
      ]);
      return true;
    });
    await world.close();
  });

  it("refuses a stream, from which nothing can be taken, and says what it wants", async () => {
    const { world, mq } = await scene();
    await world.bareQueue("audit", { "x-queue-type": "stream" });
    await assert.rejects(mq.peek("audit", { from: "queue" }).next(), (error) => {
      assert.ok(error instanceof TopologyError);
      assert.deepEqual([error.code, error.message], [
        "ACEMQ_TOPOLOGY_REFUSED",
        `Cannot pull from queue "audit": found a stream, wanted a classic or a quorum queue`,
      ]);
      return true;
    });
    await world.close();
  });

  it("refuses a limit that is none, before anything is asked", async () => {
    const { world, mq } = await scene();
    for (const limit of [0, 1.5, -1, Infinity, NaN]) assert.throws(() => mq.peek(QUEUE, { limit }), RangeError);
    assert.throws(() => mq.peek(""), TypeError);
    await world.close();
  });
});
