/** Putting set-aside messages back, in memory, with every fault on command: contract core 6. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Connection } from "../../../../src/connection.ts";
import { reject } from "../../../../src/consume/ack.ts";
import { ConnectionError, PublishError, TopologyError } from "../../../../src/errors.ts";
import type { WireTable } from "../../../../src/message/wire_value.ts";
import type { PeekedMessage } from "../../../../src/patterns/replay/peeked_message.ts";
import type { ReplayOptions, ReplayProgress, ReplayResult } from "../../../../src/patterns/replay/replay_options.ts";
import type { PublishReceipt } from "../../../../src/ports/broker.ts";
import { MemoryWorld } from "../../../support/memory_world.ts";
import { pulled } from "../../../support/pulling.ts";
import { NOW_MS } from "../../../support/sources.ts";
import { deferred } from "../../../support/until.ts";

const QUEUE = "orders.new";
const DLQ = `${QUEUE}.dlq`;
const PARKED = `${QUEUE}.parked`;

interface Scene {
  readonly world: MemoryWorld;
  readonly mq: Connection;
}

/** A queue with a failure side, and its dead letters: ids `a`, `b`, … on their fourth attempt. */
async function scene(dead: string, headers: WireTable = {}): Promise<Scene> {
  const world = new MemoryWorld();
  const mq = await world.withQueue(QUEUE, { queue: { deadLetter: true } });
  for (const id of dead) put(world, DLQ, id, headers);
  return { world, mq };
}

function put(world: MemoryWorld, queue: string, id: string, headers: WireTable = {}): void {
  const usual = { "x-acemq-id": id, "x-acemq-attempt": 4, "x-acemq-error": "exhausted 4 attempts: no" };
  world.put(queue, id, { messageId: id, headers: { ...usual, ...headers } });
}

/** The ids that wait, head first. */
function ids(world: MemoryWorld, queue: string): string {
  return world.waiting(queue).map(({ properties }) => properties.messageId).join("");
}

/** What lies where: the dead letters, then the queue; nothing may be in anybody's hands. */
function whereabouts(world: MemoryWorld): readonly string[] {
  assert.deepEqual([world.unsettled(DLQ), world.unsettled(QUEUE)], [0, 0]);
  return [ids(world, DLQ), ids(world, QUEUE)];
}

/** The error of a pass that failed. */
function errorOf(result: ReplayResult): unknown {
  assert.equal(result.reason, "failed");
  return result.reason === "failed" ? result.error : undefined;
}

function isNot(...declined: readonly string[]): (message: PeekedMessage) => boolean {
  return ({ envelope }) => !declined.includes(envelope.id);
}

