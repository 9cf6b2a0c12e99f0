/** Waiting until a connection has nothing to do, on a broker in memory whose time stands still. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { asyncScope } from "../../../adapters/async_hooks/mod.ts";
import type { ConnectOptions } from "../../../src/connect_options.ts";
import { type Connection, openConnection } from "../../../src/connection.ts";
import { accept, type Ack, park, reject, retry } from "../../../src/consume/ack.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { topology } from "../../../src/topology/topology.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { deferred } from "../../support/until.ts";

interface Scene {
  readonly world: MemoryWorld;
  readonly mq: Connection;
}

/** A connection and the queues `a` and `b`. */
async function scene(options: ConnectOptions = {}): Promise<Scene> {
  const world = new MemoryWorld();
  const mq = await world.connect(options);
  await mq.declare(topology().queue("a").queue("b"));
  return { world, mq };
}

/** A while of the machine's own time, as a disk or a socket takes. */
function machine(ms = 5): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Whether a promise is still open when everything that could run has run. */
async function isOpen(promise: Promise<unknown>, world: MemoryWorld): Promise<boolean> {
  let open = true;
  promise.then(() => open = false, () => open = false);
  await machine();
  await world.settled();
  return open;
}

describe("a connection is idle", () => {
  it("when it never did anything", async () => {
    const { world, mq } = await scene();
    await mq.idle();
    await mq.consume("a", accept);
    await mq.idle();
    await world.close();
  });

  it("when its handlers have returned, those included that wait for the machine and send on what comes back", async () => {
    const { world, mq } = await scene();
    const seen: string[] = [];
    await mq.consume<string>("a", async ({ payload }) => {
      await machine();
      await mq.publisher("", "b").send(`${payload}!`);
    });
    await mq.consume<string>("b", async ({ payload }) => {
      await machine();
      seen.push(payload);
    });
    for (const payload of ["1", "2", "3"]) void mq.publisher("", "a").send(payload);
    await mq.idle();
    assert.deepEqual(seen, ["1!", "2!", "3!"]);
    assert.deepEqual([world.unsettled("a"), world.unsettled("b")], [0, 0]);
    await world.close();
  });

  it("while a message waits on a rung: it has come home and is handled when the clock was advanced", async () => {
    const { world, mq } = await scene();
    const attempts: number[] = [];
    await mq.consume("a", ({ envelope }) => {
      attempts.push(envelope.attempt);
      return retry("busy");
    }, { retry: fixedRetry(3, { delayMs: 60_000 }) });
    world.put("a", "1");
    await mq.idle();
    assert.deepEqual([attempts, world.depth("a.retry.1m")], [[1], 1]);
    await world.clock.advance(60_000);
    await mq.idle();
    assert.deepEqual(attempts, [1, 2]);
    await world.close();
  });

  it("while messages wait between two attempts in the consumer, also when others stand behind them on the queue", async () => {
    const { world, mq } = await scene();
    const seen: string[] = [];
    await mq.consume<string>("a", ({ payload, envelope }) => {
      seen.push(`${payload} ${envelope.attempt}`);
      return envelope.attempt === 1 ? retry("busy") : accept();
    }, { retry: fixedRetry(2, { delayMs: 100 }), prefetch: 2 });
    for (const payload of ["1", "2", "3"]) world.put("a", payload);
    await mq.idle();
    assert.deepEqual([seen, world.depth("a")], [["1 1", "2 1"], 1]);
    await world.clock.advance(200);
    await mq.idle();
    assert.deepEqual(seen.toSorted(), ["1 1", "1 2", "2 1", "2 2", "3 1", "3 2"]);
    await world.close();
  });

  it("while a wait between two attempts takes up all of a prefetch that was made smaller, whatever was fetched before that", async () => {
    const { world, mq } = await scene();
    const seen: string[] = [];
    const consumer = await mq.consume<string>("a", ({ payload, envelope }) => {
      seen.push(`${payload} ${envelope.attempt}`);
      return envelope.attempt === 1 ? retry("busy") : accept();
    }, { retry: fixedRetry(2, { delayMs: 100 }), prefetch: 3 });
    consumer.pause();
    for (const payload of ["1", "2", "3"]) world.put("a", payload);
    await world.settled();
    await consumer.retune({ prefetch: 1 });
    consumer.resume();
    await mq.idle();
    assert.deepEqual([seen, consumer.state.waiting, consumer.state.held], [["1 1"], 1, 2]);
    await world.clock.advance(500);
    await mq.idle();
    assert.deepEqual(seen.toSorted(), ["1 1", "1 2", "2 1", "2 2", "3 1", "3 2"]);
    await world.close();
  });

  it("when publishes that nobody waits for are answered, those included whose message is still being made", async () => {
    const bytes = new TextEncoder();
    const codec = {
      contentType: "text/plain",
      canDecode: () => true,
      encode: async (payload: unknown) => {
        await machine();
        return { body: bytes.encode(String(payload)) };
      },
      decode: (body: Uint8Array) => new TextDecoder().decode(body),
    };
    const { world, mq } = await scene({ codec, maxOutstandingPublishes: 1 });
    void mq.publisher("", "a").send("slow");
    await mq.idle();
    assert.equal(world.depth("a"), 1);
    void mq.publisher("", "b").sendAll(Array.from({ length: 20 }, (_, index) => index));
    await mq.idle();
    assert.equal(world.depth("b"), 20);
    await world.close();
  });

  it("when everybody was told of a publish that could not be sent", async () => {
    const { world, mq } = await scene();
    const failed = assert.rejects(mq.publisher("", "nowhere").send(1), { code: "ACEMQ_PUBLISH_UNROUTABLE" });
    await mq.idle();
    await failed;
    await world.close();
  });

  it("while a consumer is paused, once the handlers that run have returned", async () => {
    const { world, mq } = await scene();
    let returned = 0;
    const paused = deferred();
    const consumer = await mq.consume("a", async () => {
      await paused.promise;
      await machine();
      returned++;
    });
    for (const payload of [1, 2, 3]) world.put("a", payload);
    await world.settled();
    consumer.pause();
    paused.resolve();
    await mq.idle();
    assert.deepEqual([returned, consumer.state.held, consumer.state.paused], [1, 2, true]);
    consumer.resume();
    await mq.idle();
    assert.equal(returned, 3);
    await world.close();
  });

  it("when a loop over deliveries has settled what it was given, and asks for more", async () => {
    const { world, mq } = await scene();
    const seen: number[] = [];
    const looping = (async () => {
      for await (const delivery of mq.deliveries<number>("a", { retry: fixedRetry(2, { delayMs: 100 }) })) {
        await machine();
        seen.push(delivery.payload);
        void delivery.settle(delivery.payload === 2 ? retry("busy") : accept());
      }
    })();
    for (const payload of [1, 2, 3]) world.put("a", payload);
    await mq.idle();
    assert.deepEqual(seen, [1, 2, 3]);
    await world.clock.advance(100);
    await mq.idle();
    assert.deepEqual(seen, [1, 2, 3, 2]);
    await world.close();
    await looping;
  });

  it("when a stream, which is never empty, was read as far as it goes, wherever that began", async () => {
    const { world, mq } = await scene();
    await mq.declare(topology().queue("s", { type: "stream" }));
    const seen: string[] = [];
    const send = mq.publisher<string>("", "s");
    await send.send("before");
    await mq.consume<string>("s", async ({ payload }) => {
      await machine();
      seen.push(`next ${payload}`);
    });
    await mq.idle();
    const from = { "x-stream-offset": "first" };
    await mq.consume<string>("s", ({ payload }) => void seen.push(`first ${payload}`), { arguments: from });
    await send.send("after");
    await mq.idle();
    assert.deepEqual(seen.toSorted(), ["first after", "first before", "next after"]);
    assert.equal(world.depth("s"), 2);
    await world.close();
  });

  it("although another connection to the same broker has work to do", async () => {
    const { world, mq } = await scene();
    const other = await world.connect();
    const released = deferred();
    await other.consume("a", () => released.promise);
    await mq.publisher("", "a").send(1);
    await mq.idle();
    const waiting = other.idle();
    assert.equal(await isOpen(waiting, world), true);
    released.resolve();
    await waiting;
    await world.close();
  });
});

