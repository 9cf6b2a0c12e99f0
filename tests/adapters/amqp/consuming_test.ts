/** Consuming: in order, settled once, and back after every loss. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { TopologyError } from "../../../src/errors.ts";
import { reading } from "../../support/amqp_connection.ts";
import { deliveryFrames, joined, methodFrame } from "../../support/amqp_frames.ts";
import type { Answer, Script, ScriptedClient } from "../../support/scripted_broker.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

/** A broker that survives the end of a consumer, whatever queue it is on: `stand_in_test.ts` has the other. */
const ROBUST: Script = { serverProperties: { product: "RabbitMQ", version: "4.0.5" } };

/** Delivers so many messages to a consumer, tags counting from `first`. */
function deliver(
  client: ScriptedClient,
  channel: number,
  { first = 1, count = 1, tag = "t", properties = {} } = {},
): void {
  const frames = Array.from({ length: count }, (_, index) =>
    deliveryFrames(channel, {
      fields: { consumerTag: tag, deliveryTag: first + index, routingKey: "q" },
      properties,
      body: Uint8Array.of(first + index),
    }));
  client.send(joined(...frames));
}

/** What the client has settled, in order: `ack 3`, `requeue 4`, `discard 5`, each with its channel. */
function settlements(client: ScriptedClient): readonly string[] {
  return client.methods.flatMap(({ name, channel, fields }) => {
    if (name === "BasicAck") return [`ack ${fields["deliveryTag"]} on ${channel}`];
    if (name !== "BasicNack") return [];
    return [`${fields["requeue"] === true ? "requeue" : "discard"} ${fields["deliveryTag"]} on ${channel}`];
  });
}

/** A method as a script sees it. */
type Method = Parameters<NonNullable<Script["answer"]>>[0];

/** What an action asks of consumers: the method, the tag or the prefetch, and where to begin. */
async function callsOf(client: ScriptedClient, act: () => Promise<void>): Promise<readonly (readonly unknown[])[]> {
  const before = client.methods.length;
  await act();
  return client.methods.slice(before).filter(({ name }) => name.startsWith("Basic")).map(({ name, fields }) => [
    name,
    fields["consumerTag"] ?? fields["prefetchCount"],
    ...(name === "BasicConsume" ? [fields["arguments"]] : []),
  ]);
}

function cancel(channel: number, consumerTag = "t", nowait = true): Uint8Array {
  return methodFrame("BasicCancel", channel, { consumerTag, nowait });
}

function closeChannel(channel: number, replyCode: number, replyText: string): Uint8Array {
  return methodFrame("ChannelClose", channel, { replyCode, replyText, classId: 60, methodId: 80 });
}

