/** A consumer with an idempotency store, while somebody sets the machine's clock. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryBroker, memoryIdempotencyStore } from "../../../adapters/memory/mod.ts";
import { openConnection } from "../../../src/connection.ts";
import { topology } from "../../../src/topology/topology.ts";
import { SettableClock } from "../../support/settable_clock.ts";
import { deferred } from "../../support/until.ts";

const QUEUE = "payments.new";
const HOUR_MS = 3_600_000;

describe("a consumer with an idempotency store on a machine whose clock is set", () => {
  it("goes by the time that passes: its handler has the lease to the end, and is told then and not before", async () => {
    const clock = new SettableClock();
    const store = memoryIdempotencyStore({ clock, claimTimeoutMs: 60_000 });
    const mq = await openConnection(memoryBroker({ clock }));
    await mq.declare(topology().queue(QUEUE));
    const [done, seen] = [deferred(), [] as string[]];
    await mq.consume(QUEUE, async ({ envelope: { id }, signal }) => {
      seen.push(id);
      signal.addEventListener("abort", () => seen.push(`${id} is told`));
      if (id === "long") await done.promise;
    }, { idempotency: store, concurrency: 2 });
    const publisher = mq.publisher("", QUEUE);
    await publisher.send(1, { messageId: "long" });
    await clock.pass(0);
    for (const hours of [5, -10, 5]) {
      clock.set(hours * HOUR_MS);
      await publisher.send(1, { messageId: "short" });
      await clock.pass(10_000);
      assert.deepEqual(await store.tryClaim("long"), { status: "in_progress" });
      assert.deepEqual(await store.tryClaim("short"), { status: "already_confirmed" });
    }
    await clock.pass(29_999);
    assert.deepEqual(seen, ["long", "short"]);
    await clock.pass(1);
    assert.deepEqual(seen, ["long", "short", "long is told"]);
    done.resolve();
    await clock.pass(0);
    assert.equal(await store.isConfirmed("long"), true);
    const closed = mq.close();
    await clock.pass(HOUR_MS);
    await closed;
  });
});
