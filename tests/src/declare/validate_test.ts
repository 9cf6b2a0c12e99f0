/** Validating a topology: contract core 5.5. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TopologyError } from "../../../src/errors.ts";
import type { CompareResult } from "../../../src/ports/broker.ts";
import { type Topology, topology } from "../../../src/topology/topology.ts";
import { MemoryWorld } from "../../support/memory_world.ts";

const SHOP = topology()
  .exchange("shop", "topic")
  .queue("orders.new", { deadLetter: true })
  .queue("orders.audit", { type: "classic" })
  .bind("orders.new", { exchange: "shop", routingKey: "order.*" });

/** The error of a validation that must fail. */
async function complaint(world: MemoryWorld, wanted: Topology): Promise<TopologyError> {
  const mq = await world.connect();
  return await mq.validate(wanted).then(() => assert.fail("It was found as it says"), (error) => {
    assert.ok(error instanceof TopologyError);
    return error;
  });
}

describe("validating a topology", () => {
  it("passes what was declared, and changes nothing", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await mq.declare(SHOP);
    world.put("orders.new", 1);
    const declared = world.faults.declared.length;
    await mq.validate(SHOP);
    assert.deepEqual([world.faults.declared.length, world.depth("orders.new")], [declared, 1]);
    await world.close();
  });

  it("names everything that is missing, and creates none of it [TOP-03]", async () => {
    const world = new MemoryWorld();
    await world.bareQueue("orders.audit");
    const { code, message, findings } = await complaint(world, SHOP);
    assert.equal(code, "ACEMQ_TOPOLOGY_MISSING");
    assert.deepEqual(findings, [
      `exchange "shop" is missing: NOT_FOUND - no exchange 'shop' in vhost '/'`,
      `exchange "acemq.dlx" is missing: NOT_FOUND - no exchange 'acemq.dlx' in vhost '/'`,
      `queue "orders.new" is missing: NOT_FOUND - no queue 'orders.new' in vhost '/'`,
      `queue "orders.new.dlq" is missing: NOT_FOUND - no queue 'orders.new.dlq' in vhost '/'`,
      `queue "orders.new.parked" is missing: NOT_FOUND - no queue 'orders.new.parked' in vhost '/'`,
    ]);
    assert.equal(
      message,
      `Cannot validate the topology: not everything is there as it says: ${findings.join("; ")}`,
    );
    assert.deepEqual([world.broker.queues, world.faults.declared], [["orders.audit"], []]);
    await world.close();
  });

  it("names what differs beside what is missing, and calls it drift", async () => {
    const world = new MemoryWorld();
    await world.bareQueue("orders.audit", { "x-max-length": 10 });
    const { code, findings } = await complaint(world, SHOP);
    assert.deepEqual([code, findings.length], ["ACEMQ_TOPOLOGY_DRIFT", 6]);
    assert.match(
      findings[3] ?? "",
      /^queue "orders.audit" differs: PRECONDITION_FAILED - inequivalent arg 'x-max-length'/,
    );
    await world.close();
  });

  it("does not vouch for what the broker refuses to compare", async () => {
    const world = new MemoryWorld();
    const mine = topology().queue("mine", { exclusive: true });
    await (await world.connect()).declare(mine);
    const { code, findings } = await complaint(world, mine);
    assert.deepEqual([code, findings.length], ["ACEMQ_TOPOLOGY_REFUSED", 1]);
    assert.match(findings[0] ?? "", /^queue "mine" cannot be compared: RESOURCE_LOCKED/);
    assert.equal((await complaint(world, mine.queue("other"))).code, "ACEMQ_TOPOLOGY_REFUSED");
    await world.close();
  });

  it("goes by what the broker answered and not by its words [TOP-14]", async () => {
    const cases: readonly (readonly [CompareResult, string])[] = [
      [{ status: "absent", reason: "PRECONDITION_FAILED - odd words for it" }, "ACEMQ_TOPOLOGY_MISSING"],
      [{ status: "differs", reason: "NOT_FOUND - odd words for it" }, "ACEMQ_TOPOLOGY_DRIFT"],
      [{ status: "refused", reason: "PRECONDITION_FAILED - odd words for it" }, "ACEMQ_TOPOLOGY_REFUSED"],
    ];
    for (const [answer, expected] of cases) {
      const world = new MemoryWorld();
      world.faults.onCompare = () => Promise.resolve(answer);
      assert.equal((await complaint(world, topology().queue("q"))).code, expected);
      await world.close();
    }
  });

  it("does not verify bindings: their queue and exchange are enough", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    const ends = topology().exchange("shop", "topic").queue("orders.new");
    await mq.declare(ends);
    await mq.validate(ends.bind("orders.new", { exchange: "shop", routingKey: "order.*" }));
    await world.close();
  });

  it("ends with the reason of its signal, and is refused on a closed connection", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await assert.rejects(mq.validate(SHOP, { signal: AbortSignal.abort(new Error("too late")) }), {
      message: "too late",
    });
    await mq.close();
    await assert.rejects(mq.validate(SHOP), { name: "ConnectionError", code: "ACEMQ_CONNECTION_CLOSED" });
  });
});