describe("a replay", () => {
  it("puts every dead letter back in order, as a first attempt without an error, stamped", async () => {
    const { world, mq } = await scene("abc");
    assert.deepEqual(await mq.replay(QUEUE), { moved: 3, skipped: 0, reason: "drained" });
    assert.deepEqual(whereabouts(world), ["", "abc"]);
    for (const { headers } of world.waiting(QUEUE)) {
      assert.deepEqual([headers["x-acemq-attempt"], headers["x-acemq-error"]], [1, undefined]);
      assert.deepEqual([headers["acemq-replayed-from"], headers["acemq-replayed-at"], headers["acemq-replay-count"]], [
        DLQ,
        new Date(NOW_MS).toISOString(),
        1,
      ]);
    }
    await world.close();
  });

  it("moves one message at a time: each copy is confirmed before its original goes, and before the next [RPL-01]", async () => {
    const { world, mq } = await scene("abc");
    const steps: string[] = [];
    world.faults.onPublish = ({ messageId }) => void steps.push(`copy ${messageId}`) as undefined;
    world.faults.onSettle = (as, { message }) => void steps.push(`${as} ${message.properties.messageId}`) as undefined;
    await mq.replay(QUEUE);
    assert.deepEqual(steps, ["copy a", "ack a", "copy b", "ack b", "copy c", "ack c"]);
    await world.close();
  });

  it("publishes on behalf: mandatory, persistent, confirmed, also without confirms on the connection [PUB-01]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE, { queue: { deadLetter: true }, confirms: false });
    put(world, DLQ, "a");
    let seen: readonly unknown[] = [];
    world.faults.onPublish = ({ mandatory, persistent, exchange, routingKey }, { confirm }) => {
      seen = [mandatory, persistent, confirm, exchange, routingKey];
      return undefined;
    };
    await mq.replay(QUEUE);
    assert.deepEqual(seen, [true, true, true, "", QUEUE]);
    await world.close();
  });

  it("takes parked messages when those are meant, and the queue that is named when it is one [DL-01]", async () => {
    const { world, mq } = await scene("d");
    for (const [index, call] of [() => mq.replay(QUEUE, { from: "parked" }), () => mq.replay(PARKED)].entries()) {
      put(world, PARKED, `${index}`);
      assert.deepEqual(await call(), { moved: 1, skipped: 0, reason: "drained" });
    }
    assert.deepEqual(whereabouts(world), ["d", "01"]);
    assert.equal(world.waiting(QUEUE)[0]?.headers["acemq-replayed-from"], PARKED);
    await world.close();
  });

  it("takes the messages of .NET's old queue home, and counts on from its old stamp", async () => {
    const { world, mq } = await scene("");
    await world.bareQueue(`${QUEUE}.dead`);
    put(world, `${QUEUE}.dead`, "a", { "x-acemq-replay-count": 2 });
    await mq.replay(`${QUEUE}.dead`);
    const [back] = world.waiting(QUEUE);
    assert.deepEqual([back?.headers["acemq-replayed-from"], back?.headers["acemq-replay-count"]], [`${QUEUE}.dead`, 3]);
    assert.equal(back !== undefined && "x-acemq-replay-count" in back.headers, false);
    await world.close();
  });

  it("can leave the attempt and the error as they are, and lead elsewhere", async () => {
    const { world, mq } = await scene("ab");
    await world.bareQueue("elsewhere");
    await mq.replay(QUEUE, { into: "elsewhere", keepAttempts: true, limit: 1 });
    const [moved] = world.waiting("elsewhere");
    assert.deepEqual([moved?.headers["x-acemq-attempt"], moved?.headers["x-acemq-error"]], [
      4,
      "exhausted 4 attempts: no",
    ]);
    await mq.replay(QUEUE, { into: { exchange: "amq.fanout", routingKey: "k" } }).then((result) => {
      assert.equal((errorOf(result) as PublishError).code, "ACEMQ_PUBLISH_UNROUTABLE");
    });
    assert.deepEqual(whereabouts(world), ["b", ""]);
    await world.close();
  });

  it("gives a message without an id one, so that it can be told apart from then on [RPL-06]", async () => {
    const { world, mq } = await scene("");
    world.put(DLQ, "foreign");
    await mq.replay(QUEUE);
    const [back] = world.waiting(QUEUE);
    assert.match(String(back?.headers["x-acemq-id"]), /^[0-9a-f-]{36}$/);
    assert.equal(back?.properties.messageId, back?.headers["x-acemq-id"]);
    await world.close();
  });

  it("leaves behind what the broker wrote, and what it would obey again [BRK-01] [BRK-02] [BRK-03] [SR-19]", async () => {
    const death = { queue: QUEUE, reason: "expired", count: 1, exchange: "", "routing-keys": [QUEUE] };
    const { world, mq } = await scene("a", {
      "x-death": [death, { ...death, reason: "rejected" }],
      "x-first-death-queue": QUEUE,
      "x-last-death-queue": QUEUE,
      "x-delivery-count": 7,
      "CC": ["other"],
      "BCC": ["other"],
      "x-tenant": "north",
    });
    await mq.replay(QUEUE);
    const names = Object.keys(world.faults.published[0]?.headers ?? {}).filter((name) => !/acemq-/.test(name));
    assert.deepEqual(names, ["x-tenant"]);
    await world.close();
  });

  it("puts a message that has no type back under that of the key it was published by", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE, { queue: { deadLetter: true, arguments: { "x-message-ttl": 1_000 } } });
    world.put(QUEUE, "foreign");
    await world.clock.advance(1_000);
    await mq.replay(QUEUE);
    assert.equal(world.waiting(QUEUE)[0]?.headers["x-acemq-type"], QUEUE);
    await world.close();
  });
});