describe("a connection is not idle", () => {
  it("while a loop over deliveries holds a message, or has stopped asking while others are fetched", async () => {
    const { world, mq } = await scene();
    for (const payload of [1, 2]) world.put("a", payload);
    const loop = mq.deliveries("a");
    const first = await loop.next();
    const waiting = mq.idle();
    assert.equal(await isOpen(waiting, world), true);
    await first.value?.settle(accept());
    assert.equal(await isOpen(waiting, world), true);
    await (await loop.next()).value?.settle(accept());
    await waiting;
    await world.close();
  });

  it("while a publish waits for the end of a block", async () => {
    const { world, mq } = await scene();
    world.broker.block("low on memory");
    const sent = mq.publisher("", "a").send(1);
    const waiting = mq.idle();
    assert.equal(await isOpen(waiting, world), true);
    world.broker.unblock();
    await waiting;
    assert.equal((await sent).outcome, "confirmed");
    await world.close();
  });

  it("while its link is away, and when that is back until what came again is handled", async () => {
    const { world, mq } = await scene();
    const seen: number[] = [];
    await mq.consume<number>("a", ({ payload }) => void seen.push(payload));
    await world.faults.lose();
    world.put("a", 1);
    const waiting = mq.idle();
    await world.clock.advance(1_000);
    assert.equal(await isOpen(waiting, world), true);
    await world.faults.recover();
    await world.clock.advance(1_000);
    await waiting;
    assert.deepEqual(seen, [1]);
    await world.close();
  });
});

