/** Questions over which the broker closes the whole connection: they do not keep the rest from coming back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { queueSpec, reading } from "../../support/amqp_connection.ts";
import { type Method, methodFrame } from "../../support/amqp_frames.ts";
import { CountingClock } from "../../support/residue.ts";
import type { Answer, Script, ScriptedClient } from "../../support/scripted_broker.ts";
import { type ScriptedWorld, withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const FAULT = "the broker closed the connection: 541 INTERNAL_ERROR";

/** A broker that closes the connection over some questions, or does not answer them. */
class Brittle {
  mood: (method: Method) => "close" | "silence" | undefined = () => undefined;
  readonly script: Script = {
    answer: (method): Answer => {
      const mood = this.mood(method);
      if (mood === undefined) return undefined;
      const fields = { replyCode: 541, replyText: "INTERNAL_ERROR", classId: 0, methodId: 0 };
      return mood === "close" ? [methodFrame("ConnectionClose", 0, fields)] : [];
    },
  };
}

describe("a consumer over which the broker closes the connection", () => {
  it("is tried on a link of its own from then on, and comes back when that holds, while the connection stands", () => {
    const brittle = new Brittle();
    return withScript(brittle.script, async (world) => {
      const { mq, client, events, reported } = world;
      const [bad, good] = [await reading(mq, "bad", { tag: "b" }), await reading(mq, "good")];
      brittle.mood = on("BasicConsume", "bad", "close");
      client.socket.destroy();
      await reported("recovered");
      const main = await until("the third link", () => world.broker.clients[2]);
      await until("the other one", () => good.subscription.live);
      const trialsOfIt = (): readonly ScriptedClient[] =>
        trials(world).filter((trial) => asked(trial, "BasicConsume", "bad").length > 0);
      await until("trials of it", () => trialsOfIt().length >= 3);
      assert.deepEqual([asked(main, "BasicConsume", "bad"), bad.subscription.live], [[], false]);
      brittle.mood = () => undefined;
      await reported("consumer_recovered", lostConsumers(world).length);
      assert.equal(bad.subscription.live, true);
      await until("no link but one", () => world.broker.clients.filter(({ isGone }) => !isGone).length === 1);
      assert.equal(asked(main, "BasicConsume", "bad").length, 1);
      assert.ok(lostConsumers(world).some(({ queue, reason }) => queue === "bad" && reason === FAULT));
      assert.equal(events.filter(({ type }) => type === "lost").length, 1);
      assert.equal(main.isGone, false);
    });
  });

  it("is asked for a single message there, which goes back, and keeps its place until the consumer stands", () => {
    const brittle = new Brittle();
    return withScript(brittle.script, async (world) => {
      const { deliveries } = await reading(world.mq, "bad", { prefetch: 40, tag: "b" });
      brittle.mood = on("BasicConsume", "bad", "close");
      world.client.socket.destroy();
      await world.reported("consumer_lost");
      const main = world.broker.clients[2] as ScriptedClient;
      // On the main link it is silent now, so that the trial can be seen to wait for it.
      let answers = 0;
      brittle.mood = (method) => on("BasicConsume", "bad", "silence")(method) && answers++ > 0 ? "silence" : undefined;
      const { channel, fields } = await main.received("BasicConsume");
      const trial = trials(world).find((one) => !one.isGone);
      assert.equal(trial?.named("BasicQos")[0]?.fields["prefetchCount"], 1);
      assert.equal(main.named("BasicQos").at(-1)?.fields["prefetchCount"], 40);
      assert.equal(trial?.named("ConnectionClose").length, 0);
      main.send(methodFrame("BasicConsumeOk", channel, { consumerTag: fields["consumerTag"] }));
      await world.reported("consumer_recovered");
      await until("the end of the trial", () => trial?.isGone);
      assert.equal(deliveries.length, 0);
    });
  });

  it("has no link of its own where the queue is the connection's alone", () => {
    const brittle = new Brittle();
    return withScript(brittle.script, async (world) => {
      const { mq, client, broker, reported } = world;
      await mq.declareQueue({ ...queueSpec("bad"), exclusive: true });
      await reading(mq, "bad");
      brittle.mood = on("BasicConsume", "bad", "close");
      client.socket.destroy();
      await reported("recovered");
      brittle.mood = () => undefined;
      await reported("consumer_recovered");
      assert.equal(broker.clients.filter(({ isGone }) => !isGone).length, 1);
      assert.deepEqual(trials(world), []);
    });
  });

  it("is not waited for by a close when its trial holds just as the connection breaks", () => {
    const brittle = new Brittle();
    const reconnect = { initialDelayMs: 100, maxDelayMs: 100 };
    return withScript(brittle.script, async (world) => {
      const { mq, client, broker, reported } = world;
      const { subscription } = await reading(mq, "bad", { tag: "b" });
      brittle.mood = on("BasicConsume", "bad", "close");
      client.socket.destroy();
      await reported("recovered");
      brittle.mood = on("BasicConsume", "bad", "silence");
      const trial = await until("a trial", () => trials(world).find((one) => !one.isGone));
      const { channel } = await trial.received("BasicConsume");
      broker.clients[2]?.socket.destroy();
      await reported("lost", 2);
      trial.send(methodFrame("BasicConsumeOk", channel, { consumerTag: "b" }));
      await until("the end of the trial", () => trial.isGone);
      brittle.mood = () => undefined;
      await until("it consumes", () => subscription.live);
      await mq.close();
      await until("every link is gone", () => broker.clients.every(({ isGone }) => isGone));
    }, { reconnect });
  });

  it("leaves neither link nor timer when the connection closes during a trial that gets no answer", async () => {
    const [clock, brittle] = [new CountingClock(), new Brittle()];
    await withScript(brittle.script, async (world) => {
      await reading(world.mq, "bad");
      brittle.mood = on("BasicConsume", "bad", "close");
      world.client.socket.destroy();
      await world.reported("consumer_lost");
      brittle.mood = on("BasicConsume", "bad", "silence");
      const trial = await until("a trial", () => trials(world).find((one) => !one.isGone));
      await trial.received("BasicConsume");
      await world.mq.close();
      await until("every link is gone", () => world.broker.clients.every(({ isGone }) => isGone));
      await until("no timer", () => clock.pending === 0, { timeoutMs: 3_000 });
    }, { clock });
  });
});

