/** What the broker does not let us declare again at once: it is asked for until it stands, and holds up nothing else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import type { BrokerEvent } from "../../../src/ports/broker.ts";
import { messageFor, queueSpec, reading } from "../../support/amqp_connection.ts";
import { type Method, methodFrame } from "../../support/amqp_frames.ts";
import { CountingClock } from "../../support/residue.ts";
import { type Answer, confirmAll, type Script, type ScriptedClient } from "../../support/scripted_broker.ts";
import { type ScriptedWorld, withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const EXCHANGE = { name: "x", type: "topic", durable: true, autoDelete: false, arguments: {} } as const;
const EXCLUSIVE = { name: "mine", durable: false, exclusive: true, autoDelete: false, arguments: {} };
const BINDING = { queue: "mine", exchange: "x", routingKey: "k", arguments: {} };
const LOCKED = "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'mine'";

/** A broker that answers everything until it is told how not to. */
class Moody {
  /** Why a method is refused, and not at all where it gives `"silence"`. */
  mood: (method: Method) => string | undefined = () => undefined;
  readonly script: Script = {
    onMessage: confirmAll,
    answer: (method): Answer => {
      const reason = this.mood(method);
      if (reason === undefined) return undefined;
      return reason === "silence" ? [] : [closeChannel(method.channel, reason)];
    },
  };
}

describe("a queue that the broker keeps for the connection that was lost", () => {
  it("is declared again as often as it takes, with its binding and its consumer, and holds up nothing else [CN-30]", () => {
    const moody = new Moody();
    return withScript(moody.script, async (world) => {
      const { mq, events, reported } = world;
      await mq.declareExchange(EXCHANGE);
      await mq.declareQueue(EXCLUSIVE);
      await mq.bindQueue(BINDING);
      await mq.declareQueue(queueSpec("other"));
      const [mine, other] = [await reading(mq, "mine"), await reading(mq, "other")];
      moody.mood = (method) => queueOf(method) === "mine" ? LOCKED : undefined;
      const second = await nextLink(world);
      await reported("recovered");
      assert.deepEqual([mine.subscription.live, other.subscription.live], [false, true]);
      assert.deepEqual(await mq.publish(messageFor("other"), { lane: 1, confirm: true }), { outcome: "confirmed" });
      assert.deepEqual(factsAbout(events), [
        ["redeclare_failed", 'queue "mine"', LOCKED],
        ["redeclare_failed", 'binding of "mine" to "x" with key "k"', LOCKED],
        ["consumer_lost", "mine", `405 ${LOCKED}`],
      ]);
      await until("some attempts", () => declares(second, "mine").length >= 4);
      moody.mood = () => undefined;
      await reported("consumer_recovered");
      await reported("redeclared", 2);
      assert.deepEqual([mine.subscription.live, mine.recoveries()], [true, 1]);
      assert.deepEqual(factsAbout(events).slice(3).toSorted(), [
        ["consumer_recovered", "mine"],
        ["redeclared", 'binding of "mine" to "x" with key "k"'],
        ["redeclared", 'queue "mine"'],
      ]);
      const [first] = declares(world.client, "mine");
      for (const again of declares(second, "mine")) assert.deepEqual(again.fields, first?.fields);
      assert.equal(declares(second, "other").length, 1);
    });
  });

  it("is told of again when the reason is another, and of its return once, on whichever link that is", () => {
    const moody = new Moody();
    return withScript(moody.script, async (world) => {
      const { mq, broker, events, reported } = world;
      await mq.declareQueue(EXCLUSIVE);
      moody.mood = (method) => method.name === "QueueDeclare" ? LOCKED : undefined;
      const second = await nextLink(world);
      await until("some attempts", () => declares(second, "mine").length >= 3);
      moody.mood = (method) => method.name === "QueueDeclare" ? "NOT_FOUND - home node down" : undefined;
      await reported("redeclare_failed", 2);
      second.socket.destroy();
      const third = await until("the third link", () => broker.clients[2]);
      await until("some attempts", () => declares(third, "mine").length >= 3);
      moody.mood = () => undefined;
      third.socket.destroy();
      await reported("recovered", 3);
      assert.deepEqual(factsAbout(events), [
        ["redeclare_failed", 'queue "mine"', LOCKED],
        ["redeclare_failed", 'queue "mine"', "NOT_FOUND - home node down"],
        ["redeclared", 'queue "mine"'],
      ]);
    });
  });

  it("is not asked for any more when it was deleted meanwhile, or the connection closed", async () => {
    const [clock, moody] = [new CountingClock(), new Moody()];
    await withScript(moody.script, async (world) => {
      const { mq, events } = world;
      await mq.declareQueue(EXCLUSIVE);
      await mq.declareQueue(queueSpec("other"));
      moody.mood = ({ name }) => name === "QueueDeclare" ? LOCKED : undefined;
      const second = await nextLink(world);
      await until("some attempts", () => declares(second, "mine").length >= 3);
      await mq.deleteQueue("mine");
      // The one that may have been on its way, and then only the other's.
      const asked = declares(second, "mine").length + 1;
      const others = declares(second, "other").length;
      await until("attempts at the other", () => declares(second, "other").length >= others + 3);
      assert.ok(declares(second, "mine").length <= asked);
      assert.equal(factsAbout(events).length, 2);
      await mq.close();
      await until("no timer", () => clock.pending === 0, { timeoutMs: 3_000 });
    }, { clock });
  });
});

