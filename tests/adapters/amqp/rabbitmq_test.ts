/** What only a real broker can show. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BrokerConnection } from "../../../src/ports/broker.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { messageFor, openAmqp, queueSpec, reading, uniqueName } from "../../support/amqp_connection.ts";
import { pulled } from "../../support/pulling.ts";
import { AMQP_URL, missing } from "../../support/services.ts";
import { TcpProxy } from "../../support/tcp_proxy.ts";
import { until } from "../../support/until.ts";

const skip = await missing("rabbitmq");
const DENO = fileURLToPath(new URL("../../../node_modules/.bin/deno", import.meta.url));
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

describe("on RabbitMQ", () => {
  let mq: BrokerConnection;
  const queues: string[] = [];

  before(async () => {
    if (skip === false) mq = (await openAmqp(AMQP_URL)).mq;
  });
  after(async () => {
    if (skip !== false) return;
    for (const queue of queues) await mq.deleteQueue(queue);
    await mq.close();
  });

  async function queue(label: string, args: DeclareArguments = {}): Promise<string> {
    const spec = queueSpec(uniqueName(label));
    queues.push(spec.name);
    const declared = await mq.declareQueue({ ...spec, arguments: { ...spec.arguments, ...args } });
    assert.deepEqual(declared, { status: "declared" });
    return spec.name;
  }

  for (const mebibytes of [1, 4, 15]) {
    it(`carries a body of ${mebibytes} MiB both ways, byte for byte [CN-04]`, { skip }, async () => {
      const name = await queue("body");
      const body = new Uint8Array(mebibytes * 1_048_576 + 3);
      for (let index = 0; index < body.byteLength; index++) body[index] = (index * 31 + (index >> 8)) & 0xff;
      assert.deepEqual(await mq.publish(messageFor(name, { body }), { lane: 1, confirm: true }), {
        outcome: "confirmed",
      });
      const taken = await pulled(mq, name);
      assert.equal(taken?.settle("requeue"), "sent");
      assert.ok(isSame(taken.message.body, body));
      const { deliveries, subscription } = await reading(mq, name);
      await until("the delivery", () => deliveries.length === 1);
      assert.ok(isSame(deliveries[0]?.message.body, body));
      deliveries[0]?.settle("ack");
      await subscription.close();
    });
  }

  it("republishes a message that has died twice with its history as it was: arrays, tables, timestamps [SR-19]", {
    skip,
  }, async () => {
    const last = await queue("last");
    const second = await queue("second", dyingInto(last));
    const first = await queue("first", dyingInto(second));
    await mq.publish(messageFor(first), { lane: 1, confirm: true });
    const dead = await until("the dead letter", async () => await pulled(mq, last) ?? undefined);
    const { headers } = dead.message;
    assert.equal((headers["x-death"] as readonly unknown[]).length, 2);
    const copy = await queue("copy");
    assert.deepEqual(await mq.publish(messageFor(copy, { headers }), { lane: 0, confirm: true }), {
      outcome: "confirmed",
    });
    const again = await pulled(mq, copy);
    assert.deepEqual(again?.message.headers, headers);
    assert.deepEqual([dead.settle("ack"), again?.settle("ack")], ["sent", "sent"]);
  });

  it(
    "keeps an auto-delete queue, and what waits in it, when the prefetch of its one consumer changes",
    { skip },
    async () => {
      const name = uniqueName("auto");
      await mq.declareQueue({ name, durable: true, exclusive: false, autoDelete: true, arguments: {} });
      const { deliveries, subscription, losses } = await reading(mq, name, { prefetch: 1 });
      for (let index = 0; index < 5; index++) {
        await mq.publish(messageFor(name, { body: Uint8Array.of(index) }), { lane: 1, confirm: true });
      }
      await until("one delivery", () => deliveries.length === 1);
      await subscription.setPrefetch(4);
      await until("all deliveries", () => deliveries.length === 5);
      assert.deepEqual(deliveries.map(({ message }) => message.body[0]), [0, 1, 2, 3, 4]);
      for (const delivery of deliveries) assert.equal(delivery.settle("ack"), "sent");
      await subscription.close();
      assert.deepEqual(losses, []);
      await until("the queue to go", async () => (await mq.checkQueue(name)).status === "absent");
    },
  );

  it(
    "stands again after its line was cut: topology, exclusive queue, prefetch and order of deliveries",
    { skip },
    async () => {
      const proxy = await TcpProxy.open(AMQP_URL);
      const { mq: cut, reported, events } = await openAmqp(proxy.url);
      const name = await queue("cut");
      const [exchange, mine] = [uniqueName("x"), uniqueName("mine")];
      await cut.declareExchange({ name: exchange, type: "topic", durable: false, autoDelete: true, arguments: {} });
      await cut.declareQueue({ name: mine, durable: false, exclusive: true, autoDelete: false, arguments: {} });
      for (const bound of [name, mine]) {
        await cut.bindQueue({ queue: bound, exchange, routingKey: "k.#", arguments: {} });
      }
      const { deliveries } = await reading(cut, name, { prefetch: 2 });
      for (let index = 0; index < 4; index++) {
        const message = messageFor("k.l", { exchange, body: Uint8Array.of(index) });
        assert.deepEqual(await cut.publish(message, { lane: 1, confirm: true }), { outcome: "confirmed" });
      }
      await until("two deliveries", () => deliveries.length === 2);
      proxy.cut();
      await reported("recovered");
      await until("the same two again, and no more", () => deliveries.length === 4);
      assert.deepEqual(deliveries.map(({ message }) => message.body[0]), [0, 1, 0, 1]);
      assert.deepEqual(deliveries.map((delivery) => delivery.settle("ack")), ["stale", "stale", "sent", "sent"]);
      await until("the rest", () => deliveries.length === 6);
      const again = await cut.publish(messageFor("k", { exchange }), { lane: 1, confirm: true });
      assert.deepEqual(again, { outcome: "confirmed" });
      assert.equal((await cut.checkQueue(mine)).status, "present");
      assert.deepEqual(events.filter(({ type }) => type === "redeclare_failed"), []);
      await cut.close();
      await proxy.close();
    },
  );
});

describe("on Deno", () => {
  it(
    "needs the permission to reach the broker, and no other",
    { skip: skip === false && !existsSync(DENO) ? "there is no Deno" : skip },
    async () => {
      const { host } = new URL(AMQP_URL);
      const program = fileURLToPath(new URL("../../support/permissions_program.ts", import.meta.url));
      const args = ["run", "--no-check", "--no-prompt", "--quiet", `--allow-net=${host}`, program, AMQP_URL];
      const { stdout } = await promisify(execFile)(DENO, args, { cwd: ROOT });
      assert.equal(stdout.trim(), "confirmed rabbitmq unknown");
    },
  );
});

/** The arguments of a queue whose messages die at once, into another. */
function dyingInto(target: string): DeclareArguments {
  return { "x-message-ttl": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": target };
}

function isSame(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one?.byteLength === other.byteLength && one.every((byte, index) => byte === other[index]);
}
