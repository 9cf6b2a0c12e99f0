/** Planning a topology: contract core 5.5. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConnectionError } from "../../../src/errors.ts";
import type { CompareResult } from "../../../src/ports/broker.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { topology } from "../../../src/topology/topology.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { deferred } from "../../support/until.ts";

const SHOP = topology()
  .exchange("shop", "topic")
  .queue("orders.new", { deadLetter: true, retry: fixedRetry(3, { delayMs: 60_000 }) })
  .queue("orders.audit", { type: "classic" })
  .bind("orders.new", { exchange: "shop", routingKey: "order.*" })
  .bind("orders.audit", { exchange: "shop" });

const UNKNOWN = { status: "unknown", reason: "AMQP has no question for bindings" };

/** What every binding of the shop is said to be. */
const BINDINGS = [
  { kind: "binding", name: "orders.new from shop, key order.*", ...UNKNOWN },
  { kind: "binding", name: "orders.audit from shop", ...UNKNOWN },
  { kind: "binding", name: "orders.new.dlq from acemq.dlx, key orders.new.dlq", ...UNKNOWN },
  { kind: "binding", name: "orders.new.parked from acemq.dlx, key orders.new.parked", ...UNKNOWN },
  { kind: "binding", name: "orders.new from acemq.retry, key orders.new", ...UNKNOWN },
];

const OBJECTS = [
  ["exchange", "shop"],
  ["exchange", "acemq.dlx"],
  ["exchange", "acemq.retry"],
  ["queue", "orders.new"],
  ["queue", "orders.audit"],
  ["queue", "orders.new.dlq"],
  ["queue", "orders.new.parked"],
  ["queue", "orders.new.retry.1m"],
] as const;

