/** What the broker wrote for itself is never published again: contract core 1.2, on RabbitMQ with real rungs. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import type { Connection } from "../../src/connection.ts";
import { retry } from "../../src/consume/ack.ts";
import type { Message } from "../../src/message/message.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { DEATHS, MALFORMED_DEATHS, QUEUE_TYPES, republished } from "../support/broker_bookkeeping.ts";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq");
const JSON_BODY = { contentType: "application/json" };

/** One second on a rung. */
const RUNG = fixedRetry(2, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 });
/** No wait at all, in the consumer. */
const AT_ONCE = fixedRetry(2, { delayMs: 0 });

/** A consumer whose handler fails first attempts. */
async function failFirst(mq: Connection, queue: string, policy = RUNG): Promise<Message[]> {
  const messages: Message[] = [];
  await mq.consume(queue, (message) => {
    messages.push(message);
    return message.envelope.attempt === 1 ? retry("busy") : undefined;
  }, { retry: policy });
  return messages;
}

function cameHome(messages: readonly Message[]): Promise<boolean> {
  return until("the way home from the rung", () => messages.some(({ envelope }) => envelope.attempt === 2));
}

/** Who puts a dead letter back into its queue. */
const WAYS: Readonly<Record<string, (scene: RabbitScene, mq: Connection, queue: string) => Promise<void>>> = {
  "by another program": async ({ bare }, _, queue) => {
    const dead = await bare.take(`${queue}.dlq`);
    await bare.put(queue, dead.body, republished(dead));
  },
  "by a replay": async (_, mq, queue) => {
    assert.deepEqual(await mq.replay(queue), { moved: 1, skipped: 0, reason: "drained" });
  },
};

describe("a message the broker had dead-lettered", () => {
  for (const [way, putBack] of Object.entries(WAYS)) {
    for (const [type, args, death] of DEATHS) {
      it(
        `comes home from its rung after it was put back ${way} (${death.reason}, ${type}) [BRK-01]`,
        { skip },
        () =>
          onRabbit("brk01", async (scene) => {
            const { bare } = scene;
            const queue = bare.queueName("orders");
            await bare.declare(queue, {
              ...args,
              ...death.args,
              "x-dead-letter-exchange": "acemq.dlx",
              "x-dead-letter-routing-key": `${queue}.dlq`,
            });
            const mq = await scene.connect();
            await (await mq.consume(queue, () => {})).close();

            await bare.put(queue, `"mine"`, { ...JSON_BODY, messageId: "m-1" });
            await death.kill(bare, queue);
            const dead = await bare.peek(`${queue}.dlq`);
            const [entry] = dead.table["x-death"] as readonly { readonly reason: string; readonly queue: string }[];
            assert.deepEqual([entry?.reason, entry?.queue], [death.reason, queue]);

            const messages = await failFirst(mq, queue);
            await scene.depth(`${queue}.dlq`, 1);
            await putBack(scene, mq, queue);
            await cameHome(messages);
            assert.deepEqual(messages.map(({ payload, envelope }) => [payload, envelope.attempt]), [["mine", 1], [
              "mine",
              2,
            ]]);
            const deaths = messages[1]?.headers["x-death"] as readonly { readonly queue: string }[];
            assert.deepEqual(deaths.map(({ queue }) => queue), [`${queue}.retry.1s`]);
          }),
      );
    }
  }

  it(
    "would be dropped without a trace if its history went along: the danger is real",
    { skip },
    () =>
      onRabbit("brk01", async (scene) => {
        const { bare } = scene;
        const queue = bare.queueName("orders");
        await bare.declare(queue, {
          "x-message-ttl": 300,
          "x-dead-letter-exchange": "acemq.dlx",
          "x-dead-letter-routing-key": `${queue}.dlq`,
        });
        const mq = await scene.connect();
        await (await mq.consume(queue, () => {}, { retry: RUNG })).close();
        await bare.put(queue, `"mine"`, JSON_BODY);
        const dead = await bare.take(`${queue}.dlq`);
        await bare.put(`${queue}.retry.1s`, dead.body, republished(dead));
        await bare.put(`${queue}.retry.1s`, `"other"`, JSON_BODY);
        const survivor = await bare.take(`${queue}.dlq`);
        assert.equal(Buffer.from(survivor.body).toString(), `"other"`);
        const depths = ["", ".dlq", ".retry.1s"].map((suffix) => bare.depth(`${queue}${suffix}`));
        assert.deepEqual(await Promise.all(depths), [0, 0, 0]);
      }),
  );
});

