import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openConnection } from "../../../src/connection.ts";
import { EncodeError, PublishBatchError, PublishError } from "../../../src/errors.ts";
import type { PublishReceipt } from "../../../src/ports/broker.ts";
import type { Publisher } from "../../../src/publish/publisher.ts";
import type { SendOptions } from "../../../src/publish/send_options.ts";
import { PuppetBroker } from "../../support/puppet_broker.ts";

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };
const UNROUTABLE: PublishReceipt = { outcome: "unroutable", reason: "312 NO_ROUTE" };
const NACKED: PublishReceipt = { outcome: "nacked", reason: "the broker rejected the message" };
const PAUSED: PublishReceipt = { outcome: "paused", reason: "the broker has blocked this connection: memory" };

/** A publisher of numbers whose broker answers by the number. */
async function numbers(
  answer: (payload: number) => PublishReceipt | undefined = () => CONFIRMED,
  maxOutstandingPublishes = 1_000,
): Promise<{ readonly puppet: PuppetBroker; readonly publisher: Publisher<number>; sent(): readonly number[] }> {
  const puppet = new PuppetBroker();
  const payloadOf = (body: Uint8Array): number => Number(new TextDecoder().decode(body));
  puppet.respond = ({ body }) => answer(payloadOf(body));
  const mq = await openConnection(puppet, { maxOutstandingPublishes });
  const sent = (): readonly number[] => puppet.handed.map(({ outbound }) => payloadOf(outbound.body));
  return { puppet, publisher: mq.publisher<number>("", "q"), sent };
}

/** The error of a batch that fails. */
async function batchError(sending: Promise<unknown>): Promise<PublishBatchError> {
  const error: unknown = await sending.then(() => assert.fail("the batch went out"), (reason) => reason);
  assert.ok(error instanceof PublishBatchError);
  return error;
}

