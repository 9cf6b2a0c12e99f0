/** Publishing over a network that breaks: what is known of a message afterwards, and what is left of the permits. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Connection } from "../../src/connection.ts";
import { PublishError } from "../../src/errors.ts";
import { rabbitWorlds } from "../support/rabbit_world.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq");
const inWorld = rabbitWorlds("acemq-publish-lost");
const FAST = { reconnect: { initialDelayMs: 10, maxDelayMs: 50 } };

/** A test behind a network of its own. */
async function behind(body: (proxy: TcpProxy) => () => Promise<void>): Promise<void> {
  const proxy = await TcpProxy.open(AMQP_URL);
  try {
    await body(proxy)();
  } finally {
    proxy.resume();
    await proxy.close();
  }
}

/** Counts what a connection comes through. */
function counted(mq: Connection): { readonly recoveries: () => number } {
  let recoveries = 0;
  void (async () => {
    for await (const { type } of mq.events()) if (type === "recovered") recoveries++;
  })();
  return { recoveries: () => recoveries };
}

describe("a connection that is lost under its publishes", () => {
  it(
    "leaves 200 that wait for a confirm unknown, never nacked: they may have arrived [PUB-09]",
    { skip },
    () =>
      behind((proxy) =>
        inWorld(async ({ mq, bare, sink }) => {
          const queue = await bare.queue("q");
          const publisher = mq.publisher("", queue);
          const confirmed = (await publisher.sendAll([0, 1, 2])).length;
          proxy.pause("from_broker");
          const sends = Array.from({ length: 200 }, (_, index) => publisher.send(index, { messageId: `m-${index}` }));
          const settling = Promise.allSettled(sends);
          await until("all are on the queue", async () => await bare.depth(queue) === confirmed + 200);
          proxy.cut();
          const settled = await settling;
          settled.forEach((one, index) => {
            assert.ok(one.status === "rejected" && one.reason instanceof PublishError);
            assert.deepEqual([one.reason.code, one.reason.messageId], ["ACEMQ_PUBLISH_UNKNOWN", `m-${index}`]);
          });
          assert.equal(sink.count("acemq.publish.total", { outcome: "failed" }), 200);
          assert.ok((await bare.depth(queue) ?? 0) >= confirmed);
        }, { url: proxy.url, amqp: FAST })
      ),
  );

  it(
    "declines what is sent while it is away, and confirms again once it is back",
    { skip },
    () =>
      behind((proxy) =>
        inWorld(async ({ mq, bare }) => {
          const queue = await bare.queue("q");
          const publisher = mq.publisher("", queue);
          const { recoveries } = counted(mq);
          proxy.pause();
          proxy.cut();
          await until("the loss is noticed", async () => (await mq.health()).status === "down");
          await assert.rejects(publisher.send(1), { code: "ACEMQ_PUBLISH_PAUSED", paused: true });
          proxy.resume();
          await until("it is back", () => recoveries() === 1);
          assert.equal((await publisher.send(2)).outcome, "confirmed");
          assert.equal(await bare.depth(queue), 1);
        }, { url: proxy.url, amqp: FAST })
      ),
  );

  it(
    "has all ten permits free again after 20 reconnects under load, and lost no confirmed message [PUB-12]",
    { skip },
    () =>
      behind((proxy) =>
        inWorld(async ({ mq, bare }) => {
          const queue = await bare.queue("q");
          const publisher = mq.publisher("", queue);
          const { recoveries } = counted(mq);
          let confirmed = 0;
          let isOver = false;
          const load = Array.from({ length: 30 }, async () => {
            while (!isOver) {
              await publisher.send("x").then(() => confirmed++, async (error) => {
                assert.ok(error instanceof PublishError && /_(UNKNOWN|PAUSED)$/.test(error.code), String(error));
                await new Promise((resolve) => setTimeout(resolve, 1));
              });
            }
          });
          for (let round = 1; round <= 20; round++) {
            const before = confirmed;
            await until("messages flow", () => confirmed > before);
            proxy.cut();
            await until(`recovery ${round}`, () => recoveries() >= round);
          }
          isOver = true;
          await Promise.all(load);
          assert.ok((await bare.depth(queue) ?? 0) >= confirmed, "a confirmed message is missing");

          proxy.pause("from_broker");
          const filling = Array.from({ length: 10 }, () => publisher.send("fills a permit"));
          const settling = Promise.allSettled(filling);
          await assert.rejects(publisher.send("one too many"), {
            code: "ACEMQ_PUBLISH_PAUSED",
            reason: /^10 publishes are already waiting for a confirm and none completed within 200 ms\. /,
          });
          proxy.resume();
          assert.deepEqual((await settling).map(({ status }) => status), Array(10).fill("fulfilled"));
        }, { url: proxy.url, amqp: FAST, connect: { maxOutstandingPublishes: 10, permitTimeoutMs: 200 } })
      ),
  );

  it(
    "stopped after the write ends each wait at its own bound: that for a confirm, and that for a permit [PUB-23]",
    { skip },
    () =>
      behind((proxy) =>
        inWorld(async ({ mq, bare }) => {
          const queue = await bare.queue("q");
          const publisher = mq.publisher("", queue);
          await publisher.send("opens the channel");
          proxy.pause("from_broker");
          const began = performance.now();
          const timed = async (sending: Promise<unknown>): Promise<readonly [code: string, afterMs: number]> => {
            const error: unknown = await sending.then(() => assert.fail("confirmed"), (reason) => reason);
            assert.ok(error instanceof PublishError);
            return [error.code, performance.now() - began];
          };
          const [unconfirmed, unpermitted] = await Promise.all([timed(publisher.send(1)), timed(publisher.send(2))]);
          assert.deepEqual([unconfirmed[0], unpermitted[0]], ["ACEMQ_PUBLISH_UNKNOWN", "ACEMQ_PUBLISH_PAUSED"]);
          assert.ok(unpermitted[1] >= 199 && unpermitted[1] < unconfirmed[1], `no permit after ${unpermitted[1]} ms`);
          assert.ok(unconfirmed[1] >= 799, `no confirm after ${unconfirmed[1]} ms`);
          proxy.resume();
          await until("only the written one arrives", async () => await bare.depth(queue) === 2);
        }, {
          url: proxy.url,
          connect: { maxOutstandingPublishes: 1, publishTimeoutMs: 800, permitTimeoutMs: 200 },
        })
      ),
  );
});