describe("a message with copies", () => {
  for (const header of ["CC", "BCC"]) {
    it(
      `is not copied again by its retries, its rung or its dead letter (${header}) [BRK-02]`,
      { skip },
      () =>
        onRabbit("brk02", async (scene) => {
          const { bare } = scene;
          const [queue, other] = [await bare.queue("orders"), await bare.queue("other")];
          const mq = await scene.connect();
          let calls = 0;
          await mq.consume(queue, () => {
            calls++;
            return retry("busy", { delayMs: calls === 1 ? 0 : 1_000 });
          }, { retry: fixedRetry(3, { delayMs: 0, brokerWaitThresholdMs: 1_000 }), rungsMs: [1_000] });
          await bare.put(queue, "1", { ...JSON_BODY, headers: { [header]: [other] } });
          const dead = await bare.take(`${queue}.dlq`);
          assert.deepEqual([calls, dead.table["x-acemq-attempt"], dead.table["CC"]], [3, 3, undefined]);
          assert.equal(await bare.depth(other), 1);
        }),
    );
  }
});

describe("the count of redeliveries", () => {
  it("is the broker's: a copy begins without one [BRK-03]", { skip }, () =>
    onRabbit("brk03", async (scene) => {
      const { bare } = scene;
      for (const policy of [RUNG, AT_ONCE]) {
        const queue = await bare.queue(`orders${policy.initialDelayMs}`, { "x-queue-type": "quorum" });
        const mq = await scene.connect();
        await bare.put(queue, "1", JSON_BODY);
        await bare.peek(queue);
        await bare.peek(queue);
        const messages = await failFirst(mq, queue, policy);
        await cameHome(messages);
        assert.deepEqual(messages.map(({ headers }) => headers["x-delivery-count"]), [2, undefined]);
      }
    }));
});

describe("a dead-letter history that only a client can have written so", () => {
  for (const [type, args] of QUEUE_TYPES) {
    it(`does not cost the message its way home (${type}) [BRK-05]`, { skip }, () =>
      onRabbit("brk05", async (scene) => {
        const { bare } = scene;
        const queue = await bare.queue("orders", args);
        const mq = await scene.connect();
        const home: unknown[] = [];
        await mq.consume(queue, ({ payload, envelope }) => {
          if (envelope.attempt === 1) throw new Error("no");
          home.push(payload);
        }, { retry: RUNG });
        for (const [name, value] of MALFORMED_DEATHS) {
          await bare.put(queue, JSON.stringify(name), { ...JSON_BODY, headers: { "x-death": value } });
        }
        await until("all of them", () => home.length === MALFORMED_DEATHS.length);
        assert.deepEqual(home.toSorted(), MALFORMED_DEATHS.map(([name]) => name).toSorted());
      }));
  }

  it(
    "is not set aside with its message; one that is well formed is",
    { skip },
    () =>
      onRabbit("brk05", async (scene) => {
        const { bare } = scene;
        const queue = await bare.queue("orders");
        const mq = await scene.connect();
        await mq.consume(queue, () => Promise.reject(new Error("no")));
        for (const [, value] of MALFORMED_DEATHS) {
          await bare.put(queue, "1", {
            ...JSON_BODY,
            headers: { "x-death": value, "x-first-death-reason": "rejected" },
          });
          const { table } = await bare.take(`${queue}.dlq`);
          assert.deepEqual([table["x-death"], table["x-first-death-reason"]], [undefined, "rejected"]);
        }
        const wellFormed = [{ queue: "q", reason: "rejected", count: { "!": "int64", value: 2 } }];
        await bare.put(queue, "1", { ...JSON_BODY, headers: { "x-death": wellFormed } });
        assert.deepEqual((await bare.take(`${queue}.dlq`)).table["x-death"], [{
          queue: "q",
          reason: "rejected",
          count: 2,
        }]);
      }),
  );
});

describe("an error text of any length", () => {
  it(
    "never keeps a message from being set aside: it is cut at a character, to what fits [BRK-06] [SC-19]",
    { skip },
    () =>
      onRabbit("brk06", async (scene) => {
        const { bare } = scene;
        const queue = await bare.queue("orders", { "x-queue-type": "quorum" });
        const mq = await scene.connect();
        const said = "ü🧀".repeat(60_000);
        await mq.consume(queue, () => {
          throw Object.assign(new Error(said), { stack: `Error: ${said}`.repeat(2) });
        });
        const publisher = mq.publisher("", queue);
        const cases = [[0, 8_187], [100_000, 8_187], [122_000, 8_100], [130_000, 500], [130_600, 1]] as const;
        for (const [otherBytes, leastBytes] of cases) {
          await publisher.send(1, { headers: { "x-large": "h".repeat(otherBytes) } });
          const { table } = await bare.take(`${queue}.dlq`);
          const words = String(table["x-acemq-error"]);
          const bytes = Buffer.byteLength(words);
          assert.ok(`exhausted 1 attempt: Error: ${said}`.startsWith(words) && words.isWellFormed());
          assert.ok(bytes >= leastBytes && bytes <= 8_192, `${bytes} beside ${otherBytes}`);
          assert.equal(table["x-large"], "h".repeat(otherBytes));
        }
        assert.equal(scene.sink.count("acemq.messages.set.aside.failed"), 0);
      }),
  );
});
