/** What goes before a consumer that ends, on a RabbitMQ that loses the queue otherwise. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import type { BrokerConnection } from "../../../src/ports/broker.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import { queueSpec, reading } from "../../support/amqp_connection.ts";
import { deliveryFrames, methodFrame } from "../../support/amqp_frames.ts";
import type { Script, ScriptedClient } from "../../support/scripted_broker.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const SINGLE: DeclareArguments = { "x-single-active-consumer": true };

/** What an action asks for: each method with the channel it is on, a new one being "other", and whose consumer it is about. */
async function asked(
  client: ScriptedClient,
  own: number,
  act: () => Promise<void>,
): Promise<readonly string[]> {
  const before = client.methods.length;
  await act();
  return client.methods.slice(before).map(({ name, channel, fields }) => {
    const tag = fields["consumerTag"];
    const whose = tag === undefined ? "" : ` ${tag === "" ? "stand-in" : tag}`;
    return `${channel === own ? "own" : "other"} ${name}${whose}`;
  });
}

/** Ends a consumer of a queue under tag "t" that has a message in hand. */
async function ending(
  { mq, client }: { readonly mq: BrokerConnection; readonly client: ScriptedClient },
  args: DeclareArguments = {},
): Promise<readonly string[]> {
  const { subscription, deliveries } = await reading(mq, "q", { tag: "t", arguments: args });
  const { channel } = await client.received("BasicConsume");
  client.send(deliveryFrames(channel, {
    fields: { consumerTag: "t", deliveryTag: 1, routingKey: "q" },
    properties: {},
    body: Uint8Array.of(1),
  }));
  await until("a delivery", () => deliveries.length === 1);
  const calls = await asked(client, channel, () => subscription.cancel());
  assert.equal(deliveries[0]?.settle("ack"), "sent");
  await client.received("BasicAck");
  return calls;
}

const BEHIND = ["other ChannelOpen", "other BasicConsume stand-in", "own BasicCancel t"];

describe("a consumer that ends on RabbitMQ before 4.0", () => {
  it("ends behind a stand-in that goes before everybody, has no room, and goes with its channel", () =>
    withScript({}, async (world) => {
      const { client } = world;
      assert.deepEqual((await ending(world)).slice(0, 3), BEHIND);
      const closed = await client.received("ChannelClose");
      const [own, standIn] = client.named("BasicConsume");
      assert.deepEqual([closed.channel, standIn?.channel === own?.channel], [standIn?.channel, false]);
      const { queue, arguments: args } = standIn?.fields ?? {};
      assert.equal(queue, "q");
      assert.deepEqual({ ...args as object }, {
        "x-priority": Number(2n ** 63n - 1n),
        "x-credit": { credit: 0, drain: false },
      });
    }));

  it("does so for a changed prefetch as well, when the consumer that takes its place stands", () =>
    withScript({}, async ({ mq, client }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      const calls = await asked(client, channel, () => subscription.setPrefetch(5));
      assert.deepEqual(calls.slice(0, 5), ["own BasicQos", "own BasicConsume t~1", ...BEHIND]);
      assert.notEqual((await client.received("ChannelClose")).channel, channel);
    }));

  const version = (product: string, version: string): Script => ({ serverProperties: { product, version } });
  const cases: readonly (readonly [string, boolean, Script, DeclareArguments | undefined])[] = [
    ["RabbitMQ 3.13, about a queue it knows nothing of", true, version("RabbitMQ", "3.13.7"), undefined],
    ["RabbitMQ 4.0", false, version("RabbitMQ", "4.0.5"), SINGLE],
    ["another broker", false, version("LavinMQ", "2.1.0"), SINGLE],
    ["a broker that does not say what it is", false, { serverProperties: {} }, SINGLE],
    ["a queue it has declared with a single active consumer", true, {}, SINGLE],
    ["a queue it has declared without", false, {}, {}],
    ["a quorum queue it has declared", false, {}, { ...SINGLE, "x-queue-type": "quorum" }],
  ];
  for (const [where, needs, script, args] of cases) {
    it(`${needs ? "needs" : "does without"} one on ${where}`, () =>
      withScript(script, async (world) => {
        if (args !== undefined) await world.mq.declareQueue({ ...queueSpec("q"), arguments: args });
        const calls = await ending(world);
        assert.deepEqual(calls.slice(0, 3), needs ? BEHIND : BEHIND.slice(2));
      }));
  }

  it("does without one in a stream, which alone takes an offset", () =>
    withScript({}, async (world) => {
      assert.deepEqual(await ending(world, { "x-stream-offset": "first" }), ["own BasicCancel t"]);
    }));

  it("ends also where the stand-in is refused, as a stream does it", () =>
    withScript({
      answer: ({ name, channel, fields }) =>
        name === "BasicConsume" && fields["consumerTag"] === ""
          ? [methodFrame("ChannelClose", channel, { replyCode: 406, replyText: "no", classId: 60, methodId: 20 })]
          : undefined,
    }, async (world) => {
      const calls = await ending(world);
      assert.deepEqual(calls, [...BEHIND.slice(0, 2), "other ChannelCloseOk", "own BasicCancel t"]);
      assert.deepEqual(world.events, []);
    }));

  it("ends also where the stand-in gets no answer, as from a quorum queue without a leader", () => {
    const clock = virtualClock();
    return withScript({
      answer: ({ name, fields }) => name === "BasicConsume" && fields["consumerTag"] === "" ? [] : undefined,
    }, async ({ mq, client }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      const cancelling = subscription.cancel();
      await client.received("BasicConsume", 2);
      assert.deepEqual(client.named("BasicCancel"), []);
      await clock.advance(5_000);
      await cancelling;
      assert.equal(client.named("BasicCancel").length, 1);
    }, { clock });
  });

  it("has its stand-in on its own channel where there is no other", () =>
    withScript({ tune: { channelMax: 1 } }, async (world) => {
      assert.deepEqual(await ending(world), ["own BasicConsume stand-in", "own BasicCancel t"]);
    }));

  it("has its stand-in on its own channel when the broker reads nothing: what is written is read in its order", () => {
    let isDeaf = false;
    return withScript({ answer: () => isDeaf ? [] : undefined }, async ({ mq, client, reported }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      isDeaf = true;
      client.send(methodFrame("ConnectionBlocked", 0, { reason: "low on memory" }));
      await reported("blocked");
      const calls = asked(client, channel, async () => {
        await subscription.cancel();
        await subscription.close();
        await client.received("ChannelClose");
      });
      assert.deepEqual(await calls, ["own BasicConsume stand-in", "own BasicCancel t", "own ChannelClose"]);
    }, { clock: virtualClock() });
  });
});
