/**
 * The life of a connection: open and closed.
 *
 * @module
 */

import assert from "node:assert/strict";
import { ConnectionError } from "../../../src/errors.ts";
import type { Scenario } from "./world.ts";

/** The cases about connections. */
export function lifecycle(it: Scenario): void {
  it("says what it is connected to", async ({ mq }) => {
    assert.match(mq.transport, /^[a-z]+$/);
    assert.notEqual(mq.hostName, "");
    assert.equal(mq.state.status, "open");
    assert.equal(mq.state.blockedReason, undefined);
  });

  it("closes once, however often it is asked to", async (world) => {
    const { mq, events } = await world.connect();
    await Promise.all([mq.close(), mq.close()]);
    await mq.close();
    assert.equal(mq.state.status, "closed");
    assert.deepEqual(events, []);
  });

  it("takes its own close for no loss: what was handed out is stale, and comes again elsewhere", async (world) => {
    const queues = [await world.queue("read"), await world.queue("cancelled"), await world.queue("late")];
    const { mq, events } = await world.connect();
    const readers = await Promise.all(queues.map((queue) => world.read(queue, { by: mq })));
    for (const queue of queues) await world.fill(queue, "1");
    await world.until("a message each", () => readers.every(({ deliveries }) => deliveries.length === 1));
    await readers[1]?.subscription.cancel();
    const cancelled = readers[2]?.subscription.cancel();
    await Promise.all([mq.close(), cancelled]);
    for (const queue of queues) assert.equal((await world.take(queue)).redelivered, true);
    assert.deepEqual(readers.map(({ deliveries: [held] }) => [held?.isLive, held?.settle("ack")]), [
      [false, "stale"],
      [false, "stale"],
      [false, "stale"],
    ]);
    assert.deepEqual([readers.map(({ losses }) => losses), events], [[[], [], []], []]);
    assert.deepEqual(readers.map(({ subscription }) => subscription.live), [false, false, false]);
  });

  it("rejects every question once it is closed", async (world) => {
    const queue = await world.queue("q");
    const { mq } = await world.connect();
    await mq.close();
    const asks = [
      () => world.read(queue, { by: mq }),
      () => world.pull(queue, mq),
      () => mq.checkQueue(queue),
      () => mq.checkExchange("amq.direct"),
      () => mq.compareQueue({ name: queue, durable: true, exclusive: false, autoDelete: false, arguments: {} }),
      () => world.declareQueue(queue, { by: mq }),
      () => mq.deleteQueue(queue),
      () => mq.purgeQueue(queue),
    ];
    for (const ask of asks) {
      await assert.rejects(
        ask,
        (error) => error instanceof ConnectionError && error.code === "ACEMQ_CONNECTION_CLOSED",
      );
    }
  });

  it("does not open when its signal has aborted", async ({ under }) => {
    const signal = AbortSignal.abort(new Error("Not any more"));
    await assert.rejects(
      under.broker.open({ name: "acemq-contract", clock: under.clock, onEvent: () => {}, signal }),
      /Not any more/,
    );
  });
}
