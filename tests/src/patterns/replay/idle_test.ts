/** Looking and replaying are work of their connection: who waits until it is idle waits for them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Connection } from "../../../../src/connection.ts";
import { MemoryWorld } from "../../../support/memory_world.ts";
import { deferred } from "../../../support/until.ts";

const QUEUE = "orders.new";
const DLQ = `${QUEUE}.dlq`;

/** A queue with a failure side, and its dead letters. */
async function scene(dead: string): Promise<{ readonly world: MemoryWorld; readonly mq: Connection }> {
  const world = new MemoryWorld();
  const mq = await world.withQueue(QUEUE, { queue: { deadLetter: true } });
  for (const messageId of dead) world.put(DLQ, messageId, { messageId });
  return { world, mq };
}

/** A turn of the machine's own time, as a disk or a socket takes. */
function machine(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Whether a promise is still open when everything that could run has run. */
async function isOpen(promise: Promise<unknown>, world: MemoryWorld): Promise<boolean> {
  let open = true;
  promise.then(() => open = false, () => open = false);
  for (let turn = 0; turn < 3; turn++) await machine();
  await world.settled();
  return open;
}

describe("a connection is idle", () => {
  it("when a pass over dead letters is through: not between two of its messages, and not within one", async () => {
    const { world, mq } = await scene("abcdefgh");
    const pass = mq.replay(QUEUE, {
      filter: async ({ envelope }) => {
        await machine();
        return envelope.id !== "c";
      },
      onProgress: machine,
    });
    await mq.idle();
    assert.deepEqual([world.depth(DLQ), world.unsettled(DLQ), world.depth(QUEUE)], [1, 0, 7]);
    assert.deepEqual(await pass, { moved: 7, skipped: 1, reason: "drained" });
    await mq.idle();
    await world.close();
  });

  it("not while a pass asks its broker for a message, or whether there is a queue", async () => {
    const { world, mq } = await scene("ab");
    const asked = deferred();
    const queue = deferred();
    world.faults.onPuller = () => queue.promise;
    world.faults.onPull = () => asked.promise;
    const pass = mq.replay(QUEUE);
    const idle = mq.idle();
    assert.equal(await isOpen(idle, world), true);
    queue.resolve();
    assert.equal(await isOpen(idle, world), true);
    asked.resolve();
    await idle;
    assert.deepEqual([world.depth(DLQ), world.depth(QUEUE)], [0, 2]);
    await pass;
    await world.close();
  });

  it("when a look was left, whoever loops meanwhile does what", async () => {
    const { world, mq } = await scene("ab");
    const looking = mq.peek(QUEUE);
    await mq.idle();
    await looking.next();
    const idle = mq.idle();
    assert.equal(await isOpen(idle, world), true);
    await looking.return?.();
    await idle;
    assert.equal(world.depth(DLQ), 2);
    await world.close();
  });

  it("when a look or a pass could not begin", async () => {
    const { world, mq } = await scene("");
    await assert.rejects(mq.peek("unknown").next(), { code: "ACEMQ_TOPOLOGY_MISSING" });
    await assert.rejects(mq.replay("unknown"), { code: "ACEMQ_TOPOLOGY_MISSING" });
    await mq.idle();
    await world.close();
  });

  it("while a pass waits for its next turn: that only time brings", async () => {
    const { world, mq } = await scene("abc");
    const pass = mq.replay(QUEUE, { ratePerSecond: 1 });
    for (const moved of [1, 2, 3]) {
      await mq.idle();
      assert.equal(world.depth(QUEUE), moved);
      await world.clock.advance(1_000);
    }
    assert.deepEqual(await pass, { moved: 3, skipped: 0, reason: "drained" });
    await world.close();
  });
});
