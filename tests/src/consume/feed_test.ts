/** A subscription and what it has handed over. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryBroker } from "../../../adapters/memory/mod.ts";
import { Feed } from "../../../src/consume/feed.ts";
import { StoreQueues } from "../../../src/internal/store_queues.ts";
import { Work } from "../../../src/internal/work.ts";
import { Recorder } from "../../../src/telemetry/recorder.ts";
import { Faults, faultyBroker } from "../../support/faulty_broker.ts";
import { stoppedSources } from "../../support/sources.ts";

const ENVIRONMENT = {
  ...stoppedSources(),
  random: () => 0.5,
  recorder: new Recorder(undefined, "memory"),
  scope: undefined,
  work: new Work(),
  storeQueues: new StoreQueues(),
};

interface Scene {
  readonly feed: Feed;
  readonly faults: Faults;
  readonly changes: () => number;
  readonly waiting: () => number;
}

async function open(prefetch: number, messages: number): Promise<Scene> {
  const [broker, faults] = [memoryBroker(), new Faults()];
  const link = await faultyBroker(broker, faults).open({ name: "feed", clock: ENVIRONMENT.clock, onEvent: () => {} });
  await link.declareQueue({ name: "q", durable: true, exclusive: false, autoDelete: false, arguments: {} });
  for (let n = 0; n < messages; n++) broker.put({ exchange: "", routingKey: "q", body: Uint8Array.of(n) });
  let changes = 0;
  const feed = await Feed.open(link, ENVIRONMENT, {
    queue: "q",
    prefetch,
    consumerTag: "t",
    arguments: {},
    onChange: () => changes++,
    onClosed: () => {},
  });
  await new Promise((resolve) => setTimeout(resolve));
  return { feed, faults, changes: () => changes, waiting: () => broker.inspect("q")?.waiting.length ?? 0 };
}

describe("a feed", () => {
  it("says that there is something to take, and gives it in the order it came", async () => {
    const { feed, changes } = await open(3, 5);
    assert.deepEqual([feed.isLive, feed.held, changes()], [true, 3, 3]);
    const taken = [feed.take(), feed.take(), feed.take(), feed.take()];
    assert.deepEqual(taken.map((item) => item?.received.body[0]), [0, 1, 2, undefined]);
    assert.deepEqual([feed.held, feed.taken.size], [0, 3]);
    const [first] = taken;
    if (first !== undefined) feed.done(first);
    assert.equal(feed.taken.size, 2);
    await feed.close();
  });

  it("that stops gives nothing more to take and keeps what was taken in hand, in a hurry", async () => {
    const { feed, waiting } = await open(3, 5);
    const item = feed.take();
    const stopping = feed.stop();
    assert.equal(feed.take(), undefined);
    await stopping;
    assert.deepEqual([feed.held, feed.taken.size, waiting(), item?.isLive, item?.patience.aborted], [
      0,
      1,
      4,
      true,
      true,
    ]);
    assert.equal(item?.settle("ack"), true);
    await feed.close();
    assert.equal(waiting(), 4);
  });

  it("that closes gives everything back, what was taken too", async () => {
    const { feed, waiting } = await open(3, 5);
    const item = feed.take();
    await Promise.all([feed.close(), feed.close()]);
    assert.deepEqual([item?.isLive, waiting()], [false, 5]);
  });

  it("whose prefetch is made smaller gives nothing before fewer are taken, and says when", async () => {
    const { feed, changes } = await open(4, 4);
    const [first, second] = [feed.take(), feed.take()];
    assert.ok(first !== undefined && second !== undefined);
    await feed.setPrefetch(1);
    const before = changes();
    assert.deepEqual([feed.isFull, feed.take(), feed.held, changes() - before], [true, undefined, 2, 0]);
    feed.done(first);
    assert.deepEqual([feed.isFull, feed.take(), changes() - before], [true, undefined, 1]);
    second.settle("ack");
    assert.deepEqual([feed.isFull, feed.taken.size], [false, 1]);
    feed.done(second);
    assert.deepEqual([changes() - before, feed.take()?.received.body[0], feed.take()], [2, 2, undefined]);
    const widened = feed.setPrefetch(0);
    assert.deepEqual([changes() - before, feed.isFull, feed.take()?.received.body[0]], [3, false, 3]);
    await widened;
    await feed.close();
  });

  it("gives as many again after a loss: what was lost takes no room at the broker", async () => {
    const { feed, faults } = await open(2, 4);
    const lost = [feed.take(), feed.take()];
    assert.equal(feed.isFull, true);
    await faults.lose();
    assert.equal(feed.isFull, false);
    await faults.recover();
    await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual([feed.held, feed.take()], [2, undefined]);
    for (const item of lost) if (item !== undefined) feed.done(item);
    assert.deepEqual([feed.take()?.received.body[0], feed.take()?.received.body[0], feed.isFull], [0, 1, true]);
    await feed.close();
  });

  it("that lost its link forgets what it holds, and says so twice: when it is lost and when it is back", async () => {
    const { feed, faults, changes } = await open(3, 5);
    const item = feed.take();
    await faults.lose();
    assert.deepEqual([feed.isLive, feed.held, item?.isLive, changes()], [false, 0, false, 4]);
    await faults.recover();
    await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual([feed.isLive, feed.held, feed.take()?.received.redelivered], [true, 3, true]);
    await feed.close();
  });
});
