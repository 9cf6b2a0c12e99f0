/** A day on the ladder, on a broker in memory: what a user's test of a slow failure looks like. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connect, exponentialRetry, topology } from "@acemq/amqp";
import { memoryBroker, type VirtualClock, virtualClock } from "@acemq/amqp/memory";

const HOUR_MS = 3_600_000;

/** Waits of 1, 2, 4, 8 and 9 hours: a day. */
const A_DAY = exponentialRetry(6, { initialDelayMs: HOUR_MS, maxDelayMs: 9 * HOUR_MS, jitterFactor: 0 });

function hoursOf(clock: VirtualClock): number {
  return clock.elapsed() / HOUR_MS;
}

describe("a message that fails for a day", () => {
  it("walks the whole ladder at its times while nobody waits, between two connections to one broker", async (test) => {
    const startedMs = performance.now();
    const clock = virtualClock("2026-01-01T00:00:00Z");
    const broker = memoryBroker({ clock });
    const shop = await connect(broker, { name: "shop" });
    const billing = await connect(broker, { name: "billing" });
    await billing.declare(topology().queue("orders.new", { deadLetter: true, retry: A_DAY }));
    const attempts: (readonly [attempt: number, hours: number])[] = [];
    await billing.consume("orders.new", ({ envelope }) => {
      attempts.push([envelope.attempt, hoursOf(clock)]);
      throw new Error("The ledger is closed");
    }, { retry: A_DAY });

    await shop.publisher("", "orders.new").send({ id: "A-19" });
    await billing.idle();
    assert.deepEqual(attempts, [[1, 0]]);
    assert.equal(broker.inspect("orders.new.retry.1h")?.waiting.length, 1);
    await clock.advance(15 * HOUR_MS - 1);
    assert.deepEqual(attempts, [[1, 0], [2, 1], [3, 3], [4, 7]]);
    await clock.advance(9 * HOUR_MS + 1);
    assert.deepEqual(attempts.slice(4), [[5, 15], [6, 24]]);
    const [dead] = broker.inspect("orders.new.dlq")?.waiting ?? [];
    assert.deepEqual([dead?.headers["x-acemq-attempt"], dead?.headers["x-acemq-origin"]], [6, "shop@memory"]);
    assert.match(String(dead?.headers["x-acemq-error"]), /^exhausted 6 attempts: Error: The ledger is closed/);
    await Promise.all([shop.close(), billing.close()]);
    test.diagnostic(`24 hours took ${(performance.now() - startedMs).toFixed(0)} ms`);
  });

  it("is handled by the first connection that has a consumer when it comes home, and held by none meanwhile", async () => {
    const clock = virtualClock();
    const broker = memoryBroker({ clock });
    const first = await connect(broker);
    await first.declare(topology().queue("orders.new", { deadLetter: true, retry: A_DAY }));
    const failing = await first.consume("orders.new", () => {
      throw new Error("The ledger is closed");
    }, { retry: A_DAY });
    await first.publisher("", "orders.new").send({ id: "A-19" });
    await first.idle();
    await failing.close();
    const second = await connect(broker);
    const handled: number[] = [];
    await second.consume("orders.new", () => void handled.push(hoursOf(clock)), { retry: A_DAY });
    await clock.advance(24 * HOUR_MS);
    assert.deepEqual(handled, [1]);
    const left = broker.inspect("orders.new");
    assert.deepEqual([left?.waiting, left?.inHand], [[], []]);
    await Promise.all([first.close(), second.close()]);
  });
});