describe("the plan of a topology", () => {
  it("says of every object on an empty broker that it would be created, and creates none [TOP-03]", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    for (let again = 0; again < 2; again++) {
      assert.deepEqual((await mq.plan(SHOP)).items, [
        ...OBJECTS.map(([kind, name]) => ({
          kind,
          name,
          status: "would_create",
          reason: `NOT_FOUND - no ${kind} '${name}' in vhost '/'`,
        })),
        ...BINDINGS,
      ]);
    }
    assert.deepEqual([world.broker.queues, world.faults.declared], [[], []]);
    for (const exchange of ["shop", "acemq.dlx", "acemq.retry"]) {
      await assert.rejects(mq.publisher(exchange, "k").send(1), { code: "ACEMQ_PUBLISH_REFUSED" });
    }
    await world.close();
  });

  it("says of what is there as wanted that it is present, and does not bind it", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await mq.declare(
      topology().exchange("shop", "topic").exchange("acemq.dlx", "direct").exchange("acemq.retry", "direct")
        .queue("orders.audit", { type: "classic" }),
    );
    const { items } = await mq.plan(SHOP);
    const present = items.filter(({ status }) => status === "present");
    assert.deepEqual(present, [
      { kind: "exchange", name: "shop", status: "present" },
      { kind: "exchange", name: "acemq.dlx", status: "present" },
      { kind: "exchange", name: "acemq.retry", status: "present" },
      { kind: "queue", name: "orders.audit", status: "present" },
    ]);
    assert.deepEqual(world.broker.queues, ["orders.audit"]);
    await assert.rejects(mq.publisher("shop", "order.placed").send(1), { code: "ACEMQ_PUBLISH_UNROUTABLE" });
    await world.close();
  });

  it("gives the broker's own words for what differs, and leaves it and the connection as they were [TOP-03]", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await mq.declare(topology().exchange("shop", "direct").queue("orders.new", { arguments: { "x-max-length": 10 } }));
    world.put("orders.new", 1);
    const handled: unknown[] = [];
    await mq.consume("orders.new", ({ payload }) => void handled.push(payload), { declare: false });
    const { items } = await mq.plan(SHOP);
    assert.deepEqual(items.filter(({ status }) => status === "differs"), [
      {
        kind: "exchange",
        name: "shop",
        status: "differs",
        reason:
          "PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'shop' in vhost '/': received 'topic' but " +
          "current is 'direct'",
      },
      {
        kind: "queue",
        name: "orders.new",
        status: "differs",
        reason:
          "PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue 'orders.new' in vhost '/': " +
          "received the value 'acemq.dlx' of type 'longstr' but current is none",
      },
    ]);
    assert.equal((await mq.publisher("", "orders.new").send(2)).outcome, "confirmed");
    await world.settled();
    assert.deepEqual(handled, [1, 2]);
    await world.close();
  });

  it("goes by what the broker answered and not by its words [TOP-14]", async () => {
    const cases: readonly (readonly [CompareResult, string])[] = [
      [{ status: "absent", reason: "PRECONDITION_FAILED - odd words for it" }, "would_create"],
      [{ status: "differs", reason: "NOT_FOUND - odd words for it" }, "differs"],
      [{ status: "refused", reason: "NOT_FOUND - odd words for it" }, "unknown"],
      [{ status: "same" }, "present"],
    ];
    for (const [answer, status] of cases) {
      const world = new MemoryWorld();
      world.faults.onCompare = () => Promise.resolve(answer);
      const mq = await world.connect();
      const { items } = await mq.plan(topology().exchange("x").queue("q"));
      const reason = answer.status === "same" ? {} : { reason: answer.reason };
      assert.deepEqual(items, [
        { kind: "exchange", name: "x", status, ...reason },
        { kind: "queue", name: "q", status, ...reason },
      ]);
      await world.close();
    }
  });

  it("does not know of a queue that another connection has for itself, in the broker's words", async () => {
    const world = new MemoryWorld();
    const mine = topology().queue("mine", { exclusive: true });
    const owner = await world.connect();
    await owner.declare(mine);
    const [found] = (await (await world.connect()).plan(mine)).items;
    assert.deepEqual([found?.name, found?.status], ["mine", "unknown"]);
    assert.match(found?.reason ?? "", /^RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'mine'/);
    assert.equal((await owner.plan(mine)).items[0]?.status, "present");
    await world.close();
  });

  it("is not half a plan when the connection is lost on the way", async () => {
    const world = new MemoryWorld();
    world.faults.onCompare = ({ name }) =>
      name === "orders.audit"
        ? Promise.reject(new ConnectionError("ACEMQ_CONNECTION_LOST", "Cannot ask the broker: the connection is lost"))
        : undefined;
    const mq = await world.connect();
    await assert.rejects(mq.plan(SHOP), { name: "ConnectionError", code: "ACEMQ_CONNECTION_LOST" });
    await world.close();
  });

  it("ends with the reason of its signal, and asks nothing more", async () => {
    const world = new MemoryWorld();
    const [held, over] = [deferred<CompareResult>(), new AbortController()];
    const asked: string[] = [];
    world.faults.onCompare = ({ name }) => {
      asked.push(name);
      return name === "acemq.dlx" ? held.promise : undefined;
    };
    const mq = await world.connect();
    const planning = mq.plan(SHOP, { signal: over.signal });
    await world.settled();
    over.abort(new Error("That takes too long"));
    await assert.rejects(planning, { message: "That takes too long" });
    held.reject(new Error("An answer nobody waits for"));
    await world.settled();
    assert.deepEqual(asked, ["shop", "acemq.dlx"]);
    await assert.rejects(mq.plan(SHOP, { signal: over.signal }), { message: "That takes too long" });
    assert.deepEqual(asked, ["shop", "acemq.dlx"]);
    await world.close();
  });

  it("is refused on a closed connection", async () => {
    const world = new MemoryWorld();
    const mq = await world.connect();
    await mq.close();
    await assert.rejects(mq.plan(SHOP), { name: "ConnectionError", code: "ACEMQ_CONNECTION_CLOSED" });
  });
});
