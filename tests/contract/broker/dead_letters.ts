/**
 * Dead-lettering: where a message goes that was not acknowledged, and what the broker writes on it.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { ReceivedMessage } from "../../../src/message/received.ts";
import { isWireTable, type WireTable, type WireValue } from "../../../src/message/wire_value.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { onEachQueueType, type Scenario, textOf, type World } from "./world.ts";

/** Deaths a client sent, newest first as it believes; and queue and count as the broker goes on from them, once rejected here. */
const HISTORIES: readonly (readonly [
  label: string,
  sent: readonly { readonly queue?: string; readonly count?: number }[],
  expected: readonly (readonly [queue: string, count: number | undefined])[],
])[] = [
  ["an empty history", [], [["here", 1]]],
  ["a death that has no count", [{}], [["here", 1]]],
  ["a death elsewhere", [{ queue: "a", count: 2 }], [["here", 1], ["a", 2]]],
  ["one elsewhere that has no count", [{ queue: "a" }], [["here", 1], ["a", undefined]]],
  [
    "several, turning their order round",
    [{ queue: "a", count: 1 }, { queue: "b", count: 2 }, { count: 5 }],
    [["here", 6], ["b", 2], ["a", 1]],
  ],
  ["one that stands twice, of which it drops the second", [{ count: 2 }, { count: 5 }], [["here", 3]]],
  ["one that stands three times without a count", [{}, {}, {}], [["here", 4]]],
];