describe("a declaration that the broker does not answer", () => {
  it("holds up its own bindings alone, and is asked once: the answer counts whenever it comes", async () => {
    const [clock, moody] = [virtualClock(), new Moody()];
    await withScript(moody.script, async (world) => {
      const { mq, events, reported } = world;
      await mq.declareExchange(EXCHANGE);
      for (const name of ["slow", "prompt"]) {
        await mq.declareQueue(queueSpec(name));
        await mq.bindQueue({ ...BINDING, queue: name });
      }
      moody.mood = (method) => method.name === "QueueDeclare" && queueOf(method) === "slow" ? "silence" : undefined;
      const second = await nextLink(world, clock);
      await until("the other's binding", () => second.named("QueueBind").length === 1);
      assert.equal(second.named("QueueBind")[0]?.fields["queue"], "prompt");
      await clock.advance(5_000);
      await reported("recovered");
      const reason = "the broker has not answered within 5000 ms";
      assert.deepEqual(factsAbout(events), [["redeclare_failed", 'queue "slow"', reason]]);
      for (let attempt = 0; attempt < 5; attempt++) await clock.advance(5_100);
      const [asked, ...more] = declares(second, "slow");
      assert.deepEqual([more, factsAbout(events).length], [[], 1]);
      const answer = { queue: "slow", messageCount: 0, consumerCount: 0 };
      second.send(methodFrame("QueueDeclareOk", asked?.channel ?? 0, answer));
      await until("its return", async () => {
        await clock.advance(100);
        return events.some(({ type }) => type === "redeclared");
      });
      assert.deepEqual(factsAbout(events).slice(1), [["redeclared", 'queue "slow"']]);
    }, { clock });
  });

  it("is one of sixteen that are under way at a time", () => {
    const moody = new Moody();
    return withScript(moody.script, async (world) => {
      for (let index = 0; index < 40; index++) await world.mq.declareQueue(queueSpec(`q${index}`));
      const held: Method[] = [];
      moody.mood = (method) => {
        if (method.name !== "QueueDeclare") return undefined;
        held.push(method);
        return "silence";
      };
      const second = await nextLink(world);
      let most = 0;
      for (let answered = 0; answered < 40; answered++) {
        const { channel, fields } = await until("a question", () => held[answered]);
        most = Math.max(most, held.length - answered);
        const answer = { queue: fields["queue"], messageCount: 0, consumerCount: 0 };
        second.send(methodFrame("QueueDeclareOk", channel, answer));
      }
      await world.reported("recovered");
      assert.ok(most > 1 && most <= 16, `${most} at a time`);
      assert.deepEqual(
        held.map(({ fields }) => fields["queue"]),
        Array.from({ length: 40 }, (_, index) => `q${index}`),
      );
    });
  });
});

