/** Consuming from a stream, on a broker in memory: contract core 3.11. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Connection } from "../../../src/connection.ts";
import { accept, park, reject, retry } from "../../../src/consume/ack.ts";
import type { ConsumeOptions } from "../../../src/consume/options.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { MemoryWorld } from "../../support/memory_world.ts";

const STREAM = "orders.audit";
const FIRST = { "x-stream-offset": "first" };

interface Scene {
  readonly world: MemoryWorld;
  readonly mq: Connection;
}

async function scene(...entries: readonly string[]): Promise<Scene> {
  const world = new MemoryWorld();
  const mq = await world.withQueue(STREAM, { queue: { type: "stream" } });
  for (const entry of entries) world.put(STREAM, entry);
  return { world, mq };
}

function bodies(world: MemoryWorld, queue: string): readonly string[] {
  return world.waiting(queue).map(({ body }) => new TextDecoder().decode(body));
}

describe("a consumer of a stream", () => {
  it("handles what comes next, or everything from where it is told to begin, and takes nothing away", async () => {
    const { world, mq } = await scene("1", "2");
    const seen: string[] = [];
    await mq.consume<string>(STREAM, ({ payload }) => void seen.push(`next ${payload}`));
    await mq.consume<string>(
      STREAM,
      ({ payload, headers }) => void seen.push(`${headers["x-stream-offset"]} ${payload}`),
      { arguments: FIRST },
    );
    await mq.publisher<string>("", STREAM).send("3");
    await mq.idle();
    assert.deepEqual(seen.toSorted(), ["0 1", "1 2", "2 3", "next 3"]);
    assert.equal(world.depth(STREAM), 3);
    await world.close();
  });

  it("sets a failed entry aside at once, as a copy, whatever its policy: nothing is appended and no rung is used [STR-03]", async () => {
    const policies: readonly ConsumeOptions<string>[] = [
      {},
      { retry: fixedRetry(3, { delayMs: 0 }) },
      { retry: fixedRetry(3, { delayMs: 2_000 }) },
      { retry: fixedRetry(3, { delayMs: 60_000 }), rungsMs: [120_000] },
    ];
    for (const options of policies) {
      const { world, mq } = await scene();
      const attempts: number[] = [];
      await mq.consume<string>(STREAM, ({ envelope, payload }) => {
        attempts.push(envelope.attempt);
        if (payload === "thrown") throw new Error("no");
        return retry("no", { delayMs: 120_000 });
      }, options);
      world.put(STREAM, "thrown");
      world.put(STREAM, "asked");
      await world.clock.advance(600_000);
      assert.deepEqual([attempts, bodies(world, STREAM)], [[1, 1], [`"thrown"`, `"asked"`]]);
      assert.deepEqual(bodies(world, `${STREAM}.dlq`), [`"thrown"`, `"asked"`]);
      for (const rung of ["1m", "2m"]) assert.equal(world.depth(`${STREAM}.retry.${rung}`), 0);
      assert.equal(world.sink.count("acemq.messages.retried.total"), 0);
      await world.close();
    }
  });

  it("leaves a copy beside the stream of what it rejects, parks or cannot read [STR-11]", async () => {
    const { world, mq } = await scene("rejected", "parked");
    world.put(STREAM, new TextEncoder().encode("{oops"));
    const words = { rejected: () => reject("bad"), parked: () => park("look") };
    await mq.consume<keyof typeof words>(STREAM, ({ payload }) => words[payload](), { arguments: FIRST });
    await world.settled();
    assert.deepEqual(bodies(world, `${STREAM}.dlq`), [`"rejected"`]);
    assert.deepEqual(bodies(world, `${STREAM}.parked`), [`"parked"`, "{oops"]);
    assert.equal(world.depth(STREAM), 3);
    assert.equal(world.waiting(`${STREAM}.dlq`)[0]?.headers["x-stream-offset"], undefined);
    await world.close();
  });

  it("keeps an entry in hand that cannot be set aside, tries once a second, and goes on with others meanwhile", async () => {
    const { world, mq } = await scene("bad", "good");
    world.faults.onPublish = () => ({ outcome: "unroutable", reason: "312 NO_ROUTE" });
    const seen: string[] = [];
    await mq.consume<string>(STREAM, ({ payload }) => {
      seen.push(payload);
      return payload === "bad" ? reject("no") : accept();
    }, { arguments: FIRST });
    await world.clock.advance(4_500);
    assert.deepEqual([seen, world.unsettled(STREAM)], [["bad", "good"], 1]);
    assert.equal(world.sink.count("acemq.messages.set.aside.failed"), 5);
    world.faults.onPublish = undefined;
    await world.clock.advance(1_000);
    assert.deepEqual([bodies(world, `${STREAM}.dlq`), world.unsettled(STREAM)], [[`"bad"`], 0]);
    assert.equal(seen.length, 2);
    await world.close();
  });

  it("gives nothing back when it closes: what it holds is the stream's anyway", async () => {
    const { world, mq } = await scene("1", "2", "3");
    const consumer = await mq.consume(STREAM, () => new Promise<void>(() => {}), { arguments: FIRST });
    await world.settled();
    const closing = consumer.close();
    await world.clock.advance(60_000);
    assert.deepEqual(await closing, { drained: false, stranded: 1 });
    assert.deepEqual([world.faults.settled, world.unsettled(STREAM), world.depth(STREAM)], [[], 0, 3]);
    await world.close();
  });

  it("takes another prefetch while it runs, and neither skips nor repeats an entry", async () => {
    const { world, mq } = await scene("1", "2", "3", "4", "5");
    const seen: string[] = [];
    const consumer = await mq.consume<string>(STREAM, ({ payload }) => void seen.push(payload), {
      arguments: FIRST,
      prefetch: 1,
    });
    await consumer.retune({ prefetch: 10 });
    await mq.idle();
    assert.deepEqual(seen, ["1", "2", "3", "4", "5"]);
    await world.close();
  });
});
