/** A schema beside the codec, from one end to the other. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import { openConnection } from "../../src/connection.ts";
import { EncodeError, PublishBatchError, RetryableError } from "../../src/errors.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { MemoryWorld } from "../support/memory_world.ts";
import { BareClient } from "../support/rabbitmq.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const Order = z.object({ id: z.string(), totalCents: z.int() });
const skip = await missing("rabbitmq");

async function inWorld(body: (world: MemoryWorld) => Promise<void>): Promise<void> {
  const world = new MemoryWorld();
  try {
    await body(world);
  } finally {
    await world.close();
  }
}

describe("a publisher with a schema", () => {
  it("sends nothing that does not fit, alone, in a batch, or changed by an interceptor", () =>
    inWorld(async (world) => {
      const mq = await world.withQueue("orders");
      const placed = mq.publisher("", "orders", { schema: Order });
      const misfit = { id: "A-2", totalCents: 1.5 };
      await assert.rejects(placed.send(misfit), EncodeError);
      await assert.rejects(placed.prepare(misfit), EncodeError);
      await assert.rejects(placed.sendAll([{ id: "A-1", totalCents: 1 }, misfit]), (error: unknown) => {
        assert.ok(error instanceof PublishBatchError);
        assert.deepEqual(error.results.map(({ status }) => status), ["sent", "failed"]);
        return true;
      });
      const spoilt = mq.publisher("", "orders", {
        schema: Order,
        interceptors: [(context, next) => next({ ...context, payload: "spoilt" })],
      });
      await assert.rejects(spoilt.send({ id: "A-3", totalCents: 3 }), EncodeError);
      assert.equal(world.depth("orders"), 1);
    }));

  it("is refused where the schema is none, before anything is asked of the broker", () =>
    inWorld(async (world) => {
      const mq = await world.withQueue("orders");
      const refusal = { name: "TypeError", message: /^Cannot use option 'schema'/ };
      assert.throws(() => mq.publisher("", "orders", { schema: {} as never }), refusal);
      await assert.rejects(mq.consume("orders", () => {}, { schema: {} as never }), refusal);
      assert.throws(() => mq.deliveries("orders", { schema: {} as never }), refusal);
    }));
});

describe("a consumer with a schema", () => {
  it("parks what does not fit on its first attempt, with the reasons, and never calls the handler", () =>
    inWorld(async (world) => {
      const mq = await world.withQueue("orders");
      const seen: unknown[] = [];
      await mq.consume("orders", ({ payload }) => void seen.push(payload), {
        schema: Order,
        retry: fixedRetry(5, { delayMs: 1_000 }),
      });
      world.put("orders", { id: 7, totalCents: "many" });
      world.put("orders", { id: "A-1", totalCents: 1, note: "dropped by the schema" });
      await world.settled();
      assert.deepEqual(seen, [{ id: "A-1", totalCents: 1 }]);
      const [parked, ...others] = world.waiting("orders.parked");
      assert.deepEqual(others, []);
      assert.equal(parked?.headers["x-acemq-attempt"], 1);
      const error = String(parked?.headers["x-acemq-error"]);
      assert.match(error, /could not be decoded.*it does not fit the schema: id: .*; totalCents: /);
    }));

  it("retries a message whose schema asks something that is away", () =>
    inWorld(async (world) => {
      const mq = await world.withQueue("orders");
      let asked = 0;
      const known = z.string().refine(() => {
        if (++asked === 1) throw new RetryableError("The catalogue is away");
        return Promise.resolve(true);
      });
      const seen: unknown[] = [];
      await mq.consume("orders", ({ payload }) => void seen.push(payload), {
        schema: known,
        retry: fixedRetry(2, { delayMs: 1_000 }),
      });
      world.put("orders", "b-7");
      await world.clock.advance(2_000);
      assert.deepEqual([seen, asked, world.depth("orders.parked")], [["b-7"], 2, 0]);
    }));

  it("gives a loop over deliveries the same payloads", () =>
    inWorld(async (world) => {
      const mq = await world.withQueue("orders");
      world.put("orders", { id: 7 });
      world.put("orders", { id: "A-1", totalCents: 1 });
      const loop = mq.deliveries("orders", { schema: Order });
      const first = loop.next();
      await world.settled();
      const { value } = await first;
      assert.deepEqual(value?.payload, { id: "A-1", totalCents: 1 });
      await value?.settle();
      assert.equal(world.depth("orders.parked"), 1);
      const left = loop.return?.();
      await world.settled();
      await left;
    }));
});

describe("a schema on RabbitMQ", () => {
  it("keeps a misfit of another program's from the handler", { skip }, async () => {
    const bare = await BareClient.open("schema", AMQP_URL);
    const mq = await openConnection(amqpBroker(AMQP_URL));
    try {
      const queue = await bare.queue("orders", { "x-queue-type": "quorum" });
      const seen: unknown[] = [];
      await mq.consume(queue, ({ payload }) => void seen.push(payload), { schema: Order });
      await mq.publisher("", queue).send({ id: "A-1" });
      await mq.publisher("", queue, { schema: Order }).send({ id: "A-2", totalCents: 2 });
      await until(
        "the one is handled and the other parked",
        async () => seen.length === 1 && await bare.depth(`${queue}.parked`) === 1,
      );
      assert.deepEqual(seen, [{ id: "A-2", totalCents: 2 }]);
    } finally {
      await mq.close();
      await bare.close();
    }
  });
});