describe("a consumer whose queue goes by itself", () => {
  const KINDS = {
    "an auto-delete": { autoDelete: true },
    "an exclusive": { exclusive: true },
    "a transient": { durable: false },
    "an expiring": { arguments: { "x-expires": 1_000 } },
  };
  for (const [kind, parts] of Object.entries(KINDS)) {
    it(`has ${kind} queue declared and bound again before it comes back, and the exchange that went with it`, () => {
      const moody = new Moody();
      return withScript(moody.script, async ({ mq, client, reported }) => {
        await mq.declareExchange({ ...EXCHANGE, autoDelete: true });
        await mq.declareExchange({ ...EXCHANGE, name: "stays" });
        await mq.declareQueue({ ...queueSpec("q"), arguments: {}, ...parts });
        await mq.bindQueue({ ...BINDING, queue: "q" });
        await mq.bindQueue({ ...BINDING, queue: "q", exchange: "stays" });
        await reading(mq, "q");
        const { channel } = await client.received("BasicConsume");
        const before = client.methods.length;
        client.send(closeChannel(channel, "PRECONDITION_FAILED - delivery acknowledgement timed out"));
        await reported("consumer_recovered");
        const wanted = ["ExchangeDeclare", "QueueDeclare", "QueueBind", "BasicConsume"];
        const again = client.methods.slice(before).map(({ name }) => name).filter((name) => wanted.includes(name));
        assert.deepEqual(again, ["ExchangeDeclare", "QueueDeclare", "QueueBind", "QueueBind", "BasicConsume"]);
        assert.equal(client.named("ExchangeDeclare").at(-1)?.fields["exchange"], "x");
      });
    });
  }

  it("does not have one declared that its own connection has deleted", () => {
    const moody = new Moody();
    return withScript(moody.script, async ({ mq, client }) => {
      await mq.declareQueue({ ...queueSpec("q"), autoDelete: true });
      await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      await mq.deleteQueue("q");
      moody.mood = ({ name }) => name === "BasicConsume" ? "NOT_FOUND - no queue 'q'" : undefined;
      client.send(methodFrame("BasicCancel", channel, { consumerTag: "t", noWait: true }));
      await client.received("BasicConsume", 4);
      assert.equal(client.named("QueueDeclare").length, 1);
    });
  });

  it("does not have one declared that only somebody can have deleted", () => {
    const moody = new Moody();
    return withScript(moody.script, async ({ mq, client, reported }) => {
      await mq.declareQueue({ ...queueSpec("q"), arguments: {} });
      await reading(mq, "q", { tag: "t" });
      const { channel } = await client.received("BasicConsume");
      client.send(methodFrame("BasicCancel", channel, { consumerTag: "t", noWait: true }));
      await reported("consumer_recovered");
      assert.equal(client.named("QueueDeclare").length, 1);
    });
  });
});

/** Breaks the link: the one after it, from the broker's side. */
async function nextLink(
  { client, broker, reported }: ScriptedWorld,
  clock?: ReturnType<typeof virtualClock>,
): Promise<ScriptedClient> {
  client.socket.destroy();
  await reported("retrying");
  await clock?.advance(100);
  return await until("the next link", () => broker.clients[1]);
}

function queueOf({ fields }: Method): unknown {
  return fields["queue"];
}

function declares(client: ScriptedClient, queue: string): readonly Method[] {
  return client.named("QueueDeclare").filter((method) => queueOf(method) === queue);
}

/** What was told of objects and consumers, without what was told of the link. */
function factsAbout(events: readonly BrokerEvent[]): readonly (readonly string[])[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "redeclare_failed":
        return [[event.type, event.object, event.reason]];
      case "redeclared":
        return [[event.type, event.object]];
      case "consumer_lost":
        return [[event.type, event.queue, event.reason]];
      case "consumer_recovered":
        return [[event.type, event.queue]];
      default:
        return [];
    }
  });
}

function closeChannel(channel: number, replyText: string): Uint8Array {
  return methodFrame("ChannelClose", channel, { replyCode: 405, replyText, classId: 50, methodId: 10 });
}
