/** What happens when a link breaks: the next one, and everything standing on it again. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { ConnectionError } from "../../../src/errors.ts";
import type { BrokerEvent } from "../../../src/ports/broker.ts";
import { messageFor, openAmqp, queueSpec, reading } from "../../support/amqp_connection.ts";
import { methodFrame } from "../../support/amqp_frames.ts";
import {
  type Answer,
  confirmAll,
  type Script,
  ScriptedBroker,
  type ScriptedClient,
} from "../../support/scripted_broker.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const EXCHANGE = {
  name: "x",
  type: "topic",
  durable: true,
  autoDelete: false,
  arguments: { "alternate-exchange": "a" },
} as const;
const BINDING = { queue: "q", exchange: "x", routingKey: "k.*", arguments: { "x-match": "all", "due": 2n ** 40n } };
const EXCLUSIVE = { name: "mine", durable: false, exclusive: true, autoDelete: true, arguments: {} };

/** Waits until a promise made of promises has gone as far as it can, and lets time pass. */
async function pass(clock: ReturnType<typeof virtualClock>, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
  await clock.advance(ms);
}

describe("a connection that comes back", () => {
  it("declares again what was declared, as it was declared, exchanges before queues before bindings, then consumes", () =>
    withScript({}, async ({ mq, client, reported, broker, events }) => {
      await mq.declareQueue(queueSpec("q"));
      await mq.declareQueue(EXCLUSIVE);
      await mq.declareExchange(EXCHANGE);
      await mq.bindQueue(BINDING);
      const { subscription, recoveries } = await reading(mq, "q", { prefetch: 42, tag: "t" });
      client.socket.destroy();
      await reported("recovered");
      const again = (broker.clients[1] as ScriptedClient).methods;
      const wanted = ["ExchangeDeclare", "QueueDeclare", "QueueBind", "BasicQos", "BasicConsume"];
      const calls = again.filter(({ name }) => wanted.includes(name));
      assert.deepEqual(calls.map(({ name }) => name), [wanted[0], wanted[1], ...wanted.slice(1)]);
      const originals = ["ExchangeDeclare", "QueueDeclare", "QueueBind", "BasicQos", "BasicConsume"]
        .flatMap((name) => client.named(name));
      assert.deepEqual(calls.map(({ fields }) => fields), originals.map(({ fields }) => fields));
      assert.deepEqual([subscription.live, recoveries()], [true, 1]);
      assert.deepEqual(events.map(({ type }) => type), ["lost", "retrying", "recovered"]);
    }));

  it("forgets what was deleted, and every binding of it", () =>
    withScript({}, async ({ mq, client, reported, broker }) => {
      for (const name of ["q", "gone"]) await mq.declareQueue(queueSpec(name));
      for (const name of ["x", "away"]) await mq.declareExchange({ ...EXCHANGE, name });
      await mq.bindQueue({ ...BINDING, queue: "gone" });
      await mq.bindQueue({ ...BINDING, exchange: "away" });
      await mq.deleteQueue("gone");
      await mq.deleteExchange("away");
      client.socket.destroy();
      await reported("recovered");
      const again = broker.clients[1] as ScriptedClient;
      assert.deepEqual(again.named("QueueDeclare").map(({ fields }) => fields["queue"]), ["q"]);
      assert.deepEqual(again.named("ExchangeDeclare").map(({ fields }) => fields["exchange"]), ["x"]);
      assert.deepEqual(again.named("QueueBind"), []);
    }));

  it("forgets an auto-delete queue with its last consumer, as the broker does, and no other queue with its consumers", () =>
    withScript({}, async ({ mq, client, reported, broker }) => {
      for (const name of ["auto", "shared"]) await mq.declareQueue({ ...queueSpec(name), autoDelete: true });
      await mq.declareQueue(queueSpec("stays"));
      await mq.declareExchange(EXCHANGE);
      await mq.bindQueue({ ...BINDING, queue: "auto" });
      for (const queue of ["auto", "shared", "stays"]) await (await reading(mq, queue)).subscription.cancel();
      const [one, other] = [await reading(mq, "shared"), await reading(mq, "shared")];
      await mq.declareQueue({ ...queueSpec("shared"), autoDelete: true });
      await one.subscription.close();
      await one.subscription.close();
      client.socket.destroy();
      await reported("recovered");
      const again = broker.clients[1] as ScriptedClient;
      assert.deepEqual(again.named("QueueDeclare").map(({ fields }) => fields["queue"]), ["stays", "shared"]);
      assert.deepEqual([again.named("QueueBind"), other.subscription.live], [[], true]);
    }));

  it("forgets what the broker refused to declare", () => {
    const script: Script = { answer: refusing("QueueDeclare", 403) };
    return withScript(script, async ({ mq, client, reported, broker }) => {
      assert.equal((await mq.declareQueue(queueSpec("q"))).status, "refused");
      client.socket.destroy();
      await reported("recovered");
      assert.deepEqual(broker.clients[1]?.named("QueueDeclare"), []);
    });
  });

  it("reports what cannot be declared again, on a channel of its own, and goes on with the rest", () => {
    let isRefusing = false;
    const script: Script = {
      onMessage: confirmAll,
      answer: (method): Answer => isRefusing ? refusing("QueueDeclare", 403)(method) : undefined,
    };
    return withScript(script, async ({ mq, client, reported, broker, events }) => {
      await mq.declareQueue(queueSpec("q"));
      await mq.declareExchange(EXCHANGE);
      await mq.bindQueue(BINDING);
      isRefusing = true;
      client.socket.destroy();
      await reported("recovered");
      const failed = events.filter(({ type }) => type === "redeclare_failed");
      assert.deepEqual(failed, [{ type: "redeclare_failed", object: 'queue "q"', reason: "nicht erlaubt" }]);
      assert.equal(broker.clients[1]?.named("QueueBind").length, 1);
      assert.deepEqual(await mq.publish(messageFor("q"), { lane: 1, confirm: true }), { outcome: "confirmed" });
    });
  });

  it("brings a consumer back that the broker refuses at first, and reports both", () => {
    let links = 0;
    let refusals = 2;
    const script: Script = {
      answer: (method): Answer => {
        if (method.name === "ConnectionOpen") links++;
        const isRefused = method.name === "BasicConsume" && links > 1 && refusals-- > 0;
        return isRefused ? refusing("BasicConsume", 404)(method) : undefined;
      },
    };
    return withScript(script, async ({ mq, client, reported, events }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      client.socket.destroy();
      await reported("consumer_recovered");
      assert.equal(subscription.live, true);
      const types = events.map(({ type }) => type).filter((type) => type.startsWith("consumer"));
      assert.deepEqual(types, ["consumer_lost", "consumer_recovered"]);
    });
  });

  it("does so time after time, with one consumer, one tag and the same channels [REC-07]", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, reported, broker }) => {
      await mq.declareQueue(queueSpec("q"));
      const { recoveries } = await reading(mq, "q", { tag: "t" });
      for (let round = 1; round <= 10; round++) {
        await mq.publish(messageFor("q"), { lane: 1, confirm: true });
        broker.clients.at(-1)?.socket.destroy();
        await reported("recovered", round);
      }
      assert.equal(recoveries(), 10);
      for (const client of broker.clients.slice(1)) {
        assert.deepEqual(client.named("BasicConsume").map(({ fields }) => fields["consumerTag"]), ["t"]);
        assert.ok(client.named("ChannelOpen").every(({ channel }) => channel <= 2));
      }
      assert.ok(broker.clients.slice(0, -1).every(({ isGone }) => isGone));
    }));

  it("asks for the credentials again at every attempt [REC-14]", async () => {
    let asked = 0;
    const credentials = () => ({ username: "u", password: `token-${++asked}` });
    await withScript({}, async ({ client, reported, broker }) => {
      client.socket.destroy();
      await reported("recovered");
      broker.clients[1]?.socket.destroy();
      await reported("recovered", 2);
      const responses = broker.clients.map((one) => String(one.named("ConnectionStartOk")[0]?.fields["response"]));
      assert.deepEqual(responses, ["\0u\0token-1", "\0u\0token-2", "\0u\0token-3"]);
    }, { credentials });
  });

  it("goes on trying when the credentials cannot be had for a while", async () => {
    let isSealed = false;
    const credentials = () => {
      if (isSealed) throw new Error("the vault is sealed");
      return { username: "u", password: "p" };
    };
    await withScript({}, async ({ client, reported, events }) => {
      isSealed = true;
      client.socket.destroy();
      await reported("retrying", 3);
      isSealed = false;
      await reported("recovered");
      const reasons = events.flatMap((event) => event.type === "retrying" ? [event.reason] : []);
      assert.match(reasons[1] ?? "", /Cannot ask for credentials: the provider failed$/);
    }, { credentials });
  });
});