describe("waiting until a connection is idle", () => {
  it("ends with the reason of its signal, before it begins as well", async () => {
    const { world, mq } = await scene();
    const released = deferred();
    await mq.consume("a", () => released.promise);
    world.put("a", 1);
    await world.settled();
    const controller = new AbortController();
    const waiting = mq.idle({ signal: controller.signal });
    const reason = new Error("Not any more");
    controller.abort(reason);
    await assert.rejects(waiting, reason);
    await assert.rejects(mq.idle({ signal: controller.signal }), reason);
    released.resolve();
    await mq.idle();
    await world.close();
  });

  it("ends with an error when the connection closes meanwhile, or is closed", async () => {
    const { world, mq } = await scene();
    await mq.consume("a", () => machine());
    world.put("a", 1);
    await world.settled();
    const closed = { name: "ConnectionError", code: "ACEMQ_CONNECTION_CLOSED" };
    const waiting = assert.rejects(mq.idle(), closed);
    await mq.close();
    await waiting;
    await assert.rejects(mq.idle(), closed);
    await world.close();
  });

  it("is refused inside a handler of the connection, and possible inside one of another", async () => {
    const world = new MemoryWorld();
    const options = { scope: asyncScope(), telemetry: world.sink };
    const [mq, other] = [await openConnection(world.broker, options), await openConnection(world.broker, options)];
    await mq.declare(topology().queue("a"));
    const answers: unknown[] = [];
    await mq.consume("a", async () => {
      await other.idle();
      await mq.idle().catch((error: unknown) => answers.push(error));
    });
    world.put("a", 1);
    await mq.idle();
    assert.equal(
      String(answers[0]),
      "TypeError: Cannot wait for the connection to be idle: the handler that waits is one it waits for",
    );
    await Promise.all([mq.close(), other.close()]);
  });

  it("asks again while somebody else has messages of a queue it consumes from", async () => {
    const { world, mq } = await scene();
    await mq.consume("a", accept);
    // Nobody can be shown a queue with room for its consumer and messages in it but by a broker that is slow to hand them out.
    let depth = 2;
    world.faults.onCheckQueue = () => Promise.resolve({ status: "present", messages: depth--, consumers: 1 });
    const waiting = mq.idle();
    assert.equal(await isOpen(waiting, world), true);
    await world.clock.advance(40);
    await waiting;
    assert.equal(depth, -1);
    await world.close();
  });

  it("finds nothing in hand and nothing on a queue that is consumed from, whatever handlers do", async () => {
    const words: Readonly<Record<string, () => Ack | Promise<Ack>>> = {
      accept,
      reject: () => reject("no"),
      park: () => park("whose?"),
      rung: () => retry("busy", { delayMs: 60_000 }),
      short: () => retry("busy", { delayMs: 100 }),
      throw: () => {
        throw new Error("no");
      },
      machine: () => machine(0).then(accept),
    };
    const message = fc.record({
      queue: fc.constantFrom("a", "b"),
      word: fc.constantFrom(...Object.keys(words)),
      sendsOn: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        async (messages, prefetch) => {
          const { world, mq } = await scene();
          const policy = fixedRetry(3, { delayMs: 60_000 });
          let running = 0;
          let handled = 0;
          for (const queue of ["a", "b"]) {
            await mq.consume<(typeof messages)[number]>(queue, async ({ payload }) => {
              running++;
              try {
                if (payload.sendsOn) await mq.publisher("", "b").send({ ...payload, sendsOn: false });
                return await words[payload.word]?.();
              } finally {
                handled++;
                running--;
              }
            }, { retry: policy, rungsMs: [60_000], prefetch, concurrency: 2 });
          }
          for (const { queue, ...rest } of messages) void mq.publisher("", queue).send(rest);
          const restsAt = async (): Promise<number> => {
            await mq.idle();
            assert.equal(running, 0);
            for (const queue of ["a", "b"]) assert.ok(world.depth(queue) === 0 || world.unsettled(queue) === prefetch);
            return handled;
          };
          let before = -1;
          // Until nothing waits for time any more.
          for (let now = await restsAt(); now !== before; now = await restsAt()) {
            before = now;
            await world.clock.advance(60_000);
          }
          assert.deepEqual([world.depth("a"), world.depth("b"), world.unsettled("a"), world.unsettled("b")], [
            0,
            0,
            0,
            0,
          ]);
          await world.close();
        },
      ),
      { numRuns: 25 },
    );
  });
});
