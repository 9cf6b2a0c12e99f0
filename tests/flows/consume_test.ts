/** Consuming on RabbitMQ: contract core 3. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { park, reject } from "../../src/consume/ack.ts";
import { FatalError, RetryableError } from "../../src/errors.ts";
import type { Message } from "../../src/message/message.ts";
import type { BrokerEvent } from "../../src/ports/broker.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { exponentialRetry, fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { onRabbit } from "../support/rabbit_scene.ts";
import { missing } from "../support/services.ts";
import { deferred, until } from "../support/until.ts";
import { WireTap } from "../support/wire_tap.ts";

const skip = await missing("rabbitmq");
const QUORUM = { "x-queue-type": "quorum" };
const JSON_BODY = { contentType: "application/json" };

function text(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}

describe("a consumer on RabbitMQ", () => {
  it("takes a failing message to the dead letters of a queue that nobody applied a topology to [CON-01] [CON-02]", {
    skip,
  }, () =>
    onRabbit("con01", async (scene) => {
      const queue = await scene.bare.queue("plain");
      const mq = await scene.connect();
      await mq.consume(queue, () => Promise.reject(new Error("no such account")));
      await scene.bare.put(queue, `{"n":1}`, JSON_BODY);
      const dead = await scene.bare.take(`${queue}.dlq`);
      assert.deepEqual([text(dead.body), dead.table["x-acemq-error"]], [
        `{"n":1}`,
        "exhausted 1 attempt: Error: no such account",
      ]);
      await scene.bare.put(queue, "{", JSON_BODY);
      const parked = await scene.bare.take(`${queue}.parked`);
      assert.equal(text(parked.body), "{");
      assert.match(String(parked.table["x-acemq-error"]), /^could not be decoded: DecodeError: /);
      assert.deepEqual([await scene.bare.depth(queue), await scene.bare.depth(`${queue}.dlq`)], [0, 0]);
    }));

  it(
    "keeps a message whose dead-letter queue is gone, says so, and does not make the queue again [CON-03] [CON-04] [CON-25] [TEL-07]",
    {
      skip,
    },
    () =>
      onRabbit("con03", async (scene) => {
        const queue = await scene.bare.queue("plain");
        const mq = await scene.connect();
        let isFailing = true;
        const redelivered: boolean[] = [];
        await mq.consume(queue, (message) => {
          redelivered.push(message.redelivered);
          return isFailing ? reject("no") : undefined;
        });
        await scene.bare.remove(`${queue}.dlq`);
        await scene.bare.put(queue, "1", JSON_BODY);
        await scene.counted("acemq.messages.set.aside.failed", 2, { queue, target: `${queue}.dlq` });
        assert.equal(await scene.bare.depth(`${queue}.dlq`), undefined);
        assert.equal(scene.sink.count("acemq.messages.dead.lettered.total"), 0);
        isFailing = false;
        await scene.counted("acemq.consume.total", 1, { outcome: "acked" });
        assert.deepEqual(redelivered.slice(0, 2), [false, true]);
      }),
  );

  it("parks what no codec of its claims, bytes untouched [CON-10]", { skip }, () =>
    onRabbit("con10", async (scene) => {
      const queue = await scene.bare.queue("plain");
      const mq = await scene.connect();
      await mq.consume(queue, () => assert.fail("It must not be handled"), { codec: "json" });
      const body = Uint8Array.of(0x08, 0x96, 0x01, 0xff, 0x00);
      await scene.bare.put(queue, body, { contentType: "application/x-protobuf" });
      const parked = await scene.bare.take(`${queue}.parked`);
      assert.deepEqual([parked.body, parked.properties["content-type"]], [body, "application/x-protobuf"]);
    }));

  it("parks an undecodable body at once, and retries one whose codec waits for something that is away [CON-18]", {
    skip,
  }, () =>
    onRabbit("con18", async (scene) => {
      const queue = await scene.bare.queue("plain");
      const mq = await scene.connect();
      let asked = 0;
      const store: Codec<string> = {
        contentType: "application/x-stored",
        canDecode: () => true,
        encode: () => assert.fail("Nothing is written"),
        decode: (body) => {
          if (text(body) === "broken") throw new SyntaxError("Broken");
          asked++;
          return asked < 3 ? Promise.reject(new RetryableError("The store timed out")) : text(body);
        },
      };
      const seen: [string, number][] = [];
      const retry = fixedRetry(10, { delayMs: 20 });
      await mq.consume(queue, ({ payload, envelope }) => void seen.push([payload, envelope.attempt]), {
        codec: store,
        retry,
      });
      await scene.bare.put(queue, "broken");
      await scene.bare.put(queue, "stored");
      await scene.depth(`${queue}.parked`, 1);
      await until("the stored one", () => seen.length === 1);
      assert.deepEqual(seen, [["stored", 3]]);
      assert.equal(await scene.bare.depth(`${queue}.dlq`), 0);
    }));

  it(
    "skips the ladder for a fatal error, and nothing returns later [CON-20]",
    { skip },
    () =>
      onRabbit("con20", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const mq = await scene.connect();
        let calls = 0;
        await mq.consume(queue, () => {
          calls++;
          throw new FatalError("no such product");
        }, { retry: fixedRetry(5, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 }) });
        await scene.bare.put(queue, "1", JSON_BODY);
        const dead = await scene.bare.take(`${queue}.dlq`);
        assert.deepEqual([dead.table["x-acemq-error"], dead.table["x-acemq-attempt"]], [
          "the handler reported an unprocessable message: FatalError: no such product",
          1,
        ]);
        await scene.bare.put(`${queue}.retry.1s`, "2", JSON_BODY);
        await until("longer than a rung", () => calls === 2);
        assert.equal(calls, 2);
      }),
  );

  it("runs a hundred handlers at once over ten consumers [CON-21]", { skip }, () =>
    onRabbit("con21", async (scene) => {
      const mq = await scene.connect();
      const all = deferred();
      let inside = 0;
      for (let n = 0; n < 10; n++) {
        const queue = await scene.bare.queue(`q${n}`);
        await mq.consume(queue, async () => {
          if (++inside === 100) all.resolve();
          await all.promise;
        }, { concurrency: 10, codec: "bytes", declare: false });
        for (let m = 0; m < 10; m++) await mq.publisher("", queue, { codec: "bytes" }).send(new Uint8Array());
      }
      await all.promise;
    }));

  it(
    "leaves the twelfth of twelve messages to be handled when eleven throw at prefetch 10 [SC-23]",
    { skip },
    () =>
      onRabbit("sc23", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const mq = await scene.connect();
        const last = deferred();
        await mq.consume<number>(queue, ({ payload }) => {
          if (payload < 11) throw new Error("no");
          last.resolve();
        }, { prefetch: 10 });
        await mq.publisher<number>("", queue).sendAll([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        await last.promise;
        await scene.depth(`${queue}.dlq`, 11);
      }),
  );

  it(
    "holds fifty unsettled messages of a long backlog by default, and not one more [CN-32]",
    { skip },
    () =>
      onRabbit("cn32", async (scene) => {
        const queue = await scene.bare.queue("backlog");
        const mq = await scene.connect();
        const body = new Uint8Array(20_000);
        const publisher = mq.publisher("", queue, { codec: "bytes" });
        await publisher.sendAll(Array.from({ length: 500 }, () => body));
        const open = deferred();
        const consumer = await mq.consume(queue, () => open.promise, { codec: "bytes" });
        await until("a full prefetch", () => consumer.state.held === 49);
        await scene.depth(queue, 450);
        open.resolve();
        await scene.depth(queue, 0);
      }),
  );

  it(
    "acknowledges each delivery once, by itself, and only when its handler is through: there is no other mode [CN-17]",
    { skip },
    () =>
      onRabbit("cn17", async (scene) => {
        const queue = await scene.bare.queue("orders");
        const mq = await scene.connect();
        const events: BrokerEvent[] = [];
        void (async () => {
          for await (const event of mq.events()) events.push(event);
        })();
        const open = deferred();
        // Whatever another client calls it, nothing switches acknowledgements off.
        for (const name of ["noAck", "autoAck"]) {
          const options: object = { [name]: true };
          await assert.rejects(mq.consume(queue, () => open.promise, options), TypeError);
        }
        const consumer = await mq.consume(queue, () => open.promise);
        for (let n = 0; n < 5; n++) await scene.bare.put(queue, "1", JSON_BODY);
        await until("one in a handler", () => consumer.state.inFlight === 1 && consumer.state.held === 4);
        const mirror = await scene.connect();
        await consumer.close({ signal: AbortSignal.abort() }).catch(() => {});
        await scene.depth(queue, 5);
        open.resolve();
        await mirror.consume(queue, () => {});
        await scene.counted("acemq.consume.total", 5, { outcome: "acked" });
        await scene.depth(queue, 0);
        assert.deepEqual(events, []);
      }),
  );

  it(
    "counts attempts in the message: three consumers and a restart run a handler three times in all [ID-06]",
    { skip },
    () =>
      onRabbit("id06", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const attempts: number[] = [];
        const consume = async (): Promise<void> => {
          const mq = await scene.connect();
          await mq.consume(queue, ({ envelope }) => {
            attempts.push(envelope.attempt);
            throw new Error("no");
          }, { retry: fixedRetry(3, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 }) });
        };
        for (let n = 0; n < 3; n++) await consume();
        await scene.bare.put(queue, "1", JSON_BODY);
        await until("a first attempt", () => attempts.length === 1);
        // The fleet goes while the message waits on its rung, and another comes.
        await scene.quit();
        await consume();
        await scene.depth(`${queue}.dlq`, 1);
        assert.deepEqual(attempts, [1, 2, 3]);
      }),
  );

  it(
    "takes other bounds while it runs, and drops no delivery for it",
    { skip },
    () =>
      onRabbit("retune", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const mq = await scene.connect();
        await mq.publisher<number>("", queue).sendAll(Array.from({ length: 30 }, (_, n) => n));
        const open = deferred();
        const runs: number[] = [];
        const consumer = await mq.consume<number>(queue, async ({ payload }) => {
          runs.push(payload);
          await open.promise;
        }, { prefetch: 2 });
        await until("two in hand", () => consumer.state.inFlight === 1 && consumer.state.held === 1);
        await consumer.retune({ prefetch: 10, concurrency: 4 });
        await until("more in hand", () => consumer.state.inFlight === 4 && consumer.state.held >= 6);
        consumer.pause();
        open.resolve();
        await until("the handlers to end", () => consumer.state.inFlight === 0);
        assert.equal(runs.length, 4);
        consumer.resume();
        await until("all of them", () => runs.length === 30 && consumer.state.inFlight === 0);
        assert.equal(new Set(runs).size, 30);
        await scene.depth(queue, 0);
      }),
  );
});

describe("what a handler gets", () => {
  it("is every header but the reserved ones, of which only the known are fields of the envelope [ENV-01] [ENV-03]", {
    skip,
  }, () =>
    onRabbit("env01", async (scene) => {
      const queue = await scene.bare.queue("orders", QUORUM);
      const mq = await scene.connect();
      const messages: Message[] = [];
      await mq.consume(queue, (message) => {
        messages.push(message);
        if (message.envelope.attempt < 3) throw new Error("no");
      }, { retry: exponentialRetry(3, { initialDelayMs: 500, brokerWaitThresholdMs: 1_000, jitterFactor: 0 }) });
      await scene.bare.put(queue, "1", {
        ...JSON_BODY,
        headers: {
          "x-acemq-foo": "dropped",
          "acemq-foo": "kept",
          "x-acemq-route": "validate,reserve,dispatch",
          "x-acemq-route-position": 1,
          "x-acemq-route-id": "run-7",
          "x-acemq-claim": "objects/7",
        },
      });
      await until("three attempts", () => messages.length === 3);
      for (const { headers, envelope } of messages) {
        assert.deepEqual([headers["acemq-foo"], headers["x-acemq-foo"]], ["kept", undefined]);
        assert.deepEqual(envelope.route, { steps: ["validate", "reserve", "dispatch"], position: 1, runId: "run-7" });
        assert.equal(envelope.claim, "objects/7");
      }
      assert.deepEqual(messages.map(({ envelope }) => envelope.attempt), [1, 2, 3]);
    }));

  it(
    "has the types of the contract, whatever integer width or byte string came in [ENV-07]",
    { skip },
    () =>
      onRabbit("env07", async (scene) => {
        const queue = await scene.bare.queue("orders");
        const mq = await scene.connect();
        const messages: Message[] = [];
        await mq.consume(queue, (message) => void messages.push(message));
        const bytes = (value: string): Buffer => Buffer.from(value);
        for (const width of ["int8", "int16", "int32", "int64"]) {
          const number = (value: number): object => ({ "!": width, value });
          await scene.bare.put(queue, "1", {
            ...JSON_BODY,
            headers: {
              "x-acemq-id": bytes("m-1"),
              "x-acemq-type": bytes("order.placed"),
              "x-acemq-version": number(2),
              "x-acemq-attempt": number(3),
              "x-acemq-first-seen": { "!": "int64", value: 1_790_000_000_000 },
              "x-acemq-correlation": bytes("cart-1"),
              tenant: bytes("north"),
            },
          });
        }
        await until("all of them", () => messages.length === 4);
        for (const { envelope, headers } of messages) {
          assert.deepEqual(
            [
              envelope.id,
              envelope.type,
              envelope.version,
              envelope.attempt,
              envelope.firstSeenMs,
              envelope.correlationId,
            ],
            ["m-1", "order.placed", 2, 3, 1_790_000_000_000, "cart-1"],
          );
          assert.equal(headers["tenant"], "north");
        }
      }),
  );

  it(
    "can be pulled one by one, with everything a half-finished message carries [ENV-13]",
    { skip },
    () =>
      onRabbit("env13", async (scene) => {
        const queue = await scene.bare.queue("orders.dlq");
        const mq = await scene.connect();
        const headers = {
          "x-acemq-route": "a,b",
          "x-acemq-route-position": 1,
          "x-acemq-error": "no",
          "acemq-routing-slip": "{}",
        };
        for (let n = 0; n < 3; n++) await scene.bare.put(queue, `${n}`, { ...JSON_BODY, headers });
        for await (const delivery of mq.deliveries<number>(queue, { declare: false })) {
          assert.deepEqual(delivery.envelope.route, { steps: ["a", "b"], position: 1, runId: undefined });
          assert.deepEqual([delivery.envelope.error, delivery.headers["acemq-routing-slip"]], ["no", "{}"]);
          if (delivery.payload === 1) break;
        }
        await scene.depth(queue, 3);
        assert.equal(await scene.bare.depth(`${queue}.dlq`), undefined);
      }),
  );
});

describe("a subscription that ends from outside", () => {
  it("because its queue was deleted is reported, makes health degraded, and comes back with the queue [CN-09]", {
    skip,
  }, () =>
    onRabbit("cn09", async (scene) => {
      const queue = await scene.bare.queue("orders");
      const mq = await scene.connect();
      const events: string[] = [];
      void (async () => {
        for await (const event of mq.events()) events.push(event.type);
      })();
      const handled: unknown[] = [];
      const consumer = await mq.consume(queue, ({ payload }) => void handled.push(payload));
      await scene.bare.remove(queue);
      await until("the loss", () => events.includes("consumer_lost"));
      const { status, parts } = await mq.health();
      assert.deepEqual([status, consumer.state.live], ["degraded", false]);
      assert.equal((parts?.["consumers"] as { detail?: string }).detail, `not consuming: ${queue}`);
      await mq.declare(topology().queue(queue, { type: "classic" }));
      await until("the return", () => events.includes("consumer_recovered"));
      await scene.bare.put(queue, "7", JSON_BODY);
      await until("a message", () => handled.length === 1);
      assert.equal((await mq.health()).status, "up");
    }));

  it(
    "because the connection was lost never acknowledges on the next one: every message is handled, none skipped [CON-09] [CN-11]",
    {
      skip,
    },
    () =>
      onRabbit("con09", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const tap = await WireTap.open();
        const mq = await scene.connect({ url: tap.url });
        const events: BrokerEvent[] = [];
        void (async () => {
          for await (const event of mq.events()) events.push(event);
        })();
        const first = deferred();
        const runs = new Map<unknown, number>();
        const consumer = await mq.consume(queue, async ({ payload }) => {
          const run = (runs.get(payload) ?? 0) + 1;
          runs.set(payload, run);
          if (run === 1) await first.promise;
        }, { concurrency: 5, prefetch: 5 });
        for (let n = 0; n < 10; n++) await scene.bare.put(queue, `${n}`, JSON_BODY);
        await until("five in a handler", () => consumer.state.inFlight === 5);
        tap.cut();
        await until("the way back", () => events.some(({ type }) => type === "recovered") && consumer.state.live);
        first.resolve();
        await until("all ten", () => runs.size === 10 && consumer.state.inFlight === 0);
        await scene.depth(queue, 0);
        assert.ok([...runs.values()].every((times) => times <= 2));
        assert.deepEqual(events.filter(({ type }) => type === "consumer_lost"), []);
        await mq.close();
        assert.deepEqual([await scene.bare.depth(queue), await scene.bare.depth(`${queue}.dlq`)], [0, 0]);
        await tap.close();
      }),
  );
});

describe("a queue that exists with other arguments", () => {
  it(
    "stops the consumer at once with name, argument and both values, and no other channel is hurt [CN-31]",
    { skip },
    () =>
      onRabbit("cn31", async (scene) => {
        const mq = await scene.connect();
        const healthy = await scene.bare.queue("healthy");
        const handled: unknown[] = [];
        await mq.consume(healthy, ({ payload }) => void handled.push(payload));
        const cases: readonly (readonly [suffix: string, args: object, words: RegExp])[] = [
          [".dlq", { "x-queue-type": "quorum" }, /inequivalent arg 'x-queue-type'.*(classic|none).*quorum/],
          [".parked", { "x-message-ttl": 5_000 }, /inequivalent arg 'x-message-ttl'.*none.*5000/],
          [".retry.1s", { "x-message-ttl": 2_000 }, /inequivalent arg 'x-(message-ttl|dead-letter-exchange)'/],
          [".retry.1s", {
            "x-message-ttl": 1_000,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": "elsewhere",
          }, /inequivalent arg 'x-dead-letter-exchange'.*acemq.retry/],
        ];
        for (const [index, [suffix, args, words]] of cases.entries()) {
          const queue = await scene.bare.queue(`orders${index}`);
          await scene.bare.declare(`${queue}${suffix}`, args as Record<string, unknown>);
          const retry = fixedRetry(2, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 });
          await assert.rejects(mq.consume(queue, () => {}, { retry }), (error: Error & { code?: string }) => {
            assert.deepEqual([error.name, error.code], ["TopologyError", "ACEMQ_TOPOLOGY_DRIFT"]);
            assert.ok(error.message.includes(`queue "${queue}${suffix}"`));
            assert.match(error.message, words);
            return true;
          });
        }
        await mq.publisher("", healthy).send("still there");
        await until("the other consumer", () => handled.length === 1);
        assert.equal((await mq.health()).status, "up");
      }),
  );
});

describe("interceptors", () => {
  it(
    "that add a header on publishing have it on the dead letter too",
    { skip },
    () =>
      onRabbit("interceptors", async (scene) => {
        const queue = await scene.bare.queue("orders");
        const mq = await scene.connect({
          interceptors: {
            publish: [(context, next) => next({ ...context, headers: { ...context.headers, tenant: "north" } })],
            consume: [
              (message, next) =>
                message.headers["tenant"] === "north" ? next(message) : Promise.resolve(park("whose?")),
            ],
          },
        });
        await mq.consume(queue, () => reject("no"));
        await mq.publisher("", queue).send(1);
        const dead = await scene.bare.take(`${queue}.dlq`);
        assert.deepEqual([dead.table["tenant"], dead.table["x-acemq-error"]], ["north", "the handler rejected it: no"]);
        await scene.bare.put(queue, "1", JSON_BODY);
        assert.equal(
          (await scene.bare.take(`${queue}.parked`)).table["x-acemq-error"],
          "the handler parked it: whose?",
        );
      }),
  );
});
