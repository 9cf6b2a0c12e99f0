/** The ladder on RabbitMQ: contract core 4. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { accept, retry } from "../../src/consume/ack.ts";
import { exponentialRetry, fixedRetry, type RetryPolicy } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { onRabbit } from "../support/rabbit_scene.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import { deferred, until } from "../support/until.ts";

const skip = await missing("rabbitmq");
const QUORUM = { "x-queue-type": "quorum" };
const JSON_BODY = { contentType: "application/json" };

/** A rung of one second for every wait. */
function onRung(maxAttempts: number): RetryPolicy {
  return fixedRetry(maxAttempts, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 });
}

describe("a message that fails every time", () => {
  it(
    "is tried as often as the policy says, then dead-lettered with the count and the cause, and no trace is left [RET-15]",
    {
      skip,
    },
    () =>
      onRabbit("ret15", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const mq = await scene.connect();
        const attempts: number[] = [];
        await mq.consume(queue, ({ envelope }) => {
          attempts.push(envelope.attempt);
          return retry(new TypeError("the account is locked"));
        }, { retry: exponentialRetry(4, { initialDelayMs: 500, jitterFactor: 0, brokerWaitThresholdMs: 1_000 }) });
        await scene.bare.put(queue, `"mine"`, JSON_BODY);
        const dead = await scene.bare.take(`${queue}.dlq`);
        assert.deepEqual(attempts, [1, 2, 3, 4]);
        assert.deepEqual([dead.table["x-acemq-attempt"], dead.table["x-acemq-error"]], [
          4,
          "exhausted 4 attempts: TypeError: the account is locked",
        ]);
        const left = ["", ".parked", ".retry.1s", ".retry.2s"].map((suffix) => scene.bare.depth(`${queue}${suffix}`));
        assert.deepEqual(await Promise.all(left), [0, 0, 0, 0]);
        assert.equal(scene.sink.count("acemq.messages.retried.total"), 3);
        assert.equal(scene.sink.count("acemq.messages.dead.lettered.total", { outcome: "dead_lettered" }), 1);
      }),
  );

  it(
    "does not hold up ten good ones at prefetch 1 while it waits on its rung",
    { skip },
    () =>
      onRabbit("prefetch1", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const mq = await scene.connect();
        const handled: string[] = [];
        const tried = deferred();
        await mq.consume<string>(queue, ({ payload, envelope }) => {
          handled.push(payload);
          if (payload === "bad" && envelope.attempt === 1) throw new Error("no");
          if (payload === "bad") tried.resolve();
        }, { retry: onRung(2), prefetch: 1 });
        await mq.publisher<string>("", queue).sendAll(["bad", ..."abcdefghij"]);
        await tried.promise;
        assert.deepEqual(handled, ["bad", ..."abcdefghij", "bad"]);
      }),
  );

  it("is tried again whatever process has it: one is killed between attempts, the next goes on counting [RET-04]", {
    skip,
  }, () =>
    onRabbit("ret04", async (scene) => {
      const queue = await scene.bare.queue("orders", QUORUM);
      const [first, second] = [program(queue), program(queue)] as const;
      try {
        await until("both to consume", () => [first, second].every(({ lines }) => lines.includes("consuming")));
        await scene.bare.put(queue, "1", JSON_BODY);
        // Struck before the original is acknowledged it would leave two messages: that is another story.
        const struck = await until("a first attempt", () =>
          [first, second].find(({ lines }) => lines.includes("retried")));
        struck.child.kill("SIGKILL");
        await scene.depth(`${queue}.dlq`, 1);
        const survivor = struck === first ? second : first;
        await until("the last word", () =>
          survivor.lines.includes("dead_lettered"));
        assert.deepEqual(struck.lines, ["consuming", "1", "retried"]);
        assert.deepEqual(survivor.lines, ["consuming", "2", "retried", "3", "dead_lettered"]);
      } finally {
        for (const { child } of [first, second]) child.kill("SIGKILL");
        await Promise.all([first.over, second.over]);
      }
    }));
});