describe("a declaration over which the broker closes the connection", () => {
  it("is tried on a link of its own from then on, and the rest is declared again", () => {
    const brittle = new Brittle();
    return withScript(brittle.script, async (world) => {
      const { mq, client, events, broker, reported } = world;
      for (const name of ["bad", "good"]) await mq.declareQueue(queueSpec(name));
      brittle.mood = on("QueueDeclare", "bad", "close");
      client.socket.destroy();
      await reported("recovered");
      const main = broker.clients.find((one) => one !== client && !one.isGone);
      assert.ok(main !== undefined);
      await until("trials", () => trials(world).length >= 3);
      assert.deepEqual(asked(main, "QueueDeclare", "bad"), []);
      brittle.mood = () => undefined;
      await until("its return", () => world.events.some((event) => event.type === "redeclared" && isBad(event.object)));
      assert.deepEqual([asked(main, "QueueDeclare", "bad").length, asked(main, "QueueDeclare", "good").length], [1, 1]);
      const failures = events.flatMap((event) =>
        event.type === "redeclare_failed" && isBad(event.object) ? [event.reason] : []
      );
      assert.deepEqual(failures, [FAULT]);
      assert.equal(events.filter(({ type }) => type === "lost").length, 1);
      assert.equal(main.isGone, false);
    });
  });
});

function on(name: string, queue: string, mood: "close" | "silence"): Brittle["mood"] {
  return (method) => method.name === name && method.fields["queue"] === queue ? mood : undefined;
}

function asked(client: ScriptedClient, name: string, queue: string): readonly Method[] {
  return client.named(name).filter(({ fields }) => fields["queue"] === queue);
}

/** The links that say what they are for. */
function trials({ broker }: ScriptedWorld): readonly ScriptedClient[] {
  return broker.clients.filter((client) => {
    const properties = client.named("ConnectionStartOk")[0]?.fields["clientProperties"];
    return JSON.stringify(properties ?? {}).includes("(trial)");
  });
}

function lostConsumers({ events }: ScriptedWorld): readonly { readonly queue: string; readonly reason: string }[] {
  return events.flatMap((event) => event.type === "consumer_lost" ? [event] : []);
}

function isBad(object: string): boolean {
  return object === 'queue "bad"';
}
