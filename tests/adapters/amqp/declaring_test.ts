/** Declaring, asking and removing: what the broker's code means, whatever its words. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TopologyError } from "../../../src/errors.ts";
import type { ExchangeType } from "../../../src/topology/specs.ts";
import { queueSpec } from "../../support/amqp_connection.ts";
import { methodFrame } from "../../support/amqp_frames.ts";
import type { Answer, Script } from "../../support/scripted_broker.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const EXCHANGE = { name: "x", type: "topic", durable: true, autoDelete: false, arguments: {} } as const;
const BINDING = { queue: "q", exchange: "x", routingKey: "k", arguments: {} };
const WORDS = "in ganz anderen Worten";

/** A broker that answers each of these methods by closing the channel, passive ones as `passive` says. */
function refusing(replyCode: number, { passive }: { readonly passive?: number } = {}): Script {
  return {
    answer: ({ name, channel, fields }): Answer => {
      if (!/^(Queue|Exchange)|BasicGet/.test(name)) return undefined;
      const code = fields["passive"] === true ? passive : replyCode;
      if (code === undefined) return undefined;
      return [methodFrame("ChannelClose", channel, { replyCode: code, replyText: WORDS, classId: 50, methodId: 10 })];
    },
  };
}

describe("a declaration", () => {
  it("differs when the code is 406 and the object is there, whatever the words [TOP-14]", () =>
    withScript(refusing(406), async ({ mq }) => {
      assert.deepEqual(await mq.declareQueue(queueSpec("q")), { status: "differs", reason: WORDS });
      assert.deepEqual(await mq.declareExchange(EXCHANGE), { status: "differs", reason: WORDS });
    }));

  it("is refused when the code is 406 and the object is not there: its arguments are wrong in themselves [TOP-14]", () =>
    withScript(refusing(406, { passive: 404 }), async ({ mq }) => {
      assert.deepEqual(await mq.declareQueue(queueSpec("q")), { status: "refused", reason: WORDS });
      assert.deepEqual(await mq.declareExchange(EXCHANGE), { status: "refused", reason: WORDS });
      assert.deepEqual(await mq.bindQueue(BINDING), { status: "refused", reason: WORDS });
    }));

  for (const code of [403, 404, 405, 540]) {
    it(`is refused with ${code}, whatever the words [TOP-14]`, () =>
      withScript(refusing(code), async ({ mq }) => {
        for (
          const declaring of [mq.declareQueue(queueSpec("q")), mq.declareExchange(EXCHANGE), mq.bindQueue(BINDING)]
        ) {
          assert.deepEqual(await declaring, { status: "refused", reason: WORDS });
        }
      }));
  }

  it("is refused here when the broker would close the connection over it, or could not be asked", () =>
    withScript({}, async ({ mq, client }) => {
      const type = "x-delayed-message" as ExchangeType;
      assert.deepEqual(await mq.declareExchange({ ...EXCHANGE, type }), {
        status: "refused",
        reason: 'the exchange type "x-delayed-message" is unknown',
      });
      assert.deepEqual(await mq.declareQueue(queueSpec("")), { status: "refused", reason: "a queue needs a name" });
      const refusals = [
        mq.declareQueue({ ...queueSpec("q"), arguments: { a: [Infinity] } }),
        mq.declareQueue({ ...queueSpec("q"), arguments: { a: "x".repeat(131_072) } }),
        mq.declareQueue(queueSpec("q".repeat(256))),
        mq.bindQueue({ ...BINDING, routingKey: "\u00fc".repeat(128) }),
      ];
      for (const refusal of refusals) assert.equal((await refusal).status, "refused");
      assert.deepEqual(client.methods.filter(({ name }) => /^(Queue|Exchange)/.test(name)), []);
      assert.equal(mq.state.status, "open");
    }));

  it("has a channel of its own, which is closed behind it", () =>
    withScript({}, async ({ mq, client }) => {
      for (let round = 0; round < 50; round++) await mq.declareQueue(queueSpec("q"));
      await until("every channel is closed", () => client.named("ChannelClose").length === 50);
      assert.equal(client.named("ChannelOpen").length, 50);
      assert.ok(client.named("ChannelOpen").every(({ channel }) => channel <= 2));
    }));
});

