/** Pulling over AMQP: a channel for each puller, which costs nobody else anything and does not stay open. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { type Connection, openConnection } from "../../../src/connection.ts";
import { TopologyError } from "../../../src/errors.ts";
import { deliveryFrames, type Method, methodFrame } from "../../support/amqp_frames.ts";
import { type Answer, type Script, ScriptedBroker, type ScriptedClient } from "../../support/scripted_broker.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const BODY = new Uint8Array([7]);

/** A message that was asked for. */
function gotten(channel: number, deliveryTag: number): readonly Uint8Array[] {
  const method = { deliveryTag, redelivered: true, exchange: "x", routingKey: "k", messageCount: 3 };
  const frames = deliveryFrames(channel, { fields: { consumerTag: "", deliveryTag }, body: BODY });
  return [methodFrame("BasicGetOk", channel, method), frames.subarray(frames.indexOf(0xce) + 1)];
}

/** A broker with a message in every queue but "empty". */
function full(): Script {
  const tags = new Map<string, number>();
  return {
    answer: ({ name, channel, fields }, { socket }): Answer => {
      if (name !== "BasicGet" || fields["queue"] === "empty") return undefined;
      const on = `${socket.remotePort} ${channel}`;
      tags.set(on, (tags.get(on) ?? 0) + 1);
      return gotten(channel, tags.get(on) ?? 0);
    },
  };
}

/** The same broker, which answers a method another way. */
function fullBut(name: string, answer: (method: Method, client: ScriptedClient) => Answer): Script {
  const usual = full();
  return { answer: (method, client) => method.name === name ? answer(method, client) : usual.answer?.(method, client) };
}

function refusal(channel: number, replyCode: number): readonly Uint8Array[] {
  return [methodFrame("ChannelClose", channel, { replyCode, replyText: "FAULT", classId: 60, methodId: 70 })];
}

/** Channels that are open at the broker, once every close that is under way was heard of. */
function openChannels(client: ScriptedClient): number {
  const closed = client.named("ChannelClose").length + client.named("ChannelCloseOk").length;
  return client.named("ChannelOpen").length - closed;
}

function channelsOf(client: ScriptedClient, name: string): readonly number[] {
  return client.named(name).map(({ channel }) => channel);
}