describe("the bounds of a pass", () => {
  it("are a number of messages", async () => {
    const { world, mq } = await scene("abc");
    assert.deepEqual(await mq.replay(QUEUE, { limit: 2 }), { moved: 2, skipped: 0, reason: "limit" });
    assert.deepEqual(whereabouts(world), ["c", "ab"]);
    assert.deepEqual(await mq.replay(QUEUE, { limit: 2 }), { moved: 1, skipped: 0, reason: "drained" });
    await world.close();
  });

  it("are a rate and a deadline by the clock of the connection", async () => {
    const { world, mq } = await scene("abcdef");
    const times: number[] = [];
    const begin = world.clock.elapsed();
    const pass = mq.replay(QUEUE, {
      ratePerSecond: 2,
      deadlineMs: 1_200,
      onProgress: () => times.push(world.clock.elapsed() - begin),
    });
    await world.clock.advance(5_000);
    assert.deepEqual(await pass, { moved: 3, skipped: 0, reason: "deadline" });
    assert.deepEqual(times, [0, 500, 1_000]);
    assert.deepEqual(whereabouts(world), ["def", "abc"]);
    await world.close();
  });

  it("are those messages that lay there when it began: one that fails again is left for the next pass", async () => {
    const { world, mq } = await scene("abc");
    const consumer = await mq.consume(QUEUE, () => reject("still no"));
    const depths: number[] = [];
    const pass = mq.replay(QUEUE, { ratePerSecond: 1, filter: () => depths.push(world.depth(DLQ)) > 0 });
    await world.clock.advance(10_000);
    assert.deepEqual(await pass, { moved: 3, skipped: 0, reason: "drained" });
    assert.deepEqual(depths, [2, 2, 2], "The one before has come back by then");
    assert.equal(ids(world, DLQ), "abc");
    assert.deepEqual(world.waiting(DLQ).map(({ headers }) => headers["acemq-replay-count"]), [1, 1, 1]);
    await consumer.close();
    await world.close();
  });

  it("are a signal, which ends it after the message in hand", async () => {
    const { world, mq } = await scene("abc");
    const abort = new AbortController();
    const gate = deferred();
    world.faults.onPublish = () => abort.abort() as undefined;
    world.faults.holdPublishes = gate.promise;
    const pass = mq.replay(QUEUE, { signal: abort.signal });
    await world.settled();
    gate.resolve();
    assert.deepEqual(await pass, { moved: 1, skipped: 0, reason: "cancelled" });
    assert.deepEqual(whereabouts(world), ["bc", "a"]);
    assert.deepEqual(await mq.replay(QUEUE, { signal: abort.signal }), { moved: 0, skipped: 0, reason: "cancelled" });
    await world.close();
  });

  it("are a signal also while the broker reads nothing: before a message as before the first question", async () => {
    const { world, mq } = await scene("abc");
    const abort = new AbortController();
    const first = mq.replay(QUEUE, {
      signal: abort.signal,
      onProgress: () => {
        world.broker.block("memory");
        void mq.publisher("", QUEUE).send("into the block").catch(() => {});
      },
    });
    await world.settled();
    const second = mq.replay(QUEUE, { signal: abort.signal, dryRun: true });
    await world.settled();
    abort.abort();
    assert.deepEqual(await first, { moved: 1, skipped: 0, reason: "cancelled" });
    assert.deepEqual(await second, { moved: 0, skipped: 0, reason: "cancelled" });
    world.broker.unblock();
    await world.settled();
    assert.deepEqual([ids(world, DLQ), world.unsettled(DLQ)], ["bc", 0]);
    await world.close();
  });

  it("are nobody else's: what another reader took meanwhile is not waited for", async () => {
    const { world, mq } = await scene("abc");
    const other = await world.broker.open({ name: "other", clock: world.clock, onEvent: () => {} });
    const result = await mq.replay(QUEUE, {
      onProgress: async () => {
        (await pulled(other, DLQ))?.settle("ack");
      },
    });
    assert.equal(result.reason, "drained");
    assert.ok(result.moved < 3);
    await other.close();
    await world.close();
  });
});

