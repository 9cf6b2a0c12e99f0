/** Declaring a topology: contract core 5.2 to 5.5. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeclareResult, QueueState } from "../../../src/ports/broker.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { type Topology, topology } from "../../../src/topology/topology.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { deferred } from "../../support/until.ts";

const SHOP = topology()
  .exchange("shop", "topic")
  .queue("orders.new", { deadLetter: true, retry: fixedRetry(3, { delayMs: 60_000 }) })
  .queue("orders.audit", { type: "classic" })
  .bind("orders.new", { exchange: "shop", routingKey: "order.*" })
  .bind("orders.audit", { exchange: "shop", routingKey: "#" });

/** What was declared, in order, one line an object. */
function lines({ faults }: MemoryWorld): string[] {
  return faults.declared.map((spec) => {
    if ("routingKey" in spec) return `bind ${spec.queue} ${spec.exchange} ${spec.routingKey}`;
    return "type" in spec ? `exchange ${spec.name}` : `queue ${spec.name}`;
  });
}

/** The error of a declaration that must fail. */
async function refusal(
  world: MemoryWorld,
  wanted: Topology,
): Promise<{ readonly name: string; readonly code: string; readonly message: string; readonly findings: string[] }> {
  const mq = await world.connect();
  return await mq.declare(wanted).then(() => assert.fail("It was declared"), (error) => error);
}

describe("declaring a topology", () => {
  it("makes exchanges, then queues, then bindings", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await mq.declare(SHOP);
    assert.deepEqual(lines(world), [
      "exchange shop",
      "exchange acemq.dlx",
      "exchange acemq.retry",
      "queue orders.new",
      "queue orders.audit",
      "queue orders.new.dlq",
      "queue orders.new.parked",
      "queue orders.new.retry.1m",
      "bind orders.new shop order.*",
      "bind orders.audit shop #",
      "bind orders.new.dlq acemq.dlx orders.new.dlq",
      "bind orders.new.parked acemq.dlx orders.new.parked",
      "bind orders.new acemq.retry orders.new",
    ]);
    assert.equal((await mq.publisher("shop", "order.placed").send(1)).outcome, "confirmed");
    assert.deepEqual([world.depth("orders.new"), world.depth("orders.audit")], [1, 1]);
    await world.close();
  });

  it("twice is once: what is there as wanted stays as it is, messages included", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await mq.declare(SHOP);
    world.put("orders.new", 1);
    await mq.declare(SHOP);
    assert.equal(world.depth("orders.new"), 1);
    await world.close();
  });

  it("makes what is missing beside what is there", async () => {
    const world = new MemoryWorld();
    await world.bareQueue("orders.audit");
    const mq = await world.connect();
    await mq.declare(SHOP);
    assert.equal(world.broker.queues.length, 5);
    await world.close();
  });

  it("stops before it makes anything when something is there otherwise, and names everything that differs [TOP-17]", async () => {
    const world = new MemoryWorld();
    await world.bareQueue("orders.new");
    await world.bareQueue("orders.new.dlq", { "x-max-length": 10 });
    const { name, code, message, findings } = await refusal(world, SHOP);
    assert.deepEqual([name, code, findings.length], ["TopologyError", "ACEMQ_TOPOLOGY_DRIFT", 2]);
    assert.match(findings[0] ?? "", /^queue "orders.new": PRECONDITION_FAILED/);
    assert.match(findings[1] ?? "", /^queue "orders.new.dlq": PRECONDITION_FAILED/);
    for (const finding of findings) assert.ok(message.includes(finding));
    assert.deepEqual(world.broker.queues, ["orders.new", "orders.new.dlq"]);
    const mq = await world.connect();
    await assert.rejects(mq.publisher("shop", "order.placed").send(1), { code: "ACEMQ_PUBLISH_REFUSED" });
    await world.close();
  });

  it("tells an exchange that is there otherwise just the same", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await mq.declare(topology().exchange("shop", "direct"));
    const { code, findings } = await refusal(world, SHOP);
    assert.deepEqual([code, findings.length], ["ACEMQ_TOPOLOGY_DRIFT", 1]);
    assert.match(findings[0] ?? "", /^exchange "shop": /);
    assert.deepEqual(world.broker.queues, []);
    await world.close();
  });

  it("goes by what the broker answered and not by its words [TOP-14]", async () => {
    const cases: readonly (readonly [DeclareResult, string])[] = [
      [{ status: "differs", reason: "NOT_FOUND - odd words for it" }, "ACEMQ_TOPOLOGY_DRIFT"],
      [{ status: "refused", reason: "PRECONDITION_FAILED - odd words for it" }, "ACEMQ_TOPOLOGY_REFUSED"],
    ];
    for (const isThere of [true, false]) {
      for (const [answer, expected] of cases) {
        const world = new MemoryWorld();
        if (isThere) await world.bareQueue("orders.audit");
        world.faults.onDeclare = (spec) => "name" in spec && spec.name === "orders.audit" ? answer : undefined;
        const { code, findings } = await refusal(world, SHOP);
        const reason = answer.status === "declared" ? "" : answer.reason;
        assert.deepEqual([code, findings], [expected, [`queue "orders.audit": ${reason}`]]);
        await world.close();
      }
    }
  });

  it("says which binding was refused", async () => {
    const world = new MemoryWorld();
    world.faults.onDeclare = (spec) => "routingKey" in spec ? { status: "refused", reason: "no" } : undefined;
    const { code, message } = await refusal(world, SHOP);
    assert.equal(code, "ACEMQ_TOPOLOGY_REFUSED");
    assert.equal(
      message,
      `Cannot declare the binding of queue "orders.new" to exchange "shop" with key "order.*": no`,
    );
    await world.close();
  });

  it("is refused on a closed connection", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await mq.close();
    await assert.rejects(mq.declare(SHOP), { name: "ConnectionError", code: "ACEMQ_CONNECTION_CLOSED" });
  });
});