describe("a subscription", () => {
  it("limits the prefetch first, then consumes, under the tag it was given", () =>
    withScript({}, async ({ mq, client }) => {
      await mq.subscribe("q", {
        prefetch: 7,
        consumerTag: "acemq-q-1a2b",
        arguments: { "x-priority": 5, "x-due": 3_000_000_000 },
        onDelivery: () => {},
        onLost: () => {},
        onRecovered: () => {},
      });
      const [open, qos, consume] = client.methods.slice(-3);
      assert.deepEqual([open?.name, qos?.name, consume?.name], ["ChannelOpen", "BasicQos", "BasicConsume"]);
      assert.deepEqual({ ...qos?.fields }, { prefetchSize: 0, prefetchCount: 7, global: false });
      const { queue, consumerTag, noAck, arguments: args } = consume?.fields ?? {};
      assert.deepEqual([queue, consumerTag, noAck], ["q", "acemq-q-1a2b", false]);
      assert.deepEqual({ ...args as object }, { "x-priority": 5, "x-due": 3_000_000_000 });
    }));

  it("hands deliveries over synchronously and in order, also those that come with the consumer's start", () => {
    const script: Script = {
      answer: ({ name, channel }, client): Answer => {
        if (name !== "BasicConsume") return undefined;
        client.send(methodFrame("BasicConsumeOk", channel, { consumerTag: "t" }));
        deliver(client, channel, { count: 100 });
        return [];
      },
    };
    return withScript(script, async ({ mq }) => {
      const { deliveries } = await reading(mq, "q", { tag: "t" });
      await until("100 deliveries", () => deliveries.length === 100);
      assert.deepEqual(deliveries.map(({ message }) => message.body[0]), Array.from({ length: 100 }, (_, i) => i + 1));
    });
  });

  it("settles each delivery as it is told, once", () =>
    withScript({}, async ({ mq, client }) => {
      const { deliveries } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel, { count: 3 });
      await until("three deliveries", () => deliveries.length === 3);
      const [one, two, three] = deliveries;
      assert.deepEqual([two?.settle("requeue"), one?.settle("ack"), three?.settle("discard")], [
        "sent",
        "sent",
        "sent",
      ]);
      assert.deepEqual([two?.settle("ack"), one?.settle("discard")], ["sent", "sent"]);
      await until("three settlements", () => settlements(client).length >= 3);
      assert.deepEqual(settlements(client), [
        `requeue 2 on ${channel}`,
        `ack 1 on ${channel}`,
        `discard 3 on ${channel}`,
      ]);
    }));

  it("goes on when whoever hears a delivery throws (trap 12)", () =>
    withScript({}, async ({ mq, client, events }) => {
      const { deliveries } = await reading(mq, "q", {
        tag: "t",
        each: ({ message }) => {
          if (message.body[0] === 1) throw new Error("a handler's fault");
        },
      });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel, { count: 2 });
      await until("both deliveries", () => deliveries.length === 2);
      assert.deepEqual(events, []);
    }));

  it("is refused with the broker's words, by its code", async () => {
    const answers: readonly (readonly [number, string])[] = [[404, "ACEMQ_TOPOLOGY_MISSING"], [
      403,
      "ACEMQ_TOPOLOGY_REFUSED",
    ]];
    for (const [code, expected] of answers) {
      const script: Script = {
        answer: ({ name, channel }) =>
          name === "BasicConsume" ? [closeChannel(channel, code, "geht nicht")] : undefined,
      };
      await withScript(script, async ({ mq }) => {
        await assert.rejects(reading(mq, "q"), (error) => {
          assert.ok(error instanceof TopologyError);
          assert.equal(error.message, 'Cannot consume from queue "q": geht nicht');
          return error.code === expected;
        });
      });
    }
  });

  it("is refused before anything is sent with arguments that cannot be written", () =>
    withScript({}, async ({ mq, client }) => {
      const options = { prefetch: 1, onDelivery: () => {}, onLost: () => {}, onRecovered: () => {} };
      const bad = { ...options, consumerTag: "t", arguments: { a: NaN } };
      await assert.rejects(mq.subscribe("q", bad), { code: "ACEMQ_TOPOLOGY_REFUSED", message: /argument "a" is NaN/ });
      const large = { ...options, consumerTag: "t", arguments: { a: "x".repeat(131_072) } };
      await assert.rejects(mq.subscribe("q", large), { code: "ACEMQ_TOPOLOGY_REFUSED", message: /one frame holds/ });
      await assert.rejects(mq.subscribe("", { ...options, consumerTag: "t" }), TypeError);
      await assert.rejects(mq.subscribe("q", { ...options, consumerTag: "t".repeat(255) }), RangeError);
      for (const prefetch of [-1, 1.5, 65_536, NaN]) {
        await assert.rejects(mq.subscribe("q", { ...options, consumerTag: "t", prefetch }), RangeError);
      }
      assert.deepEqual(client.named("BasicConsume"), []);
    }));

  it("changes its prefetch by a new consumer that stands before the old one ends: an auto-delete queue stays", () =>
    withScript(ROBUST, async ({ mq, client }) => {
      const { subscription, deliveries } = await reading(mq, "q", { tag: "t", prefetch: 1 });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel);
      await until("a delivery", () => deliveries.length === 1);
      const before = client.methods.length;
      await subscription.setPrefetch(5);
      const calls = client.methods.slice(before).map((
        { name, fields },
      ) => [name, fields["consumerTag"] ?? fields["prefetchCount"]]);
      assert.deepEqual(calls, [["BasicQos", 5], ["BasicConsume", "t~1"], ["BasicCancel", "t"]]);
      deliver(client, channel, { first: 2, tag: "t~1" });
      await until("another delivery", () => deliveries.length === 2);
      assert.equal(deliveries[0]?.settle("ack"), "sent");
      await subscription.setPrefetch(6);
      await subscription.cancel();
      const cancelled = client.named("BasicCancel").map(({ fields }) => fields["consumerTag"]);
      assert.deepEqual(cancelled, ["t", "t~1", "t~2"]);
      assert.deepEqual(subscription.live, false);
      await assert.rejects(subscription.setPrefetch(65_536), RangeError);
    }));

  it("changes its prefetch in a stream by a new consumer behind the last entry of the old one, which has ended", () =>
    withScript({}, async ({ mq, client }) => {
      const { subscription, deliveries } = await reading(mq, "s", {
        tag: "t",
        arguments: { "x-stream-offset": "first" },
      });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel, { properties: { headers: { "x-stream-offset": 6 } } });
      await until("an entry", () => deliveries.length === 1);
      assert.deepEqual(await callsOf(client, () => subscription.setPrefetch(5)), [
        ["BasicCancel", "t"],
        ["BasicQos", 5],
        ["BasicConsume", "t~1", { "x-stream-offset": 7 }],
      ]);
    }));

  it("asks whether it reads a stream when it never said where, since anybody may send an offset along", async () => {
    for (const refuses of [false, true]) {
      const answer = ({ name, channel, fields }: Method): Answer =>
        !refuses && name === "BasicConsume" && fields["consumerTag"] === ""
          ? [methodFrame("BasicConsumeOk", channel, { consumerTag: "made up by the broker" })]
          : undefined;
      await withScript({ ...ROBUST, answer }, async ({ mq, client }) => {
        const { subscription, deliveries, losses } = await reading(mq, "q", { tag: "t" });
        const { channel } = await client.received("BasicConsume");
        deliver(client, channel, { properties: { headers: { "x-stream-offset": 6 } } });
        await until("a delivery", () => deliveries.length === 1);
        const asked = [["BasicQos", 1], ["BasicConsume", "", { "x-stream-offset": "next" }]];
        const calls = await callsOf(client, () => subscription.setPrefetch(5));
        assert.deepEqual(
          calls,
          refuses
            ? [...asked, ["BasicQos", 5], ["BasicConsume", "t~1", {}], ["BasicCancel", "t"]]
            : [...asked, ["BasicCancel", "t"], ["BasicQos", 5], ["BasicConsume", "t~1", { "x-stream-offset": 7 }]],
        );
        assert.deepEqual(losses, []);
      });
    }
  });

  it("has caught up when a question on its own channel is answered, behind what was on the way, or when it is lost", () => {
    let questions = 0;
    const answer = (method: { readonly name: string; readonly channel: number }, client: ScriptedClient): Answer => {
      if (method.name !== "BasicQos" || ++questions === 1) return undefined;
      if (questions === 2) deliver(client, method.channel, { count: 20 });
      return questions === 2 ? undefined : [closeChannel(method.channel, 406, "PRECONDITION_FAILED - gone")];
    };
    return withScript({ answer }, async ({ mq, client }) => {
      const { subscription, deliveries, losses } = await reading(mq, "q", { tag: "t", prefetch: 50 });
      await subscription.caughtUp();
      assert.equal(deliveries.length, 20);
      const asked = client.named("BasicQos").map(({ channel, fields }) => [channel, fields["prefetchCount"]]);
      assert.deepEqual(asked[1], asked[0]);
      await subscription.caughtUp();
      assert.equal(losses.length, 1);
    });
  });

  it("hands out nothing after a cancel, and settles what was handed out", () =>
    withScript(ROBUST, async ({ mq, client }) => {
      const { subscription, deliveries } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel);
      await until("a delivery", () => deliveries.length === 1);
      await subscription.cancel();
      assert.equal(subscription.live, false);
      assert.equal(deliveries[0]?.settle("ack"), "sent");
      await until("a settlement", () => settlements(client).length === 1);
      assert.equal(client.named("ChannelClose").length, 0);
      await subscription.close();
      await client.received("ChannelClose");
    }));

  it("takes its channel with it when it closes: what was in hand is stale", () =>
    withScript({}, async ({ mq, client }) => {
      const { subscription, deliveries, losses } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel);
      await until("a delivery", () => deliveries.length === 1);
      await subscription.close();
      await subscription.close();
      assert.equal(deliveries[0]?.settle("ack"), "stale");
      assert.deepEqual([settlements(client), losses, client.named("ChannelClose").length], [[], [], 1]);
    }));
});

