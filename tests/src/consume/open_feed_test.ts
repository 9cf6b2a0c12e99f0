/** What stands before the first delivery can come: contract core 0 rules 3 and 4, 3.1, 5.1 to 5.3. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exponentialRetry, fixedRetry } from "../../../src/retry/policy.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { MemoryWorld } from "../../support/memory_world.ts";

const QUEUE = "orders.new";

interface Declared {
  readonly exchanges: readonly string[];
  readonly queues: Readonly<Record<string, DeclareArguments>>;
  readonly bindings: readonly string[];
}

function declaredBy(world: MemoryWorld, from: number): Declared {
  const specs = world.faults.declared.slice(from);
  const exchanges = specs.flatMap((spec) => "type" in spec ? [`${spec.name} ${spec.type} ${spec.durable}`] : []);
  const queues = specs.flatMap((spec) => "exclusive" in spec ? [[spec.name, spec.arguments] as const] : []);
  const bindings = specs.flatMap((spec) =>
    "routingKey" in spec ? [`${spec.queue} <- ${spec.exchange} on ${spec.routingKey}`] : []
  );
  return { exchanges, queues: Object.fromEntries(queues), bindings };
}

const FAILURE_SIDE: Declared = {
  exchanges: ["acemq.dlx direct true"],
  queues: { [`${QUEUE}.dlq`]: {}, [`${QUEUE}.parked`]: {} },
  bindings: [`${QUEUE}.dlq <- acemq.dlx on ${QUEUE}.dlq`, `${QUEUE}.parked <- acemq.dlx on ${QUEUE}.parked`],
};

function rung(ms: number): DeclareArguments {
  return { "x-message-ttl": ms, "x-dead-letter-exchange": "acemq.retry", "x-dead-letter-routing-key": QUEUE };
}

describe("a consumer, before it subscribes,", () => {
  it("declares the exchange, the two set-aside queues and their bindings, policy or not [CON-02]", async () => {
    for (const options of [{}, { retry: exponentialRetry(4) }]) {
      const world = new MemoryWorld();
      const mq = await world.withQueue(QUEUE);
      const from = world.faults.declared.length;
      await mq.consume(QUEUE, () => {}, options);
      assert.deepEqual(declaredBy(world, from), FAILURE_SIDE);
      await world.close();
    }
  });

  it("declares a rung for every distinct long wait, with three arguments each, and the way home", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const from = world.faults.declared.length;
    const retry = exponentialRetry(6, { initialDelayMs: 10_000, maxDelayMs: 60_000 });
    await mq.consume(QUEUE, () => {}, { retry, rungsMs: [7_200_000] });
    assert.deepEqual(declaredBy(world, from), {
      exchanges: [...FAILURE_SIDE.exchanges, "acemq.retry direct true"],
      queues: {
        ...FAILURE_SIDE.queues,
        [`${QUEUE}.retry.40s`]: rung(40_000),
        [`${QUEUE}.retry.1m`]: rung(60_000),
        [`${QUEUE}.retry.2h`]: rung(7_200_000),
      },
      bindings: [...FAILURE_SIDE.bindings, `${QUEUE} <- acemq.retry on ${QUEUE}`],
    });
    await world.close();
  });

  it("declares one rung for waits that are alike [RET-12]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    await mq.consume(QUEUE, () => {}, { retry: fixedRetry(4, { delayMs: 40_000 }) });
    assert.deepEqual(world.broker.queues.filter((name) => name.includes(".retry.")), [`${QUEUE}.retry.40s`]);
    await assert.rejects(
      mq.consume(QUEUE, () => {}, {
        retry: exponentialRetry(3, { initialDelayMs: 1_200, maxDelayMs: 1_400, brokerWaitThresholdMs: 1_000 }),
      }),
      { name: "RangeError", message: /whole seconds, found 1200 ms/ },
    );
    await world.close();
  });

  it("declares no rung when the broker is never to wait, however long the waits are [RET-09]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const from = world.faults.declared.length;
    await mq.consume(QUEUE, () => {}, { retry: fixedRetry(3, { delayMs: 3_600_000, brokerWaitThresholdMs: 0 }) });
    assert.deepEqual(declaredBy(world, from), FAILURE_SIDE);
    await world.close();
  });

  it("declares nothing when it is told so: no login that may not configure, no '.dlq.dlq'", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    await mq.consume(QUEUE, () => {});
    const { length } = world.faults.declared;
    await mq.consume(`${QUEUE}.dlq`, () => {}, { declare: false, retry: fixedRetry(2, { delayMs: 60_000 }) });
    assert.equal(world.faults.declared.length, length);
    await world.close();
  });

  it("never declares the queue it reads, its exchange or its binding", async () => {
    const world = new MemoryWorld();
    await world.bareQueue(QUEUE, { "x-max-length": 10 });
    const mq = await world.connect();
    await mq.consume(QUEUE, () => {});
    assert.ok(world.faults.declared.every((spec) => !("name" in spec) || spec.name !== QUEUE));
    await world.close();
  });

  it("declares durable objects only, none exclusive, none that go by themselves [TOP-11]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE, { queue: { deadLetter: true } });
    await mq.consume(QUEUE, () => {}, { retry: exponentialRetry(9, { initialDelayMs: 20_000 }) });
    assert.ok(world.faults.declared.length > 10);
    for (const spec of world.faults.declared) {
      if ("durable" in spec) assert.deepEqual([spec.durable, spec.autoDelete], [true, false]);
      if ("exclusive" in spec) assert.equal(spec.exclusive, false);
    }
    await world.close();
  });
});

describe("a consumer whose failure side the broker has otherwise", () => {
  it("does not start, and says what differs in the broker's words", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    await world.bareQueue(`${QUEUE}.dlq`, { "x-queue-type": "quorum" });
    const found = await mq.consume(QUEUE, () => {}).then(() => assert.fail("It started"), (error: unknown) => error);
    assert.deepEqual(
      [(found as { code?: string }).code, (found as { findings?: string[] }).findings?.length],
      ["ACEMQ_TOPOLOGY_DRIFT", 1],
    );
    assert.match(
      (found as { findings: string[] }).findings[0] ?? "",
      new RegExp(`^queue "${QUEUE}.dlq": .*x-queue-type`),
    );
    assert.deepEqual([world.faults.subscribed, world.broker.queues], [[], [QUEUE, `${QUEUE}.dlq`]]);
    await world.close();
  });

  it("does not start when a declaration is refused, and does not call that a difference", async () => {
    for (const isThere of [true, false]) {
      const world = new MemoryWorld();
      const mq = await world.withQueue(QUEUE);
      if (isThere) await world.bareQueue(`${QUEUE}.dlq`);
      const reason = "ACCESS_REFUSED - access to queue refused";
      world.faults.onDeclare = (spec) => "exclusive" in spec ? { status: "refused", reason } : undefined;
      await assert.rejects(mq.consume(QUEUE, () => {}), {
        name: "TopologyError",
        code: "ACEMQ_TOPOLOGY_REFUSED",
        findings: [`queue "${QUEUE}.dlq": ${reason}`],
      });
      assert.deepEqual(world.faults.subscribed, []);
      await world.close();
    }
  });
});
