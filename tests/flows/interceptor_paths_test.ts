/** `docs/interceptors.md` says which paths run interceptors and which are measured as a publish: each row is tried. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { memoryOutboxStore } from "../../adapters/memory/mod.ts";
import type { Connection } from "../../src/connection.ts";
import { park, reject } from "../../src/consume/ack.ts";
import type { ConsumeInterceptor, Handler } from "../../src/consume/interceptor.ts";
import type { PublishInterceptor } from "../../src/publish/interceptor.ts";
import { fixedRetry, noRetry, type RetryPolicy } from "../../src/retry/policy.ts";
import { MemoryWorld } from "../support/memory_world.ts";

/** How often each was run. */
interface Ran {
  readonly publish: number;
  readonly consume: number;
  readonly measured: number;
}

const NONE: Ran = { publish: 0, consume: 0, measured: 0 };
const ON_A_RUNG = fixedRetry(3, { delayMs: 60_000 });
const IN_THE_CONSUMER = fixedRetry(3, { delayMs: 1_000 });

/** A queue, and interceptors that count. */
class Path {
  readonly world: MemoryWorld;
  readonly mq: Connection;
  readonly #counts: { publish: number; consume: number };

  private constructor(world: MemoryWorld, mq: Connection, counts: { publish: number; consume: number }) {
    this.world = world;
    this.mq = mq;
    this.#counts = counts;
  }

  static async open(): Promise<Path> {
    const world = new MemoryWorld();
    const counts = { publish: 0, consume: 0 };
    const publish: PublishInterceptor = (context, next) => {
      counts.publish++;
      return next(context);
    };
    const consume: ConsumeInterceptor = (message, next) => {
      counts.consume++;
      return next(message);
    };
    const mq = await world.withQueue("q", { interceptors: { publish: [publish], consume: [consume] } });
    return new Path(world, mq, counts);
  }

  /** Everything that has run so far. */
  get ran(): Ran {
    return { ...this.#counts, measured: this.world.sink.count("acemq.publish.total") };
  }

  /** Fails the one message of the queue, and answers with what had run before its copy was made. */
  async copyTo(queue: string, fail: Handler, retry: RetryPolicy = noRetry()): Promise<Ran> {
    let before = NONE;
    const consumer = await this.mq.consume("q", (message) => {
      before = this.ran;
      consumer.pause();
      return fail(message);
    }, { retry });
    this.world.put("q", { id: "A-19" });
    await this.world.clock.advance(1_000);
    const { sink } = this.world;
    assert.equal(sink.count("acemq.messages.retried.total") + sink.count("acemq.messages.dead.lettered.total"), 1);
    assert.equal(this.world.depth(queue) + this.world.unsettled(queue), 1);
    return before;
  }
}

const failing: Handler = () => {
  throw new Error("not yet");
};

/** Brings each row of the page about, and answers with what had run before the step that the row is about. */
const PATHS: Readonly<Record<string, (path: Path) => Promise<Ran>>> = {
  "sent with `send` or `sendAll`": async ({ mq }) => {
    await mq.publisher("", "q").sendAll([1]);
    return NONE;
  },
  "sent with `sendEncoded`": async ({ mq }) => {
    await mq.publisher("", "q").sendEncoded({ body: new Uint8Array([1]) });
    return NONE;
  },
  "made with `prepare`": async ({ mq }) => {
    await mq.publisher("", "q").prepare(1);
    return NONE;
  },
  "sent with `sendPrepared`": async (path) => {
    const publisher = path.mq.publisher("", "q");
    const outbound = await publisher.prepare(1);
    const { ran } = path;
    await publisher.sendPrepared(outbound);
    return ran;
  },
  "handed to the handler of `consume`": async ({ mq, world }) => {
    await mq.consume("q", () => {});
    world.put("q", { id: "A-19" });
    await world.settled();
    return NONE;
  },
  "handed to the handler again, after a retry": async (path) => {
    let before = NONE;
    await path.mq.consume("q", ({ envelope }) => {
      if (envelope.attempt > 1) return;
      before = path.ran;
      throw new Error("not yet");
    }, { retry: ON_A_RUNG });
    path.world.put("q", { id: "A-19" });
    await path.world.clock.advance(60_000);
    return before;
  },
  "given to a loop over `deliveries`": async ({ mq, world }) => {
    world.put("q", { id: "A-19" });
    for await (const _ of mq.deliveries("q")) break;
    return NONE;
  },
  "copied back to its queue, for the next try": (path) => path.copyTo("q", failing, IN_THE_CONSUMER),
  "copied to a rung, for a later try": (path) => path.copyTo("q.retry.1m", failing, ON_A_RUNG),
  "copied to `.dlq`": (path) => path.copyTo("q.dlq", () => reject("no")),
  "copied to `.parked`": (path) => path.copyTo("q.parked", () => park("no")),
  "copied to `.parked`, as it cannot be decoded": async ({ mq, world }) => {
    await mq.consume("q", () => assert.fail("It cannot be decoded"));
    world.put("q", new Uint8Array([0xff]));
    await world.settled();
    assert.equal(world.depth("q.parked"), 1);
    return NONE;
  },
  "looked at by `peek`": async (path) => {
    const before = await path.copyTo("q.dlq", () => reject("no"));
    for await (const { envelope } of path.mq.peek("q")) assert.equal(envelope.attempt, 1);
    return before;
  },
  "put back by `replay`": async (path) => {
    const before = await path.copyTo("q.dlq", () => reject("no"));
    assert.equal((await path.mq.replay("q")).moved, 1);
    return before;
  },
  "published by a relay from an outbox": async (path) => {
    const outbox = memoryOutboxStore();
    const outbound = await path.mq.publisher("", "q").prepare(1);
    const before = path.ran;
    await outbox.transaction((tx) => outbox.add(tx, outbound));
    assert.equal((await path.mq.relay(outbox).runOnce()).published, 1);
    return before;
  },
};

describe("the table of paths in the documentation", () => {
  const page = readFileSync(new URL("../../docs/interceptors.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| (.+?) +\| (yes|no) +\| (yes|no) +\| (yes|no) +\|$/gm)]
    .map(([, name = "", ...answers]) => ({ name, answers }));

  it("has a row for every path there is [INT-05, TEL-19]", () => {
    assert.deepEqual(rows.map(({ name }) => name), Object.keys(PATHS));
  });

  for (const { name, answers } of rows) {
    it(`is right about a message ${name} [INT-05, TEL-19]`, async () => {
      const path = await Path.open();
      const before = await PATHS[name]?.(path) ?? NONE;
      const { ran } = path;
      const did = [ran.publish - before.publish, ran.consume - before.consume, ran.measured - before.measured];
      assert.deepEqual(did, answers.map((answer) => answer === "yes" ? 1 : 0));
      await path.world.close();
    });
  }
});
