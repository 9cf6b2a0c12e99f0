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