describe("a filter", () => {
  it("declines messages and the pass goes on past them; they are back in their place at its end [RPL-03]", async () => {
    const { world, mq } = await scene("abcde");
    const seen: string[] = [];
    const result = await mq.replay(QUEUE, {
      filter: ({ envelope }) => {
        seen.push(envelope.id);
        return envelope.id === "b" || envelope.id === "d";
      },
    });
    assert.deepEqual(result, { moved: 2, skipped: 3, reason: "drained" });
    assert.deepEqual(seen, ["a", "b", "c", "d", "e"]);
    assert.deepEqual(whereabouts(world), ["ace", "bd"]);
    await world.close();
  });

  it("sees the whole message, and may read its body first", async () => {
    const { world, mq } = await scene("ab");
    const result = await mq.replay<string>(QUEUE, {
      filter: async (message) => {
        const body = await message.decode();
        return body.status === "decoded" && body.payload === "b" && message.envelope.attempt === 4;
      },
    });
    assert.deepEqual(result, { moved: 1, skipped: 1, reason: "drained" });
    assert.deepEqual(whereabouts(world), ["a", "b"]);
    await world.close();
  });

  it("that throws ends the pass: what was moved is moved, everything else lies where it was", async () => {
    const { world, mq } = await scene("abcd");
    const fault = new Error("Cannot tell");
    for (
      const filter of [() => Promise.reject(fault), () => {
        throw fault;
      }]
    ) {
      const result = await mq.replay(QUEUE, {
        filter: (message) => message.envelope.id === "c" ? filter() : message.envelope.id === "b",
      });
      assert.equal(errorOf(result), fault);
      assert.equal(result.skipped, 1);
    }
    assert.deepEqual(whereabouts(world), ["acd", "b"]);
    await world.close();
  });
});

/** Code of a caller's that answers when it is let, and says when it was asked for the second time. */
class Slow {
  readonly second = deferred();
  readonly answer = deferred<boolean>();
  #asked = 0;

