/** Declaring on RabbitMQ: contract core 5. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reject } from "../../src/consume/ack.ts";
import { exponentialRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { onRabbit } from "../support/rabbit_scene.ts";
import { missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq");
const QUORUM = { "x-queue-type": "quorum" };
const JSON_BODY = { contentType: "application/json" };

/** Rungs of 1, 2 and 4 seconds. */
const LADDER = exponentialRetry(4, { brokerWaitThresholdMs: 1_000 });

describe("a declared queue with dead-lettering on RabbitMQ", () => {
  it(
    "keeps what the broker drops by itself, quorum or classic [TOP-01]",
    { skip },
    () =>
      onRabbit("top01", async (scene) => {
        const mq = await scene.connect();
        for (const type of ["quorum", "classic"] as const) {
          const queue = scene.bare.queueName(type);
          await mq.declare(topology().queue(queue, { type, deadLetter: true, arguments: { "x-max-length": 1 } }));
          await mq.publisher<string>("", queue).sendAll(["first", "second"]);
          const dropped = await scene.bare.take(`${queue}.dlq`);
          const [death] = dropped.table["x-death"] as readonly { readonly reason: string }[];
          assert.deepEqual([new TextDecoder().decode(dropped.body), death?.reason], [`"first"`, "maxlen"]);
          await scene.bare.once(async (channel) => {
            const message = await channel.get(queue);
            if (message !== false) channel.nack(message, false, false);
          });
          assert.equal(new TextDecoder().decode((await scene.bare.take(`${queue}.dlq`)).body), `"second"`);
        }
      }),
  );

  it(
    "is what the other libraries declare, argument for argument, and nothing else [TOP-06]",
    { skip },
    () =>
      onRabbit("top06", async (scene) => {
        const { bare } = scene;
        const queue = bare.queueName("orders");
        const mq = await scene.connect();
        await mq.declare(topology().queue(queue, { deadLetter: true, retry: LADDER }));
        const literal = {
          ...QUORUM,
          "x-dead-letter-exchange": "acemq.dlx",
          "x-dead-letter-routing-key": `${queue}.dlq`,
        };
        await bare.declare(queue, literal);
        for (const suffix of [".dlq", ".parked"]) await bare.declare(`${queue}${suffix}`, {});
        const { "x-queue-type": _, ...withoutType } = literal;
        await assert.rejects(bare.declare(queue, withoutType), /406.*x-queue-type|x-queue-type.*406/s);
        await assert.rejects(bare.declare(queue, QUORUM), /406/);
        for (const suffix of [".dlq", ".parked", ".retry.1s"]) {
          await assert.rejects(bare.declare(`${queue}${suffix}`, QUORUM), /406/);
        }
        for (const name of ["acemq.dlx", "acemq.retry"]) {
          await bare.once((channel) => channel.assertExchange(name, "direct", { durable: true }));
          await assert.rejects(bare.once((channel) => channel.assertExchange(name, "topic", { durable: true })), /406/);
        }
      }),
  );

  it(
    "is the same to a consumer that starts after it, and to one that was there before it",
    { skip },
    () =>
      onRabbit("order", async (scene) => {
        const mq = await scene.connect();
        const early = await scene.bare.queue("early", QUORUM);
        await mq.consume(early, () => {}, { retry: LADDER });
        await mq.declare(topology().queue(early, { retry: LADDER }));
        const late = scene.bare.queueName("late");
        await mq.declare(topology().queue(late, { deadLetter: true, retry: LADDER }));
        await mq.consume(late, () => {}, { retry: LADDER });
      }),
  );
});

describe("a declared topology on RabbitMQ", () => {
  it("routes as its bindings say", { skip }, () =>
    onRabbit("routes", async (scene) => {
      const { bare } = scene;
      const mq = await scene.connect();
      const [shop, all, placed] = [bare.exchangeName("shop"), bare.queueName("all"), bare.queueName("placed")];
      await mq.declare(
        topology().exchange(shop, "topic").queue(all).queue(placed)
          .bind(all, { exchange: shop, routingKey: "#" })
          .bind(placed, { exchange: shop, routingKey: "order.*" }),
      );
      for (const key of ["order.placed", "order.placed.late", "cart"]) await mq.publisher(shop, key).send(1);
      assert.deepEqual([await bare.depth(all), await bare.depth(placed)], [3, 1]);
    }));

  it(
    "is asked about without creating it, and not begun when a part is there otherwise; the connection goes on [TOP-03] [TOP-17]",
    { skip },
    () =>
      onRabbit("top17", async (scene) => {
        const { bare } = scene;
        const mq = await scene.connect();
        const [drifted, fresh] = [await bare.queue("drifted", { "x-max-length": 10 }), bare.queueName("fresh")];
        const wanted = topology().queue(fresh, { deadLetter: true }).queue(drifted, { type: "classic" });
        await assert.rejects(mq.declare(wanted), (error: Error & { code?: string; findings?: readonly string[] }) => {
          assert.deepEqual([error.name, error.code, error.findings?.length], [
            "TopologyError",
            "ACEMQ_TOPOLOGY_DRIFT",
            1,
          ]);
          assert.match(error.findings?.[0] ?? "", new RegExp(`^queue "${drifted}": PRECONDITION_FAILED.*x-max-length`));
          return true;
        });
        for (const name of [fresh, `${fresh}.dlq`, `${fresh}.parked`]) assert.equal(await bare.depth(name), undefined);
        await mq.declare(topology().queue(fresh));
        assert.equal((await mq.publisher("", fresh).send(1)).outcome, "confirmed");
      }),
  );

  it(
    "may hold a queue of the connection's own, which is classic and goes with it; as quorum it is refused here [TOP-07]",
    { skip },
    () =>
      onRabbit("top07", async (scene) => {
        const { bare } = scene;
        const queue = bare.queueName("mine");
        const mq = await scene.connect();
        await mq.declare(topology().queue(queue, { exclusive: true }));
        const handled: unknown[] = [];
        await mq.consume(queue, ({ payload }) => void handled.push(payload));
        await mq.publisher("", queue).send(1);
        await until("a message", () => handled.length === 1);
        await assert.rejects(bare.declare(queue), /405/);
        assert.throws(() => topology().queue(`${queue}2`, { exclusive: true, type: "quorum" }), {
          name: "TypeError",
          message:
            `Cannot add queue "${queue}2": an exclusive, auto-delete or transient queue must be classic, found quorum`,
        });
        await mq.close();
        await until("the queue to go", async () => await bare.depth(queue) === undefined);
      }),
  );

  it(
    "is declared by two connections at the same time without a quarrel",
    { skip },
    () =>
      onRabbit("race", async (scene) => {
        const connections = await Promise.all([1, 2, 3].map(() => scene.connect()));
        const queue = scene.bare.queueName("orders");
        const wanted = topology().queue(queue, { deadLetter: true, retry: LADDER });
        await Promise.all(connections.map((mq) => mq.declare(wanted)));
        await Promise.all(connections.map((mq) => mq.consume(queue, () => reject("no"), { retry: LADDER })));
        await scene.bare.put(queue, "1", JSON_BODY);
        await scene.depth(`${queue}.dlq`, 1);
      }),
  );
});