describe("on a connection that the broker has blocked", () => {
  /** Answers nothing any more once the test says so, as a broker that does not read. */
  function deafScript(): { readonly script: Script; readonly block: (client: ScriptedClient) => void } {
    let isDeaf = false;
    return {
      script: { ...ROBUST, answer: () => isDeaf ? [] : undefined },
      block: (client) => {
        isDeaf = true;
        client.send(methodFrame("ConnectionBlocked", 0, { reason: "low on memory" }));
      },
    };
  }

  it("a subscription ends without an answer, and the cancel goes out before what is given back", () => {
    const { script, block } = deafScript();
    return withScript(script, async ({ mq, client, reported }) => {
      const { subscription, deliveries } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel, { count: 2 });
      await until("two deliveries", () => deliveries.length === 2);
      block(client);
      await reported("blocked");
      const before = client.methods.length;
      await subscription.cancel();
      assert.equal(deliveries[0]?.settle("requeue"), "sent");
      await subscription.close();
      assert.equal(deliveries[1]?.settle("requeue"), "stale");
      await mq.close();
      await until("the goodbye", () => client.isGone);
      const sent = client.methods.slice(before).map(({ name }) => name);
      assert.deepEqual(sent, ["BasicCancel", "BasicNack", "ChannelClose", "ConnectionClose"]);
    }, { clock: virtualClock() });
  });

  it("a subscription ends also when the block comes while it waits for the answer", () => {
    const { script, block } = deafScript();
    return withScript({
      answer: (method, client) => {
        if (method.name === "BasicCancel") block(client);
        return script.answer?.(method, client);
      },
    }, async ({ mq }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      await subscription.cancel();
      await subscription.close();
    }, { clock: virtualClock() });
  });

  it("a subscription ends also when the answer to a change of its prefetch is still to come", () => {
    const { script, block } = deafScript();
    return withScript(script, async ({ mq, client, reported }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      block(client);
      await reported("blocked");
      const changing = subscription.setPrefetch(5);
      await client.received("BasicQos", 2);
      await subscription.cancel();
      await subscription.close();
      await mq.close();
      await changing;
    }, { clock: virtualClock() });
  });

  it("a connection closes without an answer, also when the block comes while it waits for one", () => {
    const { script, block } = deafScript();
    return withScript({
      answer: (method, client) => {
        if (method.name === "ConnectionClose") block(client);
        return script.answer?.(method, client);
      },
    }, async ({ mq, client }) => {
      await reading(mq, "q");
      await mq.close();
      await until("the goodbye", () => client.isGone);
    }, { clock: virtualClock() });
  });
});

