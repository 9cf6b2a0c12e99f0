/** Consumers that do not come back with their connection: what is told of them, and that nobody waits for them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { messageFor, reading } from "../../support/amqp_connection.ts";
import { methodFrame } from "../../support/amqp_frames.ts";
import { type Answer, confirmAll, type Script, type ScriptedClient } from "../../support/scripted_broker.ts";
import { type ScriptedWorld, withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

/** What the broker does with those who consume, from the second link on. */
type Fate = "answered" | "refused" | "silent";

/** A broker whose mind about consumers can be changed. */
class Moody {
  fates: Readonly<Record<string, Fate>> = {};
  readonly script: Script = {
    onMessage: confirmAll,
    answer: ({ name, channel, fields }): Answer => {
      if (name !== "BasicConsume") return undefined;
      const fate = this.fates[String(fields["queue"])] ?? "answered";
      if (fate === "answered") return undefined;
      return fate === "silent" ? [] : [closeChannel(channel)];
    },
  };
}

describe("a connection whose broker does not answer one of its consumers", () => {
  it("is back when its link and its topology are, and has told by then that this one is not", async () => {
    const [clock, moody] = [virtualClock(), new Moody()];
    await withScript(moody.script, async (world) => {
      const { mq, events, reported } = world;
      const prompt = await reading(mq, "prompt");
      const slow = await reading(mq, "slow");
      moody.fates = { slow: "silent" };
      const second = await nextLink(world, clock);
      const asked = await until("the slow one", () => consumes(second).find(({ queue }) => queue === "slow"));
      // The link can be used meanwhile.
      assert.deepEqual(await mq.publish(messageFor("q"), { lane: 1, confirm: true }), { outcome: "confirmed" });
      await until("the prompt one", () => prompt.subscription.live);
      assert.equal(events.some(({ type }) => type === "recovered"), false);
      await clock.advance(5_000);
      await reported("recovered");
      assert.deepEqual(events.slice(-2), [
        { type: "consumer_lost", queue: "slow", reason: "the broker has not answered within 5000 ms" },
        { type: "recovered", attempts: 1 },
      ]);
      assert.deepEqual([slow.subscription.live, slow.recoveries(), prompt.recoveries()], [false, 0, 1]);

      second.send(methodFrame("BasicConsumeOk", asked.channel, { consumerTag: asked.tag }));
      await reported("consumer_recovered");
      assert.deepEqual([slow.subscription.live, slow.recoveries()], [true, 1]);
      assert.deepEqual(events.at(-1), { type: "consumer_recovered", queue: "slow" });
    }, { clock });
  });

  it("does not wait when that one is cancelled, and closes its channel when the answer comes after all", async () => {
    const [clock, moody] = [virtualClock(), new Moody()];
    await withScript(moody.script, async (world) => {
      const { subscription, recoveries } = await reading(world.mq, "slow");
      moody.fates = { slow: "silent" };
      const second = await nextLink(world, clock);
      const asked = await until("the slow one", () => consumes(second)[0]);
      await subscription.cancel();
      await clock.advance(5_000);
      await world.reported("recovered");
      second.send(methodFrame("BasicConsumeOk", asked.channel, { consumerTag: asked.tag }));
      assert.equal((await second.received("ChannelClose")).channel, asked.channel);
      assert.deepEqual([subscription.live, recoveries()], [false, 0]);
      assert.deepEqual(world.events.map(({ type }) => type), ["lost", "retrying", "recovered"]);
    }, { clock });
  });
});

describe("the loss of a consumer", () => {
  it("is followed by its return when the connection is what brings it back", () => {
    const moody = new Moody();
    return withScript(moody.script, async ({ mq, client, events, reported }) => {
      await reading(mq, "q");
      const { channel } = await client.received("BasicConsume");
      moody.fates = { q: "refused" };
      client.send(methodFrame("BasicCancel", channel, { consumerTag: "t", noWait: true }));
      await reported("consumer_lost");
      await client.received("BasicConsume", 2);
      moody.fates = {};
      client.socket.destroy();
      await reported("recovered");
      assert.deepEqual(events.map(({ type }) => type), [
        "consumer_lost",
        "lost",
        "retrying",
        "consumer_recovered",
        "recovered",
      ]);
    });
  });

  it("is told once, however many connections it outlasts, and so is the return", () => {
    const moody = new Moody();
    return withScript(moody.script, async ({ mq, broker, events, reported }) => {
      const { losses, recoveries } = await reading(mq, "q");
      moody.fates = { q: "refused" };
      for (let round = 1; round <= 3; round++) {
        broker.clients.at(-1)?.socket.destroy();
        await reported("recovered", round);
        await broker.clients.at(-1)?.received("BasicConsume", 2);
      }
      moody.fates = {};
      await reported("consumer_recovered");
      broker.clients.at(-1)?.socket.destroy();
      await reported("recovered", 4);
      const types = events.map(({ type }) => type).filter((type) => type.startsWith("consumer"));
      assert.deepEqual(types, ["consumer_lost", "consumer_recovered"]);
      assert.deepEqual([losses.length, recoveries()], [2, 2]);
    });
  });

  it("is not followed by anything when the consumer is ended first", () => {
    const moody = new Moody();
    return withScript(moody.script, async ({ mq, client, broker, events, reported }) => {
      const { subscription } = await reading(mq, "q");
      moody.fates = { q: "refused" };
      client.socket.destroy();
      await reported("consumer_lost");
      await subscription.close();
      moody.fates = {};
      broker.clients[1]?.socket.destroy();
      await reported("recovered", 2);
      assert.deepEqual(broker.clients[2]?.named("BasicConsume"), []);
      assert.equal(events.filter(({ type }) => type.startsWith("consumer")).length, 1);
    });
  });
});

/** Breaks the link and lets the wait pass: the link after it, from the broker's side. */
async function nextLink(
  { client, broker, reported }: ScriptedWorld,
  clock: ReturnType<typeof virtualClock>,
): Promise<ScriptedClient> {
  client.socket.destroy();
  await reported("retrying");
  await clock.advance(100);
  return await until("the next link", () => broker.clients[1]);
}

/** Who has asked to consume. */
function consumes(client: ScriptedClient): readonly { queue: unknown; tag: unknown; channel: number }[] {
  return client.named("BasicConsume").map(({ channel, fields }) => ({
    channel,
    queue: fields["queue"],
    tag: fields["consumerTag"],
  }));
}

function closeChannel(channel: number): Uint8Array {
  const fields = { replyCode: 404, replyText: "NOT_FOUND - no queue", classId: 60, methodId: 20 };
  return methodFrame("ChannelClose", channel, fields);
}