describe("the attempts to come back", () => {
  it("begin after a second, double to thirty, and never end; each is told with its delay and the reason", async () => {
    const clock = virtualClock();
    const broker = await ScriptedBroker.open();
    const { mq, events } = await openAmqp(broker.url, { clock, reconnect: {}, random: () => 0.5 });
    const { port } = broker;
    await broker.close();
    const retries = (): readonly (BrokerEvent & { type: "retrying" })[] =>
      events.flatMap((event) => event.type === "retrying" ? [event] : []);
    for (let attempt = 1; attempt <= 8; attempt++) {
      const retry = await until(`attempt ${attempt}`, () => retries()[attempt - 1]);
      await pass(clock, retry.delayMs);
    }
    assert.deepEqual(retries().slice(0, 8).map(({ attempt, delayMs }) => [attempt, delayMs]), [
      [1, 1_000],
      [2, 2_000],
      [3, 4_000],
      [4, 8_000],
      [5, 16_000],
      [6, 30_000],
      [7, 30_000],
      [8, 30_000],
    ]);
    assert.equal(retries()[0]?.reason, "the other end closed the connection");
    assert.match(retries()[1]?.reason ?? "", new RegExp(`Cannot connect to 127\\.0\\.0\\.1:${port}: .*ECONNREFUSED`));
    assert.equal(mq.state.status, "recovering");
    await mq.close();
  });

  it("go on when a new link breaks while everything is being declared", () => {
    let links = 0;
    const script: Script = {
      answer: ({ name }, client): Answer => {
        if (name === "ConnectionOpen") links++;
        if (name !== "QueueDeclare" || links !== 2) return undefined;
        client.socket.destroy();
        return [];
      },
    };
    return withScript(script, async ({ mq, client, reported, events, broker }) => {
      await mq.declareQueue(queueSpec("q"));
      client.socket.destroy();
      await reported("recovered");
      assert.equal(broker.clients.length, 3);
      assert.deepEqual(events.map(({ type }) => type), ["lost", "retrying", "retrying", "recovered"]);
      assert.deepEqual(events.at(-1), { type: "recovered", attempts: 2 });
    });
  });

  it("end with the connection: no socket, no timer, nothing more is reported", async () => {
    const clock = virtualClock();
    const broker = await ScriptedBroker.open();
    const { mq, events, reported } = await openAmqp(broker.url, { clock });
    (await broker.client()).socket.destroy();
    await reported("retrying");
    const before = events.length;
    await mq.close();
    await clock.advance(120_000);
    assert.equal(mq.state.status, "closed");
    assert.deepEqual([broker.clients.length, events.length], [1, before]);
    await broker.close();
  });

  it("end with the connection also while one of them is under way", async () => {
    let isMute = false;
    const broker = await ScriptedBroker.open({
      answer: ({ name }) => isMute && name === "ConnectionOpen" ? [] : undefined,
    });
    const { mq } = await openAmqp(broker.url);
    isMute = true;
    broker.clients[0]?.socket.destroy();
    const second = await until("a second link", () => broker.clients[1]);
    await second.received("ConnectionOpen");
    await mq.close();
    await until("the second link is gone", () => second.isGone);
    await broker.close();
  });
});

