/**
 * Every way on which the library publishes on a message's behalf, by everything that can go wrong with that publish, in memory: the
 * original is acknowledged only when its copy was confirmed and routed (contract core 0 rule 2).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryWorld } from "../support/memory_world.ts";
import { consumeOptions, type Path, PATHS } from "../support/on_behalf_paths.ts";

const FAULTS = [
  "the target is missing",
  "the target refuses",
  "the connection is lost",
  "the broker has blocked",
] as const;
type Fault = typeof FAULTS[number];

const QUEUE = "orders.new";

/** Breaks the way to the target in memory, and answers with the way to mend it. */
async function breakInMemory(world: MemoryWorld, fault: Fault, path: Path): Promise<() => Promise<void>> {
  const { broker, clock, faults } = world;
  const target = `${QUEUE}${path.suffix}`;
  if (fault === "the broker has blocked") {
    broker.block("low on memory");
    return () => Promise.resolve(broker.unblock());
  }
  if (fault === "the connection is lost") {
    faults.onPublish = () => faults.lose().then(() => ({ outcome: "unknown", reason: "the connection was lost" }));
    return async () => {
      faults.onPublish = undefined;
      await faults.recover();
    };
  }
  // Its own queue can neither be missing nor full while the message is in hand, so there the answer alone is given.
  if (path.suffix === "") {
    const outcome = fault === "the target is missing" ? "unroutable" : "nacked";
    faults.onPublish = () => ({ outcome, reason: fault });
    return () => Promise.resolve(void (faults.onPublish = undefined));
  }
  const link = await broker.open({ name: "another", clock, onEvent: () => {} });
  await link.deleteQueue(target);
  if (fault === "the target refuses") {
    await world.bareQueue(target, { "x-max-length": 0, "x-overflow": "reject-publish" });
  }
  return async () => {
    await link.deleteQueue(target);
    const rung = {
      "x-message-ttl": 1_000,
      "x-dead-letter-exchange": "acemq.retry",
      "x-dead-letter-routing-key": QUEUE,
    };
    await world.bareQueue(target, path.suffix === ".retry.1s" ? rung : {});
    await link.close();
  };
}

describe("an original is not acknowledged before its copy is confirmed and routed:", () => {
  for (const path of PATHS) {
    for (const confirms of [true, false]) {
      for (const fault of FAULTS) {
        const ids = fault === "the broker has blocked" ? " [SC-21]" : "";
        it(`${path.name}, ${fault}, confirms ${confirms ? "on" : "off"}${ids}`, async () => {
          const world = new MemoryWorld();
          const mq = await world.withQueue(QUEUE, { confirms });
          const copies = (): number => world.depth(`${QUEUE}${path.suffix}`);
          let isBroken = true;
          world.faults.onSettle = (as) => {
            assert.ok(as !== "discard");
            if (isBroken && as === "ack") assert.equal(copies(), 1, "Acknowledged without a copy");
            return undefined;
          };
          await mq.consume(QUEUE, path.handler, consumeOptions(path));
          const mend = await breakInMemory(world, fault, path);
          world.put(QUEUE, new TextEncoder().encode(path.body ?? "1"), { messageId: "m-1" });
          await world.clock.advance(fault === "the broker has blocked" ? 120_000 : 900);
          const left = world.depth(QUEUE) + world.unsettled(QUEUE) + (path.suffix === "" ? 0 : copies());
          assert.ok(left >= 1, "The message is nowhere");
          // Twelve deadlines long: whoever gave the copy up now would have the message twice.
          if (fault === "the broker has blocked") assert.deepEqual([left, world.faults.settled], [1, []]);

          isBroken = false;
          await mend();
          await world.clock.advance(120_000);
          assert.deepEqual([world.depth(QUEUE), world.unsettled(QUEUE)], [0, 0]);
          const isAside = path.suffix === ".dlq" || path.suffix === ".parked";
          const ended = isAside ? copies() : world.sink.count("acemq.consume.total", { outcome: "acked" });
          assert.equal(ended, 1);
          await world.close();
        });
      }
    }
  }
});
