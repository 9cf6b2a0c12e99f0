/** A plan as a whole broker sees it: nothing on it is more or less than before, whoever asks. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { randomUuid } from "../../src/clock.ts";
import { topology } from "../../src/topology/topology.ts";
import type { FaultNode } from "../support/fault_node.ts";
import { type FaultWorld, onFaultNode } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";

const skip = await missing("fault_node");

/** Everything there is on the node. */
interface Objects {
  readonly queues: number;
  readonly exchanges: number;
  readonly bindings: number;
}

function objectsOn(node: FaultNode): Promise<Objects> {
  const host = `<<"/">>`;
  return node.ask(
    `#{queues => length(rabbit_amqqueue:list(${host})), exchanges => length(rabbit_exchange:list(${host})), ` +
      `bindings => length(rabbit_binding:list(${host}))}`,
  );
}

/** A login that may read and write everything, and declare nothing; its URL, until `body` has ended. */
async function asStranger({ node }: FaultWorld, body: (url: string) => Promise<void>): Promise<void> {
  const login = `acemq-${randomUuid().slice(0, 8)}`;
  const [name, by] = [`<<"${login}">>`, `<<"a test">>`];
  await node.evaluate(`rabbit_auth_backend_internal:add_user(${name}, ${name}, ${by})`);
  try {
    await node.evaluate(
      `rabbit_auth_backend_internal:set_permissions(${name}, <<"/">>, <<"^$">>, <<".*">>, <<".*">>, ${by})`,
    );
    await body(Object.assign(new URL(node.url), { username: login, password: login }).href);
  } finally {
    await node.evaluate(`rabbit_auth_backend_internal:delete_user(${name}, ${by})`);
  }
}

describe("a plan", () => {
  const inWorld = onFaultNode(skip);

  it(
    "leaves as many queues, exchanges and bindings as it found, whether they are absent, present or different [TOP-03]",
    { skip },
    inWorld(async (world) => {
      const { mq } = await world.connect();
      const [queue, exchange] = [world.name("orders"), world.name("shop")];
      const ends = topology().exchange(exchange, "direct", { autoDelete: true }).queue(queue, { deadLetter: true });
      const shop = ends.bind(queue, { exchange, routingKey: "k" });
      const other = topology().exchange(exchange, "fanout", { autoDelete: true }).queue(queue, { type: "classic" })
        .bind(queue, { exchange, routingKey: "other" });
      const unchanged = async (): Promise<void> => {
        const before = await objectsOn(world.node);
        for (const wanted of [shop, other]) {
          await mq.plan(wanted);
          await mq.validate(wanted).catch(() => {/* whatever it finds */});
        }
        assert.deepEqual(await objectsOn(world.node), before);
      };
      await unchanged();
      const before = await objectsOn(world.node);
      await mq.declare(shop);
      const declared = await objectsOn(world.node);
      // Three queues, each bound to the default exchange, and three bindings of the topology.
      assert.deepEqual(
        [declared.queues - before.queues, declared.bindings - before.bindings],
        [3, 6],
      );
      await unchanged();
    }),
  );

  it(
    "tells a login that may not declare what is not there, and that it may not compare what is",
    { skip },
    inWorld(async (world) => {
      const there = await world.queue(await world.connect(), "there");
      const shop = topology().queue(there, { type: "classic" }).queue(world.name("absent"));
      await asStranger(world, async (url) => {
        const { mq } = await world.connect({ url });
        const { items } = await mq.plan(shop);
        assert.deepEqual(items.map(({ status }) => status), ["unknown", "would_create"]);
        assert.match(items[0]?.reason ?? "", /^ACCESS_REFUSED - access to queue/);
        await assert.rejects(mq.validate(topology().queue(there, { type: "classic" })), {
          code: "ACEMQ_TOPOLOGY_REFUSED",
        });
        assert.equal((await mq.health()).status, "up");
        await mq.close();
      });
    }),
  );
});