interface Program {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly over: Promise<unknown>;
}

/** Starts the failing consumer as a process of the same runtime. */
function program(queue: string): Program {
  const script = fileURLToPath(new URL("../support/programs/fail_every_attempt.ts", import.meta.url));
  const run = "Deno" in globalThis ? ["run", "--no-check", "-A"] : [];
  const child = spawn(process.execPath, [...run, script, AMQP_URL, queue], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  return { child, lines, over: once(child, "close") };
}

describe("a wait on the broker", () => {
  it(
    "needs nobody: the consumer goes, the message stays on its rung and comes home by itself [RET-14]",
    { skip },
    () =>
      onRabbit("ret14", async (scene) => {
        const queue = scene.bare.queueName("orders");
        const policy = fixedRetry(2, { delayMs: 5_000, brokerWaitThresholdMs: 1_000 });
        const mq = await scene.connect();
        await mq.declare(topology().queue(queue, { retry: policy }));
        const consumer = await mq.consume(queue, () => Promise.reject(new Error("no")), { retry: policy });
        await scene.bare.put(queue, "1", JSON_BODY);
        await scene.depth(`${queue}.retry.5s`, 1);
        const started = performance.now();
        await consumer.close();
        await mq.close();
        const { consumerCount } = await scene.bare.once((channel) => channel.checkQueue(`${queue}.retry.5s`));
        assert.deepEqual([await scene.bare.depth(queue), consumerCount], [0, 0]);
        const home = await scene.bare.take(queue);
        assert.ok(performance.now() - started > 4_000);
        const [death] = home.table["x-death"] as readonly { readonly reason: string; readonly queue: string }[];
        assert.deepEqual([home.table["x-acemq-attempt"], death?.reason, death?.queue], [
          2,
          "expired",
          `${queue}.retry.5s`,
        ]);
      }),
  );

  it(
    "ends in the queue it began in, by way of the retry exchange under the queue's own name [RET-01]",
    { skip },
    () =>
      onRabbit("ret01", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const mq = await scene.connect();
        const consumer = await mq.consume(queue, () => Promise.reject(new Error("no")), { retry: onRung(2) });
        await consumer.close();
        const { outcome } = await mq.publisher("acemq.retry", queue).send("straight");
        assert.deepEqual([outcome, await scene.bare.depth(queue)], ["confirmed", 1]);
        await scene.bare.take(queue);
        await scene.bare.put(`${queue}.retry.1s`, `"by the rung"`, JSON_BODY);
        const home = await scene.bare.take(queue);
        assert.deepEqual([home.exchange, home.routingKey], ["acemq.retry", queue]);
      }),
  );

  it(
    "whose rung is gone is taken in the consumer, counted by name, and the message is never acknowledged into nothing [RET-02]",
    {
      skip,
    },
    () =>
      onRabbit("ret02", async (scene) => {
        for (const confirms of [true, false]) {
          const queue = await scene.bare.queue(`orders-${confirms}`, QUORUM);
          const mq = await scene.connect({ confirms });
          const attempts: [number, number][] = [];
          const again = deferred();
          await mq.consume(queue, ({ envelope }) => {
            attempts.push([envelope.attempt, performance.now()]);
            if (envelope.attempt === 1) throw new Error("no");
            again.resolve();
          }, { retry: onRung(2) });
          await scene.bare.remove(`${queue}.retry.1s`);
          await scene.bare.put(queue, "1", JSON_BODY);
          await again.promise;
          const [[, first] = [0, 0], [, second] = [0, 0]] = attempts;
          assert.deepEqual(attempts.map(([attempt]) => attempt), [1, 2]);
          assert.ok(second - first >= 990, `${second - first} ms`);
          assert.equal(scene.sink.count("acemq.retry.rung.missing", { queue, rung: `${queue}.retry.1s` }), 1);
          assert.equal(await scene.bare.depth(`${queue}.retry.1s`), undefined);
        }
      }),
  );

  it(
    "is declared so that any other library declares the same rung, and no other one [RET-11]",
    { skip },
    () =>
      onRabbit("ret11", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const mq = await scene.connect();
        await mq.consume(queue, () => {}, { retry: onRung(2) });
        const rung = `${queue}.retry.1s`;
        const literal = {
          "x-message-ttl": 1_000,
          "x-dead-letter-exchange": "acemq.retry",
          "x-dead-letter-routing-key": queue,
        };
        await scene.bare.declare(rung, literal);
        await scene.bare.declare(rung, { ...literal, "x-message-ttl": { "!": "int64", value: 1_000 } });
        for (
          const other of [
            { ...literal, "x-queue-type": "quorum" },
            { ...literal, "x-dead-letter-exchange": "" },
            { ...literal, "x-message-ttl": 1_001 },
            { ...literal, "x-expires": 60_000 },
          ]
        ) {
          await assert.rejects(scene.bare.declare(rung, other), /406/);
        }
      }),
  );

  it(
    "is never asked for below the threshold: a short wait makes no rung",
    { skip },
    () =>
      onRabbit("norung", async (scene) => {
        const queue = await scene.bare.queue("orders");
        const mq = await scene.connect();
        await mq.consume(queue, () => {}, { retry: fixedRetry(3, { delayMs: 1_000 }) });
        await mq.consume(queue, () => {}, { retry: fixedRetry(3, { delayMs: 3_600_000, brokerWaitThresholdMs: 0 }) });
        for (const rung of ["1s", "1h"]) assert.equal(await scene.bare.depth(`${queue}.retry.${rung}`), undefined);
      }),
  );

  it(
    "a handler asks for is taken on the rung the consumer declared for it",
    { skip },
    () =>
      onRabbit("rungsms", async (scene) => {
        const queue = await scene.bare.queue("orders", QUORUM);
        const mq = await scene.connect();
        const over = deferred();
        await mq.consume(queue, ({ envelope, headers }) => {
          if (envelope.attempt === 1) return retry("busy", { delayMs: 2_000 });
          const [death] = headers["x-death"] as readonly { readonly queue: string }[];
          assert.equal(death?.queue, `${queue}.retry.2s`);
          over.resolve();
          return accept();
        }, { retry: fixedRetry(2, { brokerWaitThresholdMs: 2_000 }), rungsMs: [2_000] });
        await scene.bare.put(queue, "1", JSON_BODY);
        await over.promise;
      }),
  );
});