/** The cases about dead-lettering. */
export function deadLetters(it: Scenario): void {
  const quorum = it.needing("quorum_queues");

  onEachQueueType(it, (it, type) => {
    it(`writes on a message rejected from a ${type} queue where it died, why and when`, async (world) => {
      const { queue, dead } = await deadLetteringQueue(world, { "x-queue-type": type });
      const before = Math.floor(world.under.clock.now() / 1_000) * 1_000;
      await world.publish(queue, { body: "1", headers: { mine: 1, CC: ["nobody"] } });
      (await world.hold(queue)).settle("discard");
      const message = await world.take(dead);
      const { "x-death": deaths, ...others } = message.headers;
      assert.deepEqual(others, {
        mine: 1,
        "x-first-death-exchange": "",
        "x-first-death-queue": queue,
        "x-first-death-reason": "rejected",
      });
      const [{ time, ...death }] = deaths as [{ time: Date }];
      assert.deepEqual(death, {
        count: 1,
        reason: "rejected",
        queue,
        exchange: "",
        "routing-keys": [queue, "nobody"],
      });
      // The machine of a broker may be a moment ahead of ours.
      assert.ok(time.getTime() >= before - 5_000 && time.getTime() <= world.under.clock.now() + 5_000);
      assert.deepEqual([message.exchange, message.routingKey, message.redelivered], ["", dead, false]);
    });
  });

  it("keeps the keys of a message, its copies included, where the queue names no other", async (world) => {
    const exchange = await world.exchange("dlx", "direct");
    const queue = await world.queue("q", { "x-dead-letter-exchange": exchange });
    const [own, copy, hidden] = [await world.queue("own"), await world.queue("cc"), await world.queue("bcc")];
    await world.bind(own, exchange, { key: queue });
    await world.bind(copy, exchange, { key: "copy" });
    await world.bind(hidden, exchange, { key: "hidden" });
    await world.publish(queue, { headers: { CC: ["copy"], BCC: ["hidden"] } });
    (await world.hold(queue)).settle("discard");
    for (const name of [own, copy, hidden]) {
      const message = await world.take(name);
      assert.deepEqual([message.exchange, message.routingKey, message.headers["CC"]], [exchange, queue, ["copy"]]);
      assert.deepEqual(firstDeath(message)["routing-keys"], [queue, "copy"]);
    }
  });

  it("drops what dies where the dead-letter exchange does not exist", async (world) => {
    const queue = await world.queue("q", { "x-dead-letter-exchange": world.name("none") });
    await world.fill(queue, "1", "2");
    (await world.hold(queue)).settle("discard");
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
    await world.depth(queue, 0);
  });

  it("says which limit a message fell to", async (world) => {
    const dead = await world.queue("dead");
    const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
    const full = await world.queue("full", { ...args, "x-max-length": 1 });
    await world.fill(full, "1", "2");
    assert.deepEqual(await causeOf(world, dead), ["1", "maxlen", full]);
    const mortal = await world.queue("mortal", { ...args, "x-message-ttl": 50 });
    await world.fill(mortal, "3");
    assert.deepEqual(await causeOf(world, dead), ["3", "expired", mortal]);
  });

  quorum("says that a message fell to the delivery limit", async (world) => {
    const { queue, dead } = await deadLetteringQueue(world, { "x-queue-type": "quorum", "x-delivery-limit": 1 });
    await world.fill(queue, "1");
    await world.read(queue, { prefetch: 1, each: (delivery) => delivery.settle("requeue") });
    assert.deepEqual(await causeOf(world, dead), ["1", "delivery_limit", queue]);
  });

  quorum("keeps no x-delivery-count on what leaves a quorum queue", async (world) => {
    const { queue, dead } = await deadLetteringQueue(world, { "x-queue-type": "quorum" });
    await world.fill(queue, "1");
    (await world.hold(queue)).settle("requeue");
    (await world.hold(queue)).settle("discard");
    assert.equal((await world.take(dead)).headers["x-delivery-count"], undefined);
  });

  onEachQueueType(it, (it, type) => {
    it(`raises the count of a death that happens again on ${type} queues, newest first`, async (world) => {
      const [queue, waiting] = [world.name("q"), world.name("wait")];
      const typed = { "x-queue-type": type, "x-dead-letter-exchange": "" };
      await world.queue("q", { ...typed, "x-dead-letter-routing-key": waiting });
      await world.queue("wait", { ...typed, "x-message-ttl": 50, "x-dead-letter-routing-key": queue });
      await world.fill(queue, "1");
      for (let round = 0; round < 3; round++) (await world.hold(queue)).settle("discard");
      const message = await world.take(queue);
      assert.deepEqual(
        deathsOn(message).map(({ queue, reason, count }) => [queue, reason, count]),
        [[waiting, "expired", 3], [queue, "rejected", 3]],
      );
      assert.deepEqual([message.headers["x-first-death-queue"], message.headers["x-first-death-reason"]], [
        queue,
        "rejected",
      ]);
    });
  });

  it(
    "drops a message that would go round for ever: nobody has rejected it since it was there before",
    async (world) => {
      const exchange = await world.exchange("x", "fanout");
      const one = await world.queue("one", { "x-message-ttl": 50, "x-dead-letter-exchange": exchange });
      const back = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": one };
      const two = await world.queue("two", { "x-message-ttl": 50, ...back });
      const seen = await world.queue("seen");
      for (const queue of [two, seen]) await world.bind(queue, exchange);
      // The last of them comes by when the first would have come by again.
      const passed: string[] = [];
      for (const body of ["1", "2", "3", "4"]) {
        await world.fill(one, body);
        passed.push(...await world.bodies(seen, 1));
      }
      assert.deepEqual(passed, ["1", "2", "3", "4"]);
      for (const queue of [two, one, seen]) await world.depth(queue, 0);
    },
  );

  it("keeps a history apart by queue and by reason, the newest death first and the others in no order", async (world) => {
    const [queue, waiting] = [world.name("q"), world.name("wait")];
    const dead = await world.queue("dead");
    const redeclare = async (args: DeclareArguments, to: string): Promise<void> => {
      await world.mq.deleteQueue(queue);
      await world.queue("q", { ...args, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": to });
    };
    await world.queue("wait", { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue });
    await redeclare({ "x-message-ttl": 50 }, waiting);
    await world.fill(queue, "1");
    const expired = await world.hold(waiting);
    await redeclare({}, waiting);
    expired.settle("discard");
    (await world.hold(queue)).settle("discard");
    const rejected = await world.hold(waiting);
    assert.deepEqual(historyOf(rejected.message), {
      newest: [queue, "rejected", 1],
      others: [[queue, "expired", 1], [waiting, "rejected", 1]],
    });
    await redeclare({ "x-max-length": 0 }, dead);
    rejected.settle("discard");
    const message = await world.take(dead);
    assert.deepEqual(historyOf(message), {
      newest: [queue, "maxlen", 1],
      others: [[queue, "expired", 1], [queue, "rejected", 1], [waiting, "rejected", 2]],
    });
    assert.deepEqual(firstOf(message), [queue, "expired", ""]);
  });

  quorum("keeps one history through queues of both types", async (world) => {
    const dead = await world.queue("dead");
    const types = [["a", "classic"], ["b", "quorum"], ["c", "classic"], ["d", "quorum"]] as const;
    const names = [...types.map(([label]) => world.name(label)), dead];
    for (const [index, [label, type]] of types.entries()) {
      const args = { "x-queue-type": type, "x-dead-letter-exchange": "" };
      await world.queue(label, { ...args, "x-dead-letter-routing-key": names[index + 1] ?? "" });
    }
    await world.fill(world.name("a"), "1");
    for (const [label] of types) (await world.hold(world.name(label))).settle("discard");
    const message = await world.take(dead);
    const deaths = types.map(([label]) => [world.name(label), "rejected", 1]);
    assert.deepEqual(historyOf(message), { newest: deaths[3], others: deaths.slice(0, 3) });
    assert.ok(deathsOn(message).every((death) => String(death["routing-keys"]) === death["queue"]));
    assert.deepEqual(firstOf(message), [world.name("a"), "rejected", ""]);
  });

  it("writes the exchange and the key a message came with on each of its deaths", async (world) => {
    const [first, second] = [await world.exchange("first", "topic"), await world.exchange("second", "fanout")];
    const queue = await world.queue("q", { "x-dead-letter-exchange": second });
    const middle = await world.queue("middle", {
      "x-dead-letter-exchange": second,
      "x-dead-letter-routing-key": "other",
    });
    await world.bind(queue, first, { key: "#" });
    await world.bind(middle, second);
    await world.publish("a.b", { exchange: first });
    (await world.hold(queue)).settle("discard");
    (await world.hold(middle)).settle("discard");
    const message = await world.take(middle);
    assert.deepEqual(deathsOn(message).map((death) => [death["queue"], death["exchange"], death["routing-keys"]]), [
      [middle, second, ["a.b"]],
      [queue, first, ["a.b"]],
    ]);
    assert.deepEqual([message.exchange, message.routingKey, firstOf(message)], [second, "other", [
      queue,
      "rejected",
      first,
    ]]);
  });

  it("sends what died to the alternate exchange where the dead-letter exchange has no queue for it", async (world) => {
    const alternate = await world.exchange("alternate", "fanout");
    const exchange = await world.exchange("dlx", "direct", { "alternate-exchange": alternate });
    const [queue, other] = [await world.queue("q", { "x-dead-letter-exchange": exchange }), await world.queue("other")];
    await world.bind(other, alternate);
    await world.fill(queue, "1");
    (await world.hold(queue)).settle("discard");
    assert.deepEqual(await world.bodies(other, 1), ["1"]);
  });

  onEachQueueType(it, (it, type) => {
    const typed = { "x-queue-type": type, "x-dead-letter-exchange": "" };

    it(`brings what is rejected back to a ${type} queue that is its own dead-letter queue`, async (world) => {
      const queue = await world.queue("q", { ...typed, "x-dead-letter-routing-key": world.name("q") });
      await world.fill(queue, "1");
      for (let round = 0; round < 3; round++) (await world.hold(queue)).settle("discard");
      assert.deepEqual(historyOf(await world.take(queue)), { newest: [queue, "rejected", 3], others: [] });
    });

    it(`drops what a ${type} queue that is its own dead-letter queue lets expire or has no room for`, async (world) => {
      const key = { "x-dead-letter-routing-key": world.name("q") };
      const queue = await world.queue("q", { ...typed, ...key, "x-message-ttl": 50 });
      await world.fill(queue, "1");
      await world.depth(queue, 0);
      const full = await world.queue("full", {
        ...typed,
        "x-dead-letter-routing-key": world.name("full"),
        "x-max-length": 1,
      });
      await world.fill(full, "1", "2");
      assert.deepEqual(await world.bodies(full, 1), ["2"]);
      await world.depth(full, 0);
    });
  });

  quorum("drops what comes back too often to a quorum queue that is its own dead-letter queue", async (world) => {
    const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": world.name("q"), "x-delivery-limit": 0 };
    const queue = await world.queue("q", { "x-queue-type": "quorum", ...args });
    await world.fill(queue, "1", "2");
    (await world.hold(queue)).settle("requeue");
    assert.deepEqual(await world.bodies(queue, 1), ["2"]);
    await world.depth(queue, 0);
  });

  it("believes an x-death that a client sent: counts go on from it", async (world) => {
    const { queue, dead } = await deadLetteringQueue(world, {});
    const sent = [{ count: 7, reason: "rejected", queue, exchange: "elsewhere", time: new Date(5_000), note: "kept" }];
    await world.publish(queue, { headers: { "x-death": sent } });
    (await world.hold(queue)).settle("discard");
    const { headers } = await world.take(dead);
    assert.deepEqual(headers, { "x-death": [{ ...sent[0], count: 8 }] });
  });

  it("puts a death of another cause before those a client sent", async (world) => {
    const { queue, dead } = await deadLetteringQueue(world, {});
    for (const [label, sent, expected] of HISTORIES) {
      const history = sent.map((entry) => ({ reason: "rejected", ...entry, queue: entry.queue ?? queue }));
      await world.publish(queue, { headers: { "x-death": history } });
      (await world.hold(queue)).settle("discard");
      const deaths = deathsOn(await world.take(dead));
      assert.deepEqual(
        deaths.map(({ queue: name, count }) => [name === queue ? "here" : name, count]),
        expected,
        label,
      );
    }
  });

  it(
    "looks for a rejection among the deaths before the last one there, in the order it has written them",
    async (world) => {
      const { queue, dead } = await deadLetteringQueue(world, { "x-message-ttl": 50 });
      const [there, rejected] = [{ count: 1, reason: "expired", queue: dead }, {
        count: 1,
        reason: "rejected",
        queue: "other",
      }];
      await world.publish(queue, { body: "rejected since", headers: { "x-death": [there, rejected] } });
      await world.publish(queue, { body: "rejected before", headers: { "x-death": [rejected, there] } });
      await world.publish(queue, { body: "never there" });
      assert.deepEqual(await world.bodies(dead, 2), ["rejected since", "never there"]);
    },
  );

  it("drops what a dead-letter queue refuses", async (world) => {
    const exchange = await world.exchange("dlx", "fanout");
    const full = await world.queue("full", { "x-max-length": 1, "x-overflow": "reject-publish" });
    const [roomy, queue] = [await world.queue("roomy"), await world.queue("q", { "x-dead-letter-exchange": exchange })];
    await world.bind(full, exchange);
    await world.bind(roomy, exchange);
    await world.fill(queue, "1", "2");
    for (let held = 0; held < 2; held++) (await world.hold(queue)).settle("discard");
    assert.deepEqual(await world.bodies(roomy, 2), ["1", "2"]);
    assert.deepEqual(await world.bodies(full, 1), ["1"]);
    await world.depth(full, 0);
  });

  for (const bad of ["text", 5, { a: 1 }]) {
    it(`writes over an x-death that is no list: ${JSON.stringify(bad)}`, async (world) => {
      const { queue, dead } = await deadLetteringQueue(world, {});
      await world.publish(queue, { headers: { "x-death": bad } });
      (await world.hold(queue)).settle("discard");
      const message = await world.take(dead);
      assert.deepEqual(deathsOn(message).map(({ count, queue }) => [count, queue]), [[1, queue]]);
    });
  }
}

async function deadLetteringQueue(world: World, args: DeclareArguments): Promise<{ queue: string; dead: string }> {
  const dead = await world.queue("dead");
  const queue = await world.queue("q", { ...args, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead });
  return { queue, dead };
}

async function causeOf(world: World, dead: string): Promise<readonly WireValue[]> {
  const message = await world.take(dead);
  const { reason, queue } = firstDeath(message);
  return [textOf(message), reason ?? null, queue ?? null];
}

/** Queue, reason and count of each death; the order of all but the newest is left to the broker. */
function historyOf(message: ReceivedMessage): { readonly newest: unknown; readonly others: readonly unknown[] } {
  const [newest, ...others] = deathsOn(message).map(({ queue, reason, count }) => [queue, reason, count]);
  return { newest, others: others.toSorted((one, other) => String(one) < String(other) ? -1 : 1) };
}

/** What the broker wrote of the first death alone. */
function firstOf({ headers }: ReceivedMessage): readonly unknown[] {
  return ["queue", "reason", "exchange"].map((what) => headers[`x-first-death-${what}`]);
}

function firstDeath(message: ReceivedMessage): WireTable {
  const [first] = deathsOn(message);
  assert.ok(first !== undefined);
  return first;
}

function deathsOn({ headers }: ReceivedMessage): readonly WireTable[] {
  const deaths = headers["x-death"];
  assert.ok(Array.isArray(deaths));
  return deaths.filter((entry: WireValue) => isWireTable(entry));
}
