/** Comparing over the wire: which questions are sent, and what the broker's code means, whatever its words. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { queueSpec } from "../../support/amqp_connection.ts";
import { methodFrame } from "../../support/amqp_frames.ts";
import type { Answer, Script, ScriptedClient } from "../../support/scripted_broker.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const EXCHANGE = { name: "x", type: "topic", durable: true, autoDelete: false, arguments: {} } as const;
const WORDS = "in ganz anderen Worten";

/** A broker that closes the channel over a passive question, or over a declaration, with these codes. */
function refusing({ passive, active }: { readonly passive?: number; readonly active?: number }): Script {
  return {
    answer: ({ name, channel, fields }): Answer => {
      if (!/^(Queue|Exchange)Declare$/.test(name)) return undefined;
      const code = fields["passive"] === true ? passive : active;
      if (code === undefined) return undefined;
      return [methodFrame("ChannelClose", channel, { replyCode: code, replyText: WORDS, classId: 50, methodId: 10 })];
    },
  };
}

/** What was asked about objects, in order. */
function asked({ methods }: ScriptedClient): string[] {
  return methods.filter(({ name }) => /^(Queue|Exchange)/.test(name))
    .map(({ name, fields }) => `${fields["passive"] === true ? "passive" : "active"} ${name}`);
}

describe("a comparison", () => {
  it("asks passively first and then declares, on one channel that is closed behind it [TOP-03]", () =>
    withScript({}, async ({ mq, client }) => {
      assert.deepEqual(await mq.compareExchange(EXCHANGE), { status: "same" });
      assert.deepEqual(await mq.compareQueue(queueSpec("q")), { status: "same" });
      assert.deepEqual(asked(client), [
        "passive ExchangeDeclare",
        "active ExchangeDeclare",
        "passive QueueDeclare",
        "active QueueDeclare",
      ]);
      await until("both channels are closed", () => client.named("ChannelClose").length === 2);
      assert.equal(client.named("ChannelOpen").length, 2);
    }));

  it("declares nothing that the passive question does not find [TOP-03]", async () => {
    for (const passive of [404, 403, 405]) {
      await withScript(refusing({ passive }), async ({ mq, client }) => {
        const status = passive === 404 ? "absent" : "refused";
        assert.deepEqual(await mq.compareQueue(queueSpec("q")), { status, reason: WORDS });
        assert.deepEqual(await mq.compareExchange(EXCHANGE), { status, reason: WORDS });
        assert.deepEqual(asked(client), ["passive QueueDeclare", "passive ExchangeDeclare"]);
      });
    }
  });

  for (const [active, status] of [[406, "differs"], [405, "differs"], [403, "refused"], [540, "refused"]] as const) {
    it(`finds '${status}' when what is there is declared and answered with ${active}, whatever the words [TOP-14]`, () =>
      withScript(refusing({ active }), async ({ mq }) => {
        assert.deepEqual(await mq.compareQueue(queueSpec("q")), { status, reason: WORDS });
        assert.deepEqual(await mq.compareExchange(EXCHANGE), { status, reason: WORDS });
        assert.equal(mq.state.status, "open");
      }));
  }

  it("is rejected when the connection breaks between its two questions", () => {
    const script: Script = {
      answer: ({ name, fields }) => name === "QueueDeclare" && fields["passive"] !== true ? [] : undefined,
    };
    return withScript(script, async ({ mq, client }) => {
      const comparing = mq.compareQueue(queueSpec("q"));
      await client.received("QueueDeclare", 2);
      client.socket.destroy();
      await assert.rejects(comparing, { name: "ConnectionError", code: "ACEMQ_CONNECTION_LOST" });
    });
  });

  it("is forgotten: what was compared is not declared again when the link comes back", () =>
    withScript({}, async ({ mq, broker, client, reported }) => {
      await mq.compareExchange(EXCHANGE);
      await mq.compareQueue(queueSpec("q"));
      await mq.declareQueue(queueSpec("declared"));
      client.socket.destroy();
      await reported("recovered");
      const next = await broker.client();
      assert.deepEqual(next.named("QueueDeclare").map(({ fields }) => fields["queue"]), ["declared"]);
      assert.deepEqual(next.named("ExchangeDeclare"), []);
    }));
});