describe("the age of a message", () => {
  it(
    "counts from its first publish, and only where a limit is set [RET-08]",
    { skip },
    () =>
      onRabbit("ret08", async (scene) => {
        const yearAgo = Date.now() - 365 * 86_400_000;
        const headers = { "x-acemq-first-seen": { "!": "int64", value: yearAgo } };
        for (const [maxMessageAgeMs, attemptsRun] of [[0, 2], [-5, 2], [Date.now() - yearAgo, 1]] as const) {
          const queue = await scene.bare.queue(`orders${maxMessageAgeMs}`);
          const mq = await scene.connect();
          let runs = 0;
          await mq.consume(queue, () => {
            runs++;
            throw new Error("no");
          }, { retry: fixedRetry(2, { delayMs: 0, maxMessageAgeMs }) });
          await scene.bare.put(queue, "1", { ...JSON_BODY, headers });
          const dead = await scene.bare.take(`${queue}.dlq`);
          assert.equal(runs, attemptsRun);
          const words = attemptsRun === 1
            ? `exceeded the maximum message age of ${maxMessageAgeMs} ms`
            : "exhausted 2 attempts";
          assert.equal(dead.table["x-acemq-error"], `${words}: Error: no`);
          assert.equal(dead.table["x-acemq-first-seen"], yearAgo);
        }
      }),
  );
});