describe("a batch", () => {
  it("resolves with one result a payload, in payload order, each under an id of its own", async () => {
    const { publisher, sent } = await numbers();
    const results = await publisher.sendAll([3, 1, 2]);
    assert.deepEqual(sent(), [3, 1, 2]);
    assert.deepEqual(
      results.map(({ index, outcome }) => [index, outcome]),
      [0, 1, 2].map((index) => [index, "confirmed"]),
    );
    assert.equal(new Set(results.map(({ messageId }) => messageId)).size, 3);
  });

  it("may be empty", async () => {
    const { puppet, publisher } = await numbers();
    assert.deepEqual(await publisher.sendAll([]), []);
    assert.equal(puppet.handed.length, 0);
  });

  it("takes any iterable, once", async () => {
    const { publisher, sent } = await numbers();
    await publisher.sendAll(new Set([1, 2]).values());
    assert.deepEqual(sent(), [1, 2]);
  });

  it("sends nothing when its payloads cannot be read to the end", async () => {
    const { puppet, publisher } = await numbers(() => UNROUTABLE);
    const breaks = function* (): Generator<number> {
      yield 1;
      throw new Error("the cursor broke");
    };
    await assert.rejects(publisher.sendAll(breaks()), { message: "the cursor broke" });
    assert.equal(puppet.handed.length, 0);
  });

  it("gives its options to every message", async () => {
    const { puppet, publisher } = await numbers();
    await publisher.sendAll([1, 2], { headers: { tenant: "acme" }, type: "n", mandatory: false });
    const facts = puppet.handed.map((
      { outbound },
    ) => [outbound.headers["tenant"], outbound.headers["x-acemq-type"], outbound.mandatory]);
    assert.deepEqual(facts, Array(2).fill(["acme", "n", false]));
  });

  it("refuses one message id for all: a consumer that deduplicates would keep one message of it [PUB-06]", async () => {
    const { puppet, publisher } = await numbers();
    const pinned: SendOptions = { messageId: "one" };
    await assert.rejects(publisher.sendAll([1, 2, 3, 4, 5], pinned), {
      name: "TypeError",
      message: "Cannot send a batch under one 'messageId': a consumer that deduplicates would keep one message of it",
    });
    assert.equal(puppet.handed.length, 0);
  });

  it("refuses an option out of range as a fault of the call, not of every message", async () => {
    const { puppet, publisher } = await numbers();
    await assert.rejects(publisher.sendAll([1, 2], { priority: 300 }), RangeError);
    assert.equal(puppet.handed.length, 0);
  });

  it("tries every message whatever became of the others, and gives each result by its index", async () => {
    const { publisher, sent } = await numbers((payload) => payload % 50 === 7 ? UNROUTABLE : CONFIRMED);
    const payloads = Array.from({ length: 100 }, (_, index) => index);
    const error = await batchError(publisher.sendAll(payloads));
    assert.deepEqual([error.total, error.confirmed, error.failed, error.results.length], [100, 98, 2, 100]);
    assert.deepEqual(error.results.flatMap(({ index, status }) => status === "failed" ? [index] : []), [7, 57]);
    error.results.forEach(({ index }, place) => assert.equal(index, place));
    assert.deepEqual(sent(), payloads);
    const [first] = error.results.flatMap((item) => item.status === "failed" ? [item.error] : []);
    assert.ok(first instanceof PublishError && first.unroutable);
    assert.equal(error.cause, first);
    assert.equal(
      error.message,
      `2 of 100 messages were not confirmed; 98 were. The first failure was: ${first.message}`,
    );
  });

  it("names the first failure in payload order, not in time", async () => {
    const { puppet, publisher } = await numbers(() => undefined);
    const sending = batchError(publisher.sendAll([1, 2]));
    puppet.handed[1]?.answer(NACKED);
    await puppet.clock.advance(0);
    puppet.handed[0]?.answer(UNROUTABLE);
    const error = await sending;
    assert.match(error.message, /The first failure was: .*: there is no queue of that name \(312 NO_ROUTE\)$/);
  });

  it("holds also what could not be encoded", async () => {
    const { publisher, sent } = await numbers();
    const error = await batchError(publisher.sendAll([1, NaN, 3]));
    assert.deepEqual(sent(), [1, 3]);
    const item = error.results[1];
    assert.ok(item?.status === "failed" && item.error instanceof EncodeError);
  });

  it("calls itself unroutable or paused only when every failure was [PUB-24]", async () => {
    const answers = [CONFIRMED, UNROUTABLE, NACKED, PAUSED] as const;
    const flagsOf = async (...picked: readonly number[]): Promise<readonly boolean[]> => {
      const { publisher } = await numbers((payload) => answers[payload]);
      const { unroutable, paused } = await batchError(publisher.sendAll(picked));
      return [unroutable, paused];
    };
    assert.deepEqual(await flagsOf(1, 2), [false, false]);
    assert.deepEqual(await flagsOf(1, 3), [false, false]);
    assert.deepEqual(await flagsOf(0, 1, 1), [true, false]);
    assert.deepEqual(await flagsOf(0, 3, 3), [false, true]);
    assert.deepEqual(await flagsOf(1, NaN), [false, false]);
  });

  it("says `0 of them were` when none went out, and shows no payload", async () => {
    const { publisher } = await numbers(() => NACKED);
    const error = await batchError(publisher.sendAll([4_242, 4_242]));
    assert.match(error.message, /^2 of 2 messages were not confirmed; 0 were\. The first failure was: Cannot publish/);
    assert.doesNotMatch(error.message, /4242/);
  });

  it("has no more messages out than the connection allows, and encodes those behind only then", async () => {
    const { puppet, publisher } = await numbers(() => undefined, 10);
    const sending = publisher.sendAll(Array.from({ length: 25 }, (_, index) => index));
    await puppet.clock.advance(0);
    assert.equal(puppet.handed.length, 10);
    for (let answered = 0; answered < 25; answered++) {
      puppet.handed[answered]?.answer(CONFIRMED);
      await puppet.clock.advance(0);
      assert.equal(puppet.handed.length, Math.min(25, 11 + answered));
    }
    assert.equal((await sending).length, 25);
  });

  it("larger than the connection could take within the wait for one permit goes out nevertheless", async () => {
    const { puppet, publisher } = await numbers(() => undefined, 2);
    const sending = publisher.sendAll(Array.from({ length: 20 }, (_, index) => index));
    for (let round = 0; round < 10; round++) {
      await puppet.clock.advance(9_000);
      for (const one of puppet.handed) one.answer(CONFIRMED);
      await puppet.clock.advance(0);
    }
    assert.equal((await sending).length, 20);
  });
});
