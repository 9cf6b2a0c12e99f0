/** Heartbeats: a link that is silent is spoken on, and one that stays silent is given up. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import type { PublishReceipt } from "../../../src/ports/broker.ts";
import { messageFor } from "../../support/amqp_connection.ts";
import { HEARTBEAT_FRAME } from "../../support/amqp_frames.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

describe("a heartbeat of 30 s", () => {
  it("is sent every half of it", async () => {
    const clock = virtualClock();
    await withScript({}, async ({ client }) => {
      for (let beat = 1; beat <= 3; beat++) {
        client.send(HEARTBEAT_FRAME);
        await clock.advance(15_000);
        await until(`heartbeat ${beat}`, () => client.heartbeats >= beat);
      }
      assert.equal(client.heartbeats, 3);
    }, { clock });
  });

  it("gives the link up after two silent intervals, also while it publishes: every wait ends (trap 9)", async () => {
    const clock = virtualClock();
    await withScript({}, async ({ mq, client, events }) => {
      const receipts: Promise<PublishReceipt>[] = [];
      for (let second = 0; second < 75 && events.length === 0; second += 5) {
        receipts.push(mq.publish(messageFor("q"), { lane: 1, confirm: true }));
        await until("the message", () => events.length > 0 || client.messages.length === receipts.length);
        await clock.advance(5_000);
      }
      // What was heard before the first of four half intervals counts for it.
      assert.equal(clock.elapsed(), 75_000);
      assert.deepEqual(events[0], { type: "lost", reason: "nothing was heard for two heartbeats" });
      for (const receipt of await Promise.all(receipts.slice(0, -1))) assert.equal(receipt.outcome, "unknown");
      await until("the socket is gone", () => client.isGone);
    }, { clock });
  });

  it("keeps a link on which the broker says no more than that it is there", async () => {
    const clock = virtualClock();
    await withScript({}, async ({ mq, client, events }) => {
      for (let beat = 1; beat <= 20; beat++) {
        client.send(HEARTBEAT_FRAME);
        // The client has read it when it has answered what came behind it.
        await mq.checkQueue("q");
        await clock.advance(15_000);
      }
      assert.deepEqual([events, mq.state.status], [[], "open"]);
    }, { clock });
  });

  it("does not take a busy event loop for a dead link: what has come meanwhile is read first (trap 10)", async () => {
    const clock = virtualClock();
    await withScript({}, async ({ mq, client, events }) => {
      await clock.advance(45_000);
      client.send(HEARTBEAT_FRAME);
      await mq.checkQueue("q");
      await clock.advance(45_000);
      assert.deepEqual([events, mq.state.status], [[], "open"]);
    }, { clock });
  });

  it("goes by the broker's wish where that is shorter", async () => {
    const clock = virtualClock();
    await withScript({ tune: { heartbeat: 10 } }, async ({ client }) => {
      await clock.advance(5_000);
      await until("a heartbeat", () => client.heartbeats === 1);
    }, { clock });
  });
});