describe("a connection without a link", () => {
  it("rejects every question with ACEMQ_CONNECTION_LOST, and with ACEMQ_CONNECTION_CLOSED once it is closed", async () => {
    const clock = virtualClock();
    await withScript({}, async ({ mq, client, reported }) => {
      const { subscription } = await reading(mq, "q", { tag: "t" });
      client.socket.destroy();
      await reported("lost");
      assert.deepEqual([mq.state.status, subscription.live], ["recovering", false]);
      const questions = [
        () => mq.declareQueue(queueSpec("q")),
        () => mq.declareExchange(EXCHANGE),
        () => mq.bindQueue(BINDING),
        () => mq.checkQueue("q"),
        () => mq.checkExchange("x"),
        () => mq.compareQueue(queueSpec("q")),
        () => mq.compareExchange(EXCHANGE),
        () => mq.openPuller("q"),
        () => mq.deleteQueue("q"),
        () => mq.deleteExchange("x"),
        () => mq.purgeQueue("q"),
        () => reading(mq, "q"),
      ];
      for (const question of questions) {
        await assert.rejects(
          question,
          (error) => error instanceof ConnectionError && error.code === "ACEMQ_CONNECTION_LOST",
        );
      }
      await mq.close();
      for (const question of questions) await assert.rejects(question, { code: "ACEMQ_CONNECTION_CLOSED" });
    }, { clock });
  });

  it("rejects the question that was under way when it broke", () =>
    withScript({ answer: ({ name }) => name === "QueueDeclare" ? [] : undefined }, async ({ mq, client }) => {
      const asked = mq.checkQueue("q");
      await client.received("QueueDeclare");
      client.socket.destroy();
      await assert.rejects(asked, {
        code: "ACEMQ_CONNECTION_LOST",
        message: "Cannot ask the broker: the connection is lost: the other end closed the connection",
      });
    }));

  it("says in the broker's words why it broke to whoever had asked: the question may have been the reason", () => {
    const text = "INTERNAL_ERROR - the queue has no leader";
    const fields = { replyCode: 541, replyText: text, classId: 50, methodId: 10 };
    const answer = ({ name }: { readonly name: string }): Answer =>
      name === "QueueDeclare" ? [methodFrame("ConnectionClose", 0, fields)] : undefined;
    return withScript({ answer }, async ({ mq }) => {
      await assert.rejects(mq.checkQueue("q"), {
        code: "ACEMQ_CONNECTION_LOST",
        message: `Cannot ask the broker: the connection is lost: 541 ${text}`,
      });
    });
  });

  it("cancels and closes subscriptions without one", async () => {
    const clock = virtualClock();
    await withScript({}, async ({ mq, client, reported }) => {
      const one = await reading(mq, "q", { tag: "t" });
      const two = await reading(mq, "q", { tag: "u" });
      client.socket.destroy();
      await reported("lost");
      await one.subscription.cancel();
      await two.subscription.close();
      await one.subscription.setPrefetch(3);
    }, { clock });
  });
});