describe("a consumer that the broker cancels", () => {
  it("is a loss that is told and made good, under the same tag, the old channel closed (trap 13)", () =>
    withScript({}, async ({ mq, client, events, reported }) => {
      const { subscription, deliveries, losses, recoveries } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel);
      await until("a delivery", () => deliveries.length === 1);
      client.send(cancel(channel));
      await reported("consumer_lost");
      assert.deepEqual(losses, ["the broker cancelled the consumer"]);
      assert.equal(subscription.live, false);
      assert.equal(deliveries[0]?.settle("ack"), "stale");
      await reported("consumer_recovered");
      assert.deepEqual([subscription.live, recoveries()], [true, 1]);
      assert.deepEqual(events, [
        { type: "consumer_lost", queue: "q", reason: "the broker cancelled the consumer" },
        { type: "consumer_recovered", queue: "q" },
      ]);
      const closed = client.named("ChannelClose").map((method) => method.channel);
      assert.deepEqual(closed, [channel]);
      assert.deepEqual(client.named("BasicConsume").map(({ fields }) => fields["consumerTag"]), ["t", "t"]);
    }));

  it("is answered when the broker asks for an answer", () =>
    withScript({}, async ({ mq, client, reported }) => {
      await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      client.send(cancel(channel, "t", false));
      assert.deepEqual((await client.received("BasicCancelOk")).fields["consumerTag"], "t");
      await reported("consumer_recovered");
    }));

  it("comes back when its queue does, however often it is refused meanwhile [CN-09]", () => {
    let isThere = true;
    const script: Script = {
      answer: ({ name, channel }) =>
        name === "BasicConsume" && !isThere ? [closeChannel(channel, 404, "NOT_FOUND")] : undefined,
    };
    return withScript(script, async ({ mq, client, events, reported }) => {
      const { subscription, recoveries } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      isThere = false;
      client.send(cancel(channel));
      await client.received("BasicConsume", 4);
      assert.deepEqual([subscription.live, recoveries()], [false, 0]);
      isThere = true;
      await reported("consumer_recovered");
      assert.equal(subscription.live, true);
      assert.deepEqual(events.map(({ type }) => type), ["consumer_lost", "consumer_recovered"]);
    });
  });

  it("stays away when it was closed meanwhile", () => {
    const clock = virtualClock();
    return withScript({}, async ({ mq, client, reported }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      client.send(cancel(channel));
      await reported("consumer_lost");
      await subscription.close();
      await client.received("ChannelClose");
      await clock.advance(5_000);
      await mq.checkQueue("q");
      assert.equal(client.named("BasicConsume").length, 1);
    }, { clock });
  });

  it("is not lost on its way when the cancel comes right behind the start", () => {
    let isFirst = true;
    const script: Script = {
      answer: ({ name, channel }): Answer => {
        if (name !== "BasicConsume" || !isFirst) return undefined;
        isFirst = false;
        return [joined(methodFrame("BasicConsumeOk", channel, { consumerTag: "t" }), cancel(channel))];
      },
    };
    return withScript(script, async ({ mq, reported }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      await reported("consumer_recovered");
      assert.equal(subscription.live, true);
    });
  });
});