describe("declaring a topology with a signal", () => {
  it("ends with its reason while the broker is asked what is there, and has created nothing", async () => {
    const world = new MemoryWorld();
    const [held, over] = [deferred<QueueState>(), new AbortController()];
    world.faults.onCheckQueue = (name) => name === "orders.audit" ? held.promise : undefined;
    const mq = await world.connect();
    const declaring = mq.declare(SHOP, { signal: over.signal });
    await world.settled();
    over.abort(new Error("That takes too long"));
    await assert.rejects(declaring, { message: "That takes too long" });
    held.reject(new Error("An answer nobody waits for"));
    await world.settled();
    assert.deepEqual([lines(world), world.broker.queues], [[], []]);
    await world.close();
  });

  it("ends with its reason between two declarations: what was created stays, and the next call goes on from there", async () => {
    const world = new MemoryWorld();
    const [held, over] = [deferred(), new AbortController()];
    world.faults.onDeclare = (spec) => {
      if (!("name" in spec) || spec.name !== "orders.audit") return undefined;
      held.resolve();
      return new Promise(() => {});
    };
    const mq = await world.connect();
    const declaring = mq.declare(SHOP, { signal: over.signal });
    await held.promise;
    over.abort(new Error("That takes too long"));
    await assert.rejects(declaring, { message: "That takes too long" });
    await world.settled();
    assert.deepEqual(lines(world).slice(3), ["queue orders.new", "queue orders.audit"]);
    assert.deepEqual(world.broker.queues, ["orders.new"]);
    world.faults.onDeclare = undefined;
    await mq.declare(SHOP, { signal: new AbortController().signal });
    await mq.validate(SHOP);
    await world.close();
  });

  it("that has aborted asks and declares nothing", async () => {
    const world = new MemoryWorld();
    const asked: string[] = [];
    world.faults.onCheckQueue = (name) => void asked.push(name) as undefined;
    const mq = await world.connect();
    await assert.rejects(mq.declare(SHOP, { signal: AbortSignal.abort(new Error("Not today")) }), {
      message: "Not today",
    });
    assert.deepEqual([lines(world), asked], [[], []]);
    await world.close();
  });
});