describe("a puller", () => {
  it("asks and settles on one channel of its own, and closes it", () =>
    withScript(full(), async ({ mq, client }) => {
      const [one, other] = [await mq.openPuller("q"), await mq.openPuller("r")];
      await until("the questions' channels are closed", () => openChannels(client) === 2);
      const [first, second, third] = [await one.pull(), await other.pull(), await one.pull()];
      const { exchange, routingKey, redelivered, body } = first?.message ?? {};
      assert.deepEqual([exchange, routingKey, redelivered, body, first?.waiting], ["x", "k", true, BODY, 3]);
      assert.deepEqual([first?.settle("ack"), second?.settle("ack"), third?.settle("requeue")], [
        "sent",
        "sent",
        "sent",
      ]);
      await Promise.all([one.close(), other.close()]);
      const [a, b] = channelsOf(client, "BasicGet");
      assert.notEqual(a, b);
      assert.deepEqual(channelsOf(client, "BasicGet"), [a, b, a]);
      assert.deepEqual(channelsOf(client, "BasicAck"), [a, b]);
      assert.deepEqual(client.named("BasicNack").map(({ channel, fields }) => [channel, fields["deliveryTag"]]), [[
        a,
        2,
      ]]);
      assert.equal(openChannels(client), 0);
    }));

  it("opens one channel for pulls that come at once", () =>
    withScript(full(), async ({ mq, client }) => {
      const puller = await mq.openPuller("q");
      const answers = await Promise.all([puller.pull(), puller.pull()]);
      assert.deepEqual(answers.map((answer) => answer?.settle("ack")), ["sent", "sent"]);
      assert.equal(new Set(channelsOf(client, "BasicGet")).size, 1);
      await puller.close();
    }));

  it("finds nothing in an empty queue, and closes its channel all the same", () =>
    withScript(full(), async ({ mq, client }) => {
      const puller = await mq.openPuller("empty");
      assert.equal(await puller.pull(), null);
      await puller.close();
      assert.equal(openChannels(client), 0);
    }));

  it("that is refused leaves no channel behind, and another one what it holds", () =>
    withScript(
      fullBut("BasicGet", ({ channel, fields }) =>
        fields["queue"] === "gone" ? refusal(channel, 404) : gotten(channel, 1)),
      async ({ mq, client }) => {
        const [one, other] = [await mq.openPuller("q"), await mq.openPuller("gone")];
        const held = await one.pull();
        await assert.rejects(other.pull(), {
          code: "ACEMQ_TOPOLOGY_MISSING",
          message: `Cannot pull from queue "gone": FAULT`,
        });
        assert.deepEqual([held?.isLive, held?.settle("ack")], [true, "sent"]);
        await Promise.all([one.close(), other.close()]);
        await until("no channel", () =>
          openChannels(client) === 0);
      },
    ));

  it("that cannot begin leaves no channel behind", () =>
    withScript(fullBut("QueueDeclare", ({ channel }) => refusal(channel, 404)), async ({ mq, client }) => {
      await assert.rejects(mq.openPuller("q"), {
        code: "ACEMQ_TOPOLOGY_MISSING",
        message: `Cannot pull from queue "q": FAULT`,
      });
      await until("no channel", () => openChannels(client) === 0);
      assert.deepEqual(client.named("BasicGet"), []);
    }));

  it("that is closed while the broker does not answer a pull is not waited for, and what comes late goes back", () => {
    const late: (() => void)[] = [];
    const script = fullBut("BasicGet", ({ channel }, client) => {
      late.push(() => client.send(...gotten(channel, 1)));
      return [];
    });
    const answer: Script["answer"] = (method, client) => {
      // A channel whose queue does not answer closes behind that answer.
      if (method.name !== "ChannelClose" || late.length === 0) return script.answer?.(method, client);
      late.push(() => client.send(methodFrame("ChannelCloseOk", method.channel)));
      return [];
    };
    return withScript({ answer }, async ({ mq, client }) => {
      const puller = await mq.openPuller("q");
      await until("the questions' channels are closed", () => openChannels(client) === 1);
      const pulling = puller.pull();
      await client.received("BasicGet");
      await puller.close();
      await until("the close", () => late.length === 2);
      for (const send of late) send();
      const delivery = await pulling;
      assert.deepEqual([delivery?.isLive, delivery?.settle("ack")], [false, "stale"]);
      assert.deepEqual([client.named("BasicAck"), openChannels(client)], [[], 0]);
    });
  });

  it("that is closed while the broker reads nothing is not waited for", () => {
    const script = fullBut("ChannelClose", ({ channel }) => channel === blocked ? [] : undefined);
    let blocked = -1;
    return withScript(script, async ({ mq, client, reported }) => {
      const puller = await mq.openPuller("q");
      const held = await puller.pull();
      blocked = channelsOf(client, "BasicGet")[0] ?? -1;
      client.send(methodFrame("ConnectionBlocked", 0, { reason: "low on memory" }));
      await reported("blocked");
      await puller.close();
      assert.equal(held?.settle("ack"), "stale");
    });
  });

  it("pulls on the next link when it was lost with one, on one channel there", () =>
    withScript(full(), async ({ mq, client, broker, reported }) => {
      const puller = await mq.openPuller("q");
      const held = await puller.pull();
      client.socket.destroy();
      await reported("lost");
      await assert.rejects(puller.pull(), { code: "ACEMQ_CONNECTION_LOST" });
      await reported("recovered");
      assert.equal(held?.settle("ack"), "stale");
      assert.equal((await puller.pull())?.settle("ack"), "sent");
      const next = broker.clients.at(-1) as ScriptedClient;
      assert.notEqual(next, client);
      await puller.close();
      await until("no channel", () => openChannels(next) === 0);
    }));

  it("that was lost with its link and is closed then opens nothing on the next", () =>
    withScript(full(), async ({ mq, client, broker, reported }) => {
      const puller = await mq.openPuller("q");
      client.socket.destroy();
      await reported("recovered");
      await puller.close();
      assert.deepEqual(broker.clients.at(-1)?.named("ChannelOpen"), []);
    }));
});