  readonly ask = (): boolean | Promise<boolean> => {
    if (++this.#asked < 2) return true;
    this.second.resolve();
    return this.answer.promise;
  };
}

/** Where a caller's own code can keep a pass waiting, and how many messages are moved by then. */
const CALLERS: readonly (readonly [what: string, moved: number, options: (slow: Slow) => ReplayOptions])[] = [
  ["a filter", 1, ({ ask }) => ({ filter: ask })],
  ["a progress callback", 2, ({ ask }) => ({ onProgress: ask })],
];

describe("code of the caller's that does not answer", () => {
  for (const [what, moved, optionsOf] of CALLERS) {
    const left = "abcd".slice(moved);
    const back = "abcd".slice(0, moved);

    it(`is not waited for once the signal aborts: ${what}`, async () => {
      const { world, mq } = await scene("abcd");
      const [slow, abort] = [new Slow(), new AbortController()];
      const pass = mq.replay(QUEUE, { ...optionsOf(slow), signal: abort.signal });
      await slow.second.promise;
      abort.abort();
      assert.deepEqual(await pass, { moved, skipped: 0, reason: "cancelled" });
      assert.deepEqual(whereabouts(world), [left, back]);
      await world.close();
    });

    it(`is not waited for beyond the deadline: ${what}`, async () => {
      const { world, mq } = await scene("abcd");
      const slow = new Slow();
      const pass = mq.replay(QUEUE, { ...optionsOf(slow), deadlineMs: 1_000 });
      await slow.second.promise;
      await world.clock.advance(999);
      assert.equal(world.unsettled(DLQ), 2 - moved);
      await world.clock.advance(1);
      assert.deepEqual(await pass, { moved, skipped: 0, reason: "deadline" });
      assert.deepEqual(whereabouts(world), [left, back]);
      await world.close();
    });

    for (const late of ["an answer", "a failure"] as const) {
      it(`changes nothing with ${late} that comes too late: ${what}`, async () => {
        const { world, mq } = await scene("abcd");
        const [slow, abort] = [new Slow(), new AbortController()];
        const pass = mq.replay(QUEUE, { ...optionsOf(slow), signal: abort.signal });
        await slow.second.promise;
        abort.abort();
        const result = await pass;
        if (late === "an answer") slow.answer.resolve(true);
        else slow.answer.reject(new Error("Too late"));
        await mq.idle();
        assert.deepEqual([result.moved, world.faults.published.length], [moved, moved]);
        assert.deepEqual(whereabouts(world), [left, back]);
        assert.deepEqual(await mq.replay(QUEUE), { moved: 4 - moved, skipped: 0, reason: "drained" });
        await world.close();
      });
    }
  }

  it("is not an answer where it is about the last message: the pass has not decided about it", async () => {
    const { world, mq } = await scene("ab");
    const [slow, abort] = [new Slow(), new AbortController()];
    const pass = mq.replay(QUEUE, { filter: slow.ask, signal: abort.signal });
    await slow.second.promise;
    abort.abort();
    assert.deepEqual(await pass, { moved: 1, skipped: 0, reason: "cancelled" });
    assert.deepEqual(whereabouts(world), ["b", "a"]);
    await world.close();
  });

  it("gives back what was declined before as well, in its place", async () => {
    const { world, mq } = await scene("abcd");
    const [asked, abort] = [deferred(), new AbortController()];
    const pass = mq.replay(QUEUE, {
      signal: abort.signal,
      filter: ({ envelope: { id } }) => {
        if (id !== "c") return id === "b";
        asked.resolve();
        return new Promise<boolean>(() => {});
      },
    });
    await asked.promise;
    abort.abort();
    assert.deepEqual(await pass, { moved: 1, skipped: 1, reason: "cancelled" });
    assert.deepEqual(whereabouts(world), ["acd", "b"]);
    await world.close();
  });
});

describe("a broker that does not answer", () => {
  for (const [what, silence] of [["a pull", "onPull"], ["the first question", "onPuller"]] as const) {
    it(`is not waited for beyond the deadline: ${what}`, async () => {
      const { world, mq } = await scene("ab");
      world.faults[silence] = () => new Promise(() => {});
      const pass = mq.replay(QUEUE, { deadlineMs: 1_000 });
      await world.clock.advance(1_000);
      assert.deepEqual(await pass, { moved: 0, skipped: 0, reason: "deadline" });
      assert.deepEqual(whereabouts(world), ["ab", ""]);
      await world.close();
    });
  }

  it("to a copy is waited for: the message in hand is finished, whatever aborts", async () => {
    const { world, mq } = await scene("ab");
    const [gate, abort, published] = [deferred(), new AbortController(), deferred()];
    world.faults.holdPublishes = gate.promise;
    world.faults.onPublish = () => published.resolve() as undefined;
    const pass = mq.replay(QUEUE, { signal: abort.signal, deadlineMs: 1_000 });
    await published.promise;
    abort.abort();
    await world.clock.advance(2_000);
    gate.resolve();
    assert.deepEqual(await pass, { moved: 1, skipped: 0, reason: "cancelled" });
    assert.deepEqual(whereabouts(world), ["b", "a"]);
    await world.close();
  });
});

describe("a dry run", () => {
  it("moves nothing and says what would be moved, message by message [DL-01]", async () => {
    const { world, mq } = await scene("abcd");
    const told: string[] = [];
    const options: ReplayOptions = { dryRun: true, filter: isNot("b"), limit: 2 };
    const result = await mq.replay(QUEUE, {
      ...options,
      onProgress: ({ outcome, message, moved, skipped }: ReplayProgress) =>
        told.push(`${outcome} ${message.envelope.id} ${moved}/${skipped}`),
    });
    assert.deepEqual(result, { moved: 2, skipped: 1, reason: "limit" });
    assert.deepEqual(told, ["moved a 1/0", "skipped b 1/1", "moved c 2/1"]);
    assert.deepEqual(whereabouts(world), ["abcd", ""]);
    assert.deepEqual(world.faults.published, []);
    assert.deepEqual(await mq.replay(QUEUE, { ...options, dryRun: false }), result);
    await world.close();
  });

  it("says that the target is not there, as the real run would", async () => {
    const { world, mq } = await scene("a");
    for (const into of ["nowhere", { exchange: "nowhere", routingKey: "" }]) {
      const result = await mq.replay(QUEUE, { dryRun: true, into });
      const error = errorOf(result);
      assert.ok(error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_MISSING");
      assert.match(
        error.message,
        /^Cannot replay queue "orders\.new\.dlq": (queue|exchange) "nowhere" does not exist$/,
      );
      assert.equal(result.moved, 0);
    }
    assert.deepEqual(whereabouts(world), ["a", ""]);
    await world.close();
  });
});

describe("a copy that does not arrive", () => {
  it("leaves its original where it was: no queue of that name [RPL-01] [PUB-01]", async () => {
    for (const confirms of [true, false]) {
      const world = new MemoryWorld();
      const mq = await world.withQueue(QUEUE, { queue: { deadLetter: true }, confirms });
      for (const id of "ab") put(world, DLQ, id);
      const result = await mq.replay(QUEUE, { into: "nowhere" });
      const error = errorOf(result);
      assert.ok(error instanceof PublishError && error.unroutable);
      assert.deepEqual([error.routingKey, error.messageId], ["nowhere", "a"]);
      assert.deepEqual([result.moved, result.skipped], [0, 0]);
      assert.deepEqual(whereabouts(world), ["ab", ""]);
      await world.close();
    }
  });

  const ANSWERS: readonly (readonly [PublishReceipt, string])[] = [
    [{ outcome: "nacked", reason: "full" }, "ACEMQ_PUBLISH_NACKED"],
    [{ outcome: "refused", reason: "too large", written: true }, "ACEMQ_PUBLISH_REFUSED"],
    [{ outcome: "paused", reason: "blocked" }, "ACEMQ_PUBLISH_PAUSED"],
    [{ outcome: "unknown", reason: "no confirm came" }, "ACEMQ_PUBLISH_UNKNOWN"],
  ];
  for (const [receipt, code] of ANSWERS) {
    it(`ends the pass there, with everything after it untouched: ${receipt.outcome} [RPL-01]`, async () => {
      const { world, mq } = await scene("abc");
      world.faults.onPublish = ({ messageId }) => messageId === "b" ? receipt : undefined;
      const result = await mq.replay(QUEUE);
      assert.equal((errorOf(result) as PublishError).code, code);
      assert.deepEqual([result.moved, result.skipped], [1, 0]);
      assert.deepEqual(whereabouts(world), ["bc", "a"]);
      world.faults.onPublish = undefined;
      assert.deepEqual(await mq.replay(QUEUE), { moved: 2, skipped: 0, reason: "drained" });
      await world.close();
    });
  }
});

describe("a connection that is lost", () => {
  it("while a copy is out leaves that one message in doubt, and no other", async () => {
    const { world, mq } = await scene("abc");
    world.faults.onPublish = ({ messageId }) => {
      if (messageId === "b") world.faults.holdPublishes = new Promise(() => {});
      return undefined;
    };
    const pass = mq.replay(QUEUE);
    await world.settled();
    await world.faults.lose();
    const result = await pass;
    assert.equal((errorOf(result) as PublishError).code, "ACEMQ_PUBLISH_UNKNOWN");
    assert.equal(result.moved, 1);
    assert.deepEqual(whereabouts(world), ["bc", "a"]);
    await world.close();
  });

  it("after a copy was confirmed leaves that message in both queues, and says so", async () => {
    const { world, mq } = await scene("abc");
    world.faults.onSettle = (as, { message }) => {
      if (as !== "ack" || message.properties.messageId !== "b") return undefined;
      void world.faults.lose();
      return "stale";
    };
    const result = await mq.replay(QUEUE);
    const error = errorOf(result);
    assert.ok(error instanceof ConnectionError && error.code === "ACEMQ_CONNECTION_LOST");
    assert.match(error.message, /^Cannot take message "b" of queue "orders\.new\.dlq" away: .* in both queues$/);
    assert.equal(result.moved, 1);
    assert.deepEqual(whereabouts(world), ["bc", "ab"]);
    await world.close();
  });

  it("before the copy is made makes none", async () => {
    const { world, mq } = await scene("ab");
    const result = await mq.replay(QUEUE, {
      filter: async () => {
        await world.faults.lose();
        await world.faults.recover();
        return true;
      },
    });
    const error = errorOf(result);
    assert.ok(error instanceof ConnectionError && error.code === "ACEMQ_CONNECTION_LOST");
    assert.deepEqual([result.moved, world.faults.published.length], [0, 0]);
    assert.deepEqual(whereabouts(world), ["ab", ""]);
    await world.close();
  });

  it("while declined messages are held ends the pass: it would meet them again", async () => {
    const { world, mq } = await scene("abcd");
    const seen: string[] = [];
    const result = await mq.replay(QUEUE, {
      filter: ({ envelope }) => void seen.push(envelope.id) === undefined && envelope.id !== "a",
      onProgress: async ({ message }) => {
        if (message.envelope.id !== "b") return;
        await world.faults.lose();
        await world.faults.recover();
      },
    });
    assert.ok(errorOf(result) instanceof ConnectionError);
    assert.deepEqual(seen, ["a", "b"]);
    assert.deepEqual(whereabouts(world), ["acd", "b"]);
    await world.close();
  });

  it("has its like in the broker's acknowledgement time-out: what was declined is back, and the pass ends", async () => {
    const { world, mq } = await scene("abcd");
    const pass = mq.replay(QUEUE, { filter: isNot("a"), ratePerSecond: 1 / 1_200 });
    await world.clock.advance(3 * 1_200_000);
    const result = await pass;
    assert.ok(errorOf(result) instanceof ConnectionError);
    assert.deepEqual([result.moved, result.skipped], [2, 1]);
    assert.deepEqual(whereabouts(world), ["ad", "bc"]);
    await world.close();
  });

  it("and is back before the next message is no matter while nothing is held", async () => {
    const { world, mq } = await scene("abc");
    const pass = mq.replay(QUEUE, { ratePerSecond: 1 });
    await world.settled();
    await world.faults.lose();
    await world.faults.recover();
    await world.clock.advance(5_000);
    assert.deepEqual(await pass, { moved: 3, skipped: 0, reason: "drained" });
    assert.deepEqual(whereabouts(world), ["", "abc"]);
    await world.close();
  });
});

describe("a close of the connection", () => {
  it("waits for the message in hand and ends the pass, which takes nothing else", async () => {
    const { world, mq } = await scene("abc");
    const gate = deferred();
    world.faults.holdPublishes = gate.promise;
    const pass = mq.replay(QUEUE);
    await world.settled();
    const closing = mq.close();
    await world.settled();
    gate.resolve();
    assert.deepEqual(await pass, { moved: 1, skipped: 0, reason: "cancelled" });
    assert.deepEqual(await closing, { drained: true, stranded: 0 });
    assert.deepEqual(whereabouts(world), ["bc", "a"]);
    await assert.rejects(mq.replay(QUEUE), ConnectionError);
    await world.close();
  });

  it("does not wait longer than its budget, and says that a message was left in hand", async () => {
    const { world, mq } = await scene("abc");
    const asked = deferred();
    const pass = mq.replay(QUEUE, {
      filter: async () => {
        asked.resolve();
        await new Promise(() => {});
        return true;
      },
    });
    await asked.promise;
    const closing = mq.close();
    await world.clock.advance(20_000);
    assert.deepEqual(await closing, { drained: false, stranded: 1 });
    assert.deepEqual(whereabouts(world), ["abc", ""]);
    assert.deepEqual(await pass, { moved: 0, skipped: 0, reason: "cancelled" });
    await world.close();
  });
});

describe("what the caller's own code throws", () => {
  it("in its progress callback ends the pass after a move that counts, also when it is thrown later", async () => {
    const fault = new Error("No bar");
    const throwing = [() => {
      throw fault;
    }, () => Promise.reject(fault)];
    for (const onProgress of throwing) {
      const { world, mq } = await scene("ab");
      const result = await mq.replay(QUEUE, { onProgress });
      assert.equal(errorOf(result), fault);
      assert.deepEqual([result.moved, whereabouts(world)], [1, ["b", "a"]]);
      await world.close();
    }
  });
});

describe("a replay that cannot begin", () => {
  it("is refused when it would lead into the queue it reads [RPL-04]", async () => {
    const { world, mq } = await scene("a");
    for (const call of [() => mq.replay(QUEUE, { into: DLQ }), () => mq.replay(DLQ, { into: DLQ })]) {
      await assert.rejects(call, RangeError);
    }
    assert.deepEqual(whereabouts(world), ["a", ""]);
    await world.close();
  });

  it("refuses a stream, from which nothing can be taken, and touches nothing", async () => {
    const { world, mq } = await scene("");
    await world.bareQueue("audit.dlq", { "x-queue-type": "stream" });
    world.put("audit.dlq", "an entry");
    for (const dryRun of [false, true]) {
      await assert.rejects(mq.replay("audit", { into: QUEUE, dryRun }), (error) => {
        assert.ok(error instanceof TopologyError);
        assert.deepEqual([error.code, error.message], [
          "ACEMQ_TOPOLOGY_REFUSED",
          `Cannot pull from queue "audit.dlq": found a stream, wanted a classic or a quorum queue`,
        ]);
        return true;
      });
    }
    assert.deepEqual([world.depth("audit.dlq"), world.depth(QUEUE)], [1, 0]);
    await world.close();
  });

  it("says that there is no queue to read from", async () => {
    const { world, mq } = await scene("");
    await assert.rejects(
      mq.replay("unknown"),
      (error) => error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_MISSING",
    );
    await world.close();
  });

  it("refuses an option that is out of range, before anything is touched", async () => {
    const { world, mq } = await scene("a");
    const faulty: readonly ReplayOptions[] = [
      { limit: 0 },
      { limit: 1.5 },
      { ratePerSecond: 0 },
      { ratePerSecond: -1 },
      { ratePerSecond: Infinity },
      { deadlineMs: -1 },
      { deadlineMs: NaN },
    ];
    for (const options of faulty) await assert.rejects(mq.replay(QUEUE, options), RangeError);
    await assert.rejects(mq.replay(QUEUE, { filter: JSON.parse(`"all"`) }), TypeError);
    assert.deepEqual(whereabouts(world), ["a", ""]);
    await world.close();
  });
});