describe("closing", () => {
  it("flushes what was settled, says goodbye, and happens once", () =>
    withScript({}, async ({ mq, client, events }) => {
      await Promise.all([mq.close(), mq.close()]);
      await mq.close();
      await until("the socket is gone", () => client.isGone);
      assert.equal(client.named("ConnectionClose").length, 1);
      assert.deepEqual(events, []);
    }));

  it("ends the questions that are under way", () => {
    const script: Script = { answer: ({ name }) => /QueueDeclare|ChannelClose|BasicQos/.test(name) ? [] : undefined };
    return withScript(script, async ({ mq, client }) => {
      const questions = [mq.checkQueue("q"), mq.openPuller("q"), reading(mq, "q")];
      await client.received("QueueDeclare");
      await client.received("BasicQos");
      await mq.close();
      for (const question of questions) await assert.rejects(question, { code: "ACEMQ_CONNECTION_CLOSED" });
    });
  });

  it("ends subscriptions that are being closed", () =>
    withScript({ answer: ({ name }) => name === "ChannelClose" ? [] : undefined }, async ({ mq, client }) => {
      const { subscription } = await reading(mq, "q");
      const closing = subscription.close();
      await client.received("ChannelClose");
      await mq.close();
      await closing;
    }));

  it("does not wait for ever for a broker that does not answer", async () => {
    const clock = virtualClock();
    const script: Script = { answer: ({ name }) => name === "ConnectionClose" ? [] : undefined };
    await withScript(script, async ({ mq, client }) => {
      const closing = mq.close();
      await client.received("ConnectionClose");
      await clock.advance(5_000);
      await closing;
      await until("the socket is gone", () => client.isGone);
    }, { clock });
  });

  it("does not wait for a broker that hangs up", () =>
    withScript({ answer: hangingUpOn("ConnectionClose") }, async ({ mq }) => {
      await mq.close();
      assert.equal(mq.state.status, "closed");
    }));
});

function refusing(
  name: string,
  replyCode: number,
): (method: { readonly name: string; readonly channel: number }) => Answer {
  return (method) => {
    const fields = { replyCode, replyText: "nicht erlaubt", classId: 50, methodId: 10 };
    return method.name === name ? [methodFrame("ChannelClose", method.channel, fields)] : undefined;
  };
}

function hangingUpOn(name: string): NonNullable<Script["answer"]> {
  return (method, client) => {
    if (method.name !== name) return undefined;
    client.socket.destroy();
    return [];
  };
}