/** How a look or a pass of the library can end, and the method that is answered otherwise meanwhile. */
const ENDS: readonly (readonly [
  how: string,
  script: Script,
  run: (mq: Connection, client: ScriptedClient) => Promise<unknown>,
])[] = [
  ["a look that is left", full(), async (mq) => {
    for await (const _ of mq.peek("q.dlq")) break;
  }],
  ["a look at its limit", full(), async (mq) => {
    for await (const _ of mq.peek("q.dlq", { limit: 2 }));
  }],
  ["a look whose loop throws", full(), async (mq) => {
    await assert.rejects(async () => {
      for await (const _ of mq.peek("q.dlq")) throw new Error("Enough");
    }, /Enough/);
  }],
  ["a look whose signal aborts between two messages", full(), async (mq) => {
    const abort = new AbortController();
    const looking = mq.peek("q.dlq", { signal: abort.signal });
    await looking.next();
    abort.abort();
    await mq.idle();
  }],
  ["a look whose signal aborts before the broker is asked", full(), async (mq) => {
    const abort = new AbortController();
    const next = mq.peek("q.dlq", { signal: abort.signal }).next();
    abort.abort();
    assert.equal((await next).done, true);
  }],
  ["a look whose signal aborts before the broker answers", fullBut("BasicGet", () => []), async (mq, client) => {
    const abort = new AbortController();
    const asked = client.named("BasicGet").length;
    const next = mq.peek("q.dlq", { signal: abort.signal }).next();
    await client.received("BasicGet", asked + 1);
    abort.abort();
    assert.equal((await next).done, true);
  }],
  ["a look that is refused a message", fullBut("BasicGet", ({ channel }) => refusal(channel, 404)), async (mq) => {
    await assert.rejects(mq.peek("q.dlq").next(), { code: "ACEMQ_TOPOLOGY_MISSING" });
  }],
  [
    "a pass that is refused its queue",
    fullBut("QueueDeclare", ({ channel }) => refusal(channel, 404)),
    async (mq) => {
      await assert.rejects(mq.replay("q"), { code: "ACEMQ_TOPOLOGY_MISSING" });
    },
  ],
  ["a pass that is through", full(), async (mq) => {
    assert.equal((await mq.replay("q", { dryRun: true })).reason, "drained");
  }],
  ["a pass whose filter throws", full(), async (mq) => {
    const filter = (): never => {
      throw new Error("Cannot tell");
    };
    assert.equal((await mq.replay("q", { filter })).reason, "failed");
  }],
  ["a pass whose filter never answers", full(), async (mq) => {
    const abort = new AbortController();
    const filter = (): Promise<boolean> => {
      abort.abort();
      return new Promise(() => {});
    };
    assert.equal((await mq.replay("q", { filter, signal: abort.signal })).reason, "cancelled");
  }],
];

describe("no channel is left behind", () => {
  for (const [how, script, run] of ENDS) {
    it(`by ${how}`, async () => {
      const broker = await ScriptedBroker.open(script);
      try {
        const mq = await openConnection(amqpBroker(broker.url));
        try {
          const client = await broker.client();
          for (let round = 0; round < 3; round++) await run(mq, client);
          await until("the channels", () => client.named("ChannelOpen").length >= 3);
          await until("no channel", () => openChannels(client) === 0);
        } finally {
          await mq.close();
        }
      } finally {
        await broker.close();
      }
    });
  }
});

describe("a stream", () => {
  const isStream = (): Script =>
    fullBut("BasicConsume", ({ channel, fields }) => [
      methodFrame("BasicConsumeOk", channel, { consumerTag: fields["consumerTag"] }),
    ]);

  for (
    const [what, ask] of [
      ["pull from", (mq) => mq.openPuller("s")],
      ["purge", (mq) => mq.purgeQueue("s")],
    ] satisfies readonly (readonly [string, (mq: Parameters<Parameters<typeof withScript>[1]>[0]["mq"]) => unknown])[]
  ) {
    it(`is not asked to ${what}: RabbitMQ would close the connection over that`, () =>
      withScript(isStream(), async ({ mq, client, events }) => {
        await assert.rejects(async () => await ask(mq), (error) => {
          assert.ok(error instanceof TopologyError);
          assert.deepEqual([error.code, error.message], [
            "ACEMQ_TOPOLOGY_REFUSED",
            `Cannot ${what} queue "s": found a stream, wanted a classic or a quorum queue`,
          ]);
          return true;
        });
        assert.deepEqual([client.named("BasicGet"), client.named("QueuePurge"), events], [[], [], []]);
        await until("no channel", () => openChannels(client) === 0);
      }));
  }

  it("is known by what RabbitMQ refuses other queues: another broker is not asked, it may take anything", () =>
    withScript({ ...isStream(), serverProperties: { product: "LavinMQ" } }, async ({ mq, client }) => {
      const puller = await mq.openPuller("q");
      assert.equal((await puller.pull())?.settle("ack"), "sent");
      await mq.purgeQueue("q");
      assert.deepEqual(client.named("BasicConsume"), []);
      await puller.close();
    }));
});