describe("a passive question", () => {
  it("finds absent what the broker answers with 404, and only that [TOP-14]", async () => {
    await withScript(refusing(0, { passive: 404 }), async ({ mq }) => {
      assert.deepEqual(await mq.checkQueue("q"), { status: "absent" });
      assert.equal(await mq.checkExchange("x"), "absent");
    });
    await withScript(refusing(0, { passive: 403 }), async ({ mq }) => {
      const expected = (error: unknown): boolean => {
        assert.ok(error instanceof TopologyError);
        assert.deepEqual([error.code, error.findings], ["ACEMQ_TOPOLOGY_REFUSED", [WORDS]]);
        return true;
      };
      await assert.rejects(mq.checkQueue("q"), expected);
      await assert.rejects(mq.checkExchange("x"), expected);
    });
    await withScript(refusing(0, { passive: 405 }), async ({ mq }) => {
      assert.deepEqual(await mq.checkQueue("q"), { status: "present", messages: 0, consumers: 0 });
    });
  });

  it("gives the counts of a queue", () => {
    const counts = { queue: "q", messageCount: 12, consumerCount: 3 };
    const script: Script = {
      answer: ({ name, channel }) =>
        name === "QueueDeclare" ? [methodFrame("QueueDeclareOk", channel, counts)] : undefined,
    };
    return withScript(script, async ({ mq }) => {
      assert.deepEqual(await mq.checkQueue("q"), { status: "present", messages: 12, consumers: 3 });
    });
  });

  it("knows that the default exchange is there without asking", () =>
    withScript({}, async ({ mq, client }) => {
      assert.equal(await mq.checkExchange(""), "present");
      assert.deepEqual(client.named("ExchangeDeclare"), []);
    }));
});

describe("removing", () => {
  it("does not mind what is not there, and says what the broker refuses [TOP-14]", async () => {
    await withScript(refusing(404), async ({ mq }) => {
      await mq.deleteQueue("q");
      await mq.deleteExchange("x");
      await assert.rejects(mq.purgeQueue("q"), {
        code: "ACEMQ_TOPOLOGY_MISSING",
        message: `Cannot purge queue "q": ${WORDS}`,
      });
      const puller = await mq.openPuller("q");
      await assert.rejects(puller.pull(), {
        code: "ACEMQ_TOPOLOGY_MISSING",
        message: `Cannot pull from queue "q": ${WORDS}`,
      });
    });
    await withScript(refusing(405), async ({ mq }) => {
      for (const removing of [mq.deleteQueue("q"), mq.deleteExchange("q"), mq.purgeQueue("q")]) {
        await assert.rejects(removing, { code: "ACEMQ_TOPOLOGY_REFUSED" });
      }
    });
  });

  it("takes names only", () =>
    withScript({}, async ({ mq, client }) => {
      for (const name of ["", "q".repeat(256)]) {
        const calls = [
          () => mq.deleteQueue(name),
          () => mq.deleteExchange(name),
          () => mq.purgeQueue(name),
          () => mq.checkQueue(name),
          () => mq.openPuller(name),
        ];
        for (const call of calls) await assert.rejects(call, name === "" ? TypeError : RangeError);
      }
      assert.deepEqual(client.named("ChannelOpen"), []);
    }));
});

describe("a connection whose channels are all in use", () => {
  it("says so, and keeps the channels it has", () =>
    withScript({ tune: { channelMax: 2 } }, async ({ mq, client }) => {
      const options = { prefetch: 1, onDelivery: () => {}, onLost: () => {}, onRecovered: () => {} };
      await mq.subscribe("q", { ...options, consumerTag: "t" });
      const second = await mq.subscribe("q", { ...options, consumerTag: "u" });
      await assert.rejects(mq.checkQueue("q"), /the broker allows 2 channels on a connection, and all are open/);
      await second.close();
      assert.equal((await mq.checkQueue("q")).status, "present");
      assert.equal(client.isGone, false);
    }));
});

describe("channels that both sides close at once", () => {
  it("do not take the next channel of that number with them", () => {
    let isOwed = false;
    const script: Script = {
      answer: ({ name, channel }): Answer => {
        if (name === "ChannelClose") {
          isOwed = true;
          // The broker's own close was on its way; it answers ours all the same, when the number is in use again.
          const fields = { replyCode: 406, replyText: "timed out", classId: 0, methodId: 0 };
          return [methodFrame("ChannelClose", channel, fields)];
        }
        if (name !== "ChannelOpen" || !isOwed) return undefined;
        isOwed = false;
        return [methodFrame("ChannelCloseOk", channel), methodFrame("ChannelOpenOk", channel)];
      },
    };
    return withScript(script, async ({ mq }) => {
      for (let round = 0; round < 5; round++) assert.equal((await mq.checkQueue("q")).status, "present");
      assert.equal(mq.state.status, "open");
    });
  });
});