describe("a consumer whose channel the broker closes", () => {
  it("is told so and consumes again: an acknowledgement that took too long", () =>
    withScript({}, async ({ mq, client, events, reported }) => {
      const { subscription, deliveries, losses, recoveries } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel);
      await until("a delivery", () => deliveries.length === 1);
      client.send(closeChannel(channel, 406, "PRECONDITION_FAILED - delivery acknowledgement timed out"));
      await reported("consumer_recovered");
      const reason = "406 PRECONDITION_FAILED - delivery acknowledgement timed out";
      assert.deepEqual([losses, recoveries(), subscription.live], [[reason], 1, true]);
      assert.deepEqual(events[0], { type: "consumer_lost", queue: "q", reason });
      assert.equal(deliveries[0]?.settle("ack"), "stale");
      assert.deepEqual(settlements(client), []);
    }));

  it("loses no other consumer with it", () =>
    withScript({}, async ({ mq, client, reported }) => {
      const one = await reading(mq, "q", { tag: "t" });
      const other = await reading(mq, "r", { tag: "u" });
      const { channel } = await client.received("BasicConsume");
      client.send(closeChannel(channel, 406, "PRECONDITION_FAILED"));
      await reported("consumer_recovered");
      assert.deepEqual([one.losses.length, other.losses.length, other.subscription.live], [1, 0, true]);
    }));
});

describe("a delivery from a link that is gone", () => {
  it("is stale, and its tag is never sent on another channel, whose tags start from 1 again [CON-09] [CN-11]", () =>
    withScript({}, async ({ mq, client, reported, broker }) => {
      const { deliveries, losses, recoveries } = await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      deliver(client, channel, { count: 5 });
      await until("five deliveries", () => deliveries.length === 5);
      assert.equal(deliveries[0]?.settle("ack"), "sent");
      await until("a settlement", () => settlements(client).length === 1);
      client.socket.destroy();
      await reported("recovered");
      const second = broker.clients[1] as ScriptedClient;
      const again = (await second.received("BasicConsume")).channel;
      assert.equal(again, channel);
      deliver(second, again, { count: 4 });
      await until("four deliveries again", () => deliveries.length === 9);
      for (const old of deliveries.slice(1, 5)) assert.equal(old.settle("ack"), "stale");
      assert.equal(deliveries[0]?.settle("ack"), "sent");
      for (const fresh of deliveries.slice(5)) assert.equal(fresh.settle("ack"), "sent");
      await until("four settlements", () => settlements(second).length === 4);
      assert.deepEqual(settlements(second), [1, 2, 3, 4].map((tag) => `ack ${tag} on ${again}`));
      assert.deepEqual([losses.length, recoveries()], [1, 1]);
    }));
});
