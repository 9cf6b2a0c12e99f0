/** Publishing: every receipt for its own reason, on a broker that says whatever the case needs. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { BrokerConnection, PublishReceipt } from "../../../src/ports/broker.ts";
import { messageFor } from "../../support/amqp_connection.ts";
import { headerFrame, joined, methodFrame } from "../../support/amqp_frames.ts";
import { confirmAll, type PublishedMessage, type ScriptedClient } from "../../support/scripted_broker.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };

function publish(mq: BrokerConnection, parts: Partial<Outbound> = {}, lane = 1): Promise<PublishReceipt> {
  return mq.publish(messageFor("q", parts), { lane, confirm: true });
}

/** Publishes that stay in flight: the broker has them and says nothing. */
async function inFlight(
  mq: BrokerConnection,
  client: ScriptedClient,
  count: number,
): Promise<Promise<PublishReceipt>[]> {
  const receipts = Array.from({ length: count }, () => publish(mq));
  await until("the messages", () => client.messages.length >= count);
  return receipts;
}

function ack(channel: number, deliveryTag: number, multiple = false): Uint8Array {
  return methodFrame("BasicAck", channel, { deliveryTag, multiple });
}

function returned({ channel, exchange, routingKey, properties }: PublishedMessage): Uint8Array {
  const method = methodFrame("BasicReturn", channel, { replyCode: 312, replyText: "NO_ROUTE", exchange, routingKey });
  return joined(method, headerFrame(channel, 0, properties));
}

describe("a publish with a confirm", () => {
  it("settles with one confirm for all of them when the broker says multiple [PUB-15]", () =>
    withScript({}, async ({ mq, client }) => {
      const receipts = await inFlight(mq, client, 500);
      client.send(ack(client.messages[0]?.channel ?? 0, 500, true));
      assert.deepEqual(await Promise.all(receipts), Array(500).fill(CONFIRMED));
    }));

  it("is nacked by its number, whatever comes around it (trap 14)", () =>
    withScript({}, async ({ mq, client }) => {
      const receipts = await inFlight(mq, client, 3);
      const channel = client.messages[0]?.channel ?? 0;
      client.send(ack(channel, 3), methodFrame("BasicNack", channel, { deliveryTag: 2 }), ack(channel, 1));
      const outcomes = (await Promise.all(receipts)).map(({ outcome }) => outcome);
      assert.deepEqual(outcomes, ["confirmed", "nacked", "confirmed"]);
    }));

  it("stays in order from the first message on, which waits for its channel", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, client }) => {
      const sent = Array.from({ length: 50 }, (_, index) => Uint8Array.of(index));
      const first = sent.slice(0, 20).map((body) => publish(mq, { body }));
      await client.received("ConfirmSelect");
      const rest = sent.slice(20).map((body) => publish(mq, { body }));
      await Promise.all([...first, ...rest]);
      assert.deepEqual(client.messages.map(({ body }) => body), sent);
    }));

  it("leaves with the others of its tick in one piece", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, client }) => {
      await publish(mq);
      let pieces = 0;
      client.socket.on("data", () => pieces++);
      await Promise.all(Array.from({ length: 100 }, () => publish(mq)));
      assert.ok(pieces <= 2, `100 small messages came in ${pieces} pieces`);
    }));

  it("has a body as large as it takes, in frames the broker allows", () =>
    withScript({ onMessage: confirmAll, tune: { frameMax: 8_192 } }, async ({ mq, client }) => {
      const body = Uint8Array.from({ length: 300_001 }, (_, index) => index % 253);
      assert.deepEqual(await publish(mq, { body }), CONFIRMED);
      assert.deepEqual(client.messages[0]?.body, body);
      const room = 8_192 - 8;
      assert.equal((await publish(mq, { body: new Uint8Array(room) })).outcome, "confirmed");
      assert.equal(client.messages[1]?.body.byteLength, room);
    }));
});

describe("a message that comes back", () => {
  it("is told by its id, and unroutable in the broker's words", () =>
    withScript({}, async ({ mq, client }) => {
      const receipts = await inFlight(mq, client, 3);
      const [, second] = client.messages;
      assert.ok(second !== undefined);
      client.send(returned(second), ack(second.channel, 3, true));
      const expected = [CONFIRMED, { outcome: "unroutable", reason: "312 NO_ROUTE" }, CONFIRMED];
      assert.deepEqual(await Promise.all(receipts), expected);
    }));

  for (
    const [what, messageId] of [["no id", undefined], ["an empty id", ""], ["an id of 256 bytes", "\u00fc".repeat(128)]]
  ) {
    it(`is told by an id made for the wire when it has ${what}, its headers untouched [PUB-04]`, () =>
      withScript({ onMessage: returnAndConfirm }, async ({ mq, client }) => {
        const receipts = await Promise.all([publish(mq, { messageId }), publish(mq, { messageId, headers: { a: 1 } })]);
        assert.deepEqual(receipts.map(({ outcome }) => outcome), ["unroutable", "unroutable"]);
        const ids = client.messages.map(({ properties }) => properties["messageId"]);
        assert.equal(new Set(ids).size, 2);
        for (const id of ids) assert.match(String(id), /^[0-9a-f-]{36}$/);
        const headers = client.messages.map(({ properties }) => properties["headers"] as object);
        assert.deepEqual(headers.map((table) => ({ ...table })), [{}, { a: 1 }]);
      }));
  }

  it("keeps an id of exactly 255 bytes", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, client }) => {
      const messageId = `${"\u00fc".repeat(127)}a`;
      await publish(mq, { messageId });
      assert.equal(client.messages[0]?.properties["messageId"], messageId);
    }));

  it("is the right one among 1,000 in flight on four channels, every other one of them unroutable [PUB-05]", () =>
    withScript({ onMessage: returnEveryOther }, async ({ mq, client }) => {
      const receipts = await Promise.all(
        Array.from(
          { length: 1_000 },
          (_, index) => publish(mq, { routingKey: index % 2 === 0 ? "bound" : "none" }, 1 + index % 4),
        ),
      );
      assert.ok(receipts.every(({ outcome }, index) => outcome === (index % 2 === 0 ? "confirmed" : "unroutable")));
      assert.equal(new Set(client.messages.map(({ channel }) => channel)).size, 4);
    }));
});

describe("a publish that cannot be written", () => {
  const bad: readonly (readonly [string, Partial<Outbound>, RegExp])[] = [
    ["NaN [BRK-04] [BRK-07]", { headers: { n: NaN } }, /^header "n" is NaN/],
    ["an infinity, nested [BRK-04] [BRK-07]", { headers: { a: { b: [Infinity] } } }, /^header "a"\."b" is Infinity/],
    ["2^63 [BRK-07]", { headers: { n: 2 ** 63 } }, /does not fit a signed 64-bit integer/],
    ["what no kind holds [BRK-07]", { headers: { f: (() => {}) as never } }, /is function, which no AMQP kind holds/],
    ["headers larger than a frame", { headers: { a: "x".repeat(131_064) } }, /takes more bytes than one frame holds/],
    ["a table that holds itself", { headers: selfReferring() }, /./],
    ["a routing key of 256 bytes", { routingKey: "k".repeat(256) }, /^the routing key must fit 255 bytes/],
    ["an exchange of 256 bytes", { exchange: "x".repeat(256) }, /^the exchange must fit 255 bytes/],
    ["half a millisecond to live", { expirationMs: 0.5 }, /^the expiration must be a whole number/],
  ];
  for (const [what, parts, problem] of bad) {
    it(`is refused alone, among 100 others that are confirmed: ${what}`, () =>
      withScript({ onMessage: confirmAll }, async ({ mq, client, events }) => {
        const around = Array.from({ length: 50 }, () => publish(mq));
        const refused = publish(mq, parts);
        const after = Array.from({ length: 50 }, () => publish(mq));
        const receipt = await refused;
        assert.ok(receipt.outcome === "refused" && !receipt.written);
        assert.match(receipt.reason, problem);
        assert.deepEqual(await Promise.all([...around, ...after]), Array(100).fill(CONFIRMED));
        assert.deepEqual([client.messages.length, events], [100, []]);
      }));
  }

  it("is refused before a byte of 17 MiB is sent, with 100 confirms open on its channel [CC-07]", () =>
    withScript({ serverProperties: { product: "RabbitMQ", version: "4.0.5" } }, async ({ mq, client, events }) => {
      const receipts = await inFlight(mq, client, 100);
      const receipt = await publish(mq, { body: new Uint8Array(17 * 1_048_576) });
      assert.deepEqual(receipt, {
        outcome: "refused",
        written: false,
        reason: "the body takes 17825792 bytes, the broker allows 16777216",
      });
      client.send(ack(client.messages[0]?.channel ?? 0, 100, true));
      assert.deepEqual(await Promise.all(receipts), Array(100).fill(CONFIRMED));
      assert.deepEqual([client.messages.length, events], [100, []]);
    }));
});

describe("a channel that the broker closes", () => {
  const close = (channel: number): Uint8Array =>
    methodFrame("ChannelClose", channel, { replyCode: 404, replyText: "gibt es nicht", classId: 60, methodId: 40 });

  it("refuses the one publish it can have been about, in the broker's words", () =>
    withScript({}, async ({ mq, client }) => {
      const [receipt] = await inFlight(mq, client, 1);
      client.send(close(client.messages[0]?.channel ?? 0));
      assert.deepEqual(await receipt, { outcome: "refused", written: true, reason: "404 gibt es nicht" });
      await client.received("ChannelCloseOk");
    }));

  it("leaves open what became of the one when it was about something else", () =>
    withScript({}, async ({ mq, client }) => {
      const [receipt] = await inFlight(mq, client, 1);
      const fields = { replyCode: 406, replyText: "PRECONDITION_FAILED", classId: 60, methodId: 80 };
      client.send(methodFrame("ChannelClose", client.messages[0]?.channel ?? 0, fields));
      const reason = "the broker closed the channel: 406 PRECONDITION_FAILED";
      assert.deepEqual(await receipt, { outcome: "unknown", reason });
    }));

  it("leaves open what became of several", () =>
    withScript({}, async ({ mq, client }) => {
      const receipts = await inFlight(mq, client, 2);
      client.send(close(client.messages[0]?.channel ?? 0));
      for (const receipt of await Promise.all(receipts)) {
        const reason = "the broker closed the channel: 404 gibt es nicht";
        assert.deepEqual(receipt, { outcome: "unknown", reason, oneRefused: true });
      }
    }));

  it("takes nothing along that is not on its lane: the library's copies, what waits in an outbox, and every application's", () =>
    withScript({}, async ({ mq, client }) => {
      const lanes = [0, 1, 2, 3, 4, 5];
      const receipts = lanes.map((lane) => publish(mq, { routingKey: `lane-${lane}` }, lane));
      await until("the messages", () => client.messages.length === lanes.length);
      const channels = new Map(client.messages.map(({ routingKey, channel }) => [routingKey, channel]));
      assert.equal(new Set(channels.values()).size, lanes.length);
      client.send(close(channels.get("lane-5") ?? 0));
      assert.equal((await receipts[5])?.outcome, "refused");
      for (const message of client.messages) if (message.routingKey !== "lane-5") confirmAll(message, client);
      assert.deepEqual(await Promise.all(receipts.slice(0, 5)), Array(5).fill(CONFIRMED));
    }));

  it("is opened again for the next publish, once, however many wait for it", () =>
    withScript({}, async ({ mq, client, broker }) => {
      const [receipt] = await inFlight(mq, client, 1);
      client.send(close(client.messages[0]?.channel ?? 0));
      await receipt;
      const before = client.named("ChannelOpen").length;
      const next = Array.from({ length: 10 }, () => publish(mq));
      await until("the next messages", () => client.messages.length === 11);
      client.send(ack(client.messages[1]?.channel ?? 0, 10, true));
      assert.deepEqual(await Promise.all(next), Array(10).fill(CONFIRMED));
      assert.equal(client.named("ChannelOpen").length, before + 1);
      assert.equal(broker.clients.length, 1);
    }));

  it("has its number again without a confusion of confirms", () =>
    withScript({}, async ({ mq, client }) => {
      const [first] = await inFlight(mq, client, 1);
      const { channel } = client.messages[0] as PublishedMessage;
      client.send(close(channel));
      await first;
      const second = publish(mq);
      await until("the second message", () => client.messages.length === 2);
      assert.equal(client.messages[1]?.channel, channel);
      client.send(ack(channel, 1));
      assert.deepEqual(await second, CONFIRMED);
    }));
});

describe("a lost connection", () => {
  it("ends every wait for a confirm at once, as unknown", () =>
    withScript({}, async ({ mq, client, reported }) => {
      const receipts = await inFlight(mq, client, 200);
      client.socket.destroy();
      for (const receipt of await Promise.all(receipts)) {
        assert.deepEqual(receipt, {
          outcome: "unknown",
          reason: "the connection was lost before the broker confirmed",
        });
      }
      await reported("recovered");
    }));

  it("ends them when the broker says goodbye", () =>
    withScript({}, async ({ mq, client, events, reported }) => {
      const receipts = await inFlight(mq, client, 5);
      const fields = { replyCode: 320, replyText: "CONNECTION_FORCED - bye", classId: 0, methodId: 0 };
      client.send(methodFrame("ConnectionClose", 0, fields));
      for (const receipt of await Promise.all(receipts)) assert.equal(receipt.outcome, "unknown");
      await reported("recovered");
      assert.deepEqual(events[0], { type: "lost", reason: "320 CONNECTION_FORCED - bye" });
      await client.received("ConnectionCloseOk");
    }));

  it("declines what comes after it, and calls nothing unknown that was never written [REC-12]", async () => {
    let isReopened = false;
    const script = {
      answer: ({ name }: { readonly name: string }) => name === "ConnectionOpen" && isReopened ? [] : undefined,
    };
    await withScript(script, async ({ mq, client, reported, broker }) => {
      await inFlight(mq, client, 1);
      isReopened = true;
      const outcomes: Promise<PublishReceipt>[] = [];
      client.socket.destroy();
      await reported("lost");
      for (let round = 0; round < 20; round++) {
        outcomes.push(publish(mq));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await until("another link", () => broker.clients.length > 1);
      for (const receipt of await Promise.all(outcomes)) assert.equal(receipt.outcome, "paused");
      assert.equal(broker.clients.flatMap(({ messages }) => messages).length, 1);
    });
  });

  it("takes publishes again only when its channels stand: never a frame on one that is not open", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, client, reported, broker }) => {
      await publish(mq);
      client.socket.destroy();
      await reported("recovered");
      assert.equal((await publish(mq)).outcome, "confirmed");
      const order = broker.clients[1]?.methods.map(({ name }) => name) ?? [];
      assert.deepEqual(order.slice(-3), ["ChannelOpen", "ConfirmSelect", "BasicPublish"]);
    }));

  it("declines a publish that still waits for its channel: not a byte of it was written [REC-12]", () =>
    withScript({ answer: ({ name }) => name === "ConfirmSelect" ? [] : undefined }, async ({ mq, client }) => {
      const receipt = publish(mq);
      await client.received("ConfirmSelect");
      client.socket.destroy();
      assert.equal((await receipt).outcome, "paused");
      assert.equal(client.messages.length, 0);
    }));

  it("leaves open what is in flight when it is closed on purpose, and declines what comes after", () =>
    withScript({}, async ({ mq, client }) => {
      const [receipt] = await inFlight(mq, client, 1);
      await mq.close();
      assert.equal((await receipt)?.outcome, "unknown");
      assert.deepEqual(await publish(mq), { outcome: "paused", reason: "the connection is closed" });
    }));
});

describe("a blocked connection", () => {
  it("declines a publish before a byte is written, and takes it again when it is unblocked (trap 15)", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, client, events, reported }) => {
      await publish(mq);
      client.send(methodFrame("ConnectionBlocked", 0, { reason: "low on memory" }));
      await reported("blocked");
      assert.equal(mq.state.blockedReason, "low on memory");
      for (const lane of [0, 1]) {
        assert.deepEqual(await publish(mq, {}, lane), {
          outcome: "paused",
          reason: "the broker has blocked this connection: low on memory",
        });
      }
      assert.equal(client.messages.length, 1);
      client.send(methodFrame("ConnectionUnblocked", 0));
      await reported("unblocked");
      assert.deepEqual(await publish(mq), CONFIRMED);
      assert.deepEqual(events, [{ type: "blocked", reason: "low on memory" }, { type: "unblocked" }]);
    }));

  it("is not blocked any more when it comes back on another link", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, client, reported }) => {
      client.send(methodFrame("ConnectionBlocked", 0, { reason: "low on disk" }));
      await reported("blocked");
      client.socket.destroy();
      await reported("recovered");
      assert.equal(mq.state.blockedReason, undefined);
      assert.deepEqual(await publish(mq), CONFIRMED);
    }));
});

describe("lanes", () => {
  it("share four channels, copies and outboxes have one of their own each, and confirms never meet the lack of them", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, client }) => {
      const channelsOf = async (lanes: readonly number[], confirm: boolean): Promise<ReadonlySet<number>> => {
        const before = client.messages.length;
        for (const lane of lanes) await mq.publish(messageFor("q"), { lane, confirm });
        await until("the messages", () => client.messages.length === before + lanes.length);
        return new Set(client.messages.slice(before).map(({ channel }) => channel));
      };
      const onBehalf = new Set([...await channelsOf([0, 0], true), ...await channelsOf([0], false)]);
      const outbox = new Set([...await channelsOf([5, 5], true), ...await channelsOf([5], false)]);
      const confirming = await channelsOf([1, 2, 3, 4, 6, 7, 8, 9], true);
      const plain = await channelsOf([1, 2, 3, 4, 6, 7, 8, 9], false);
      assert.deepEqual([onBehalf.size, outbox.size, confirming.size, plain.size], [1, 1, 4, 4]);
      assert.equal(new Set([...onBehalf, ...outbox, ...confirming, ...plain]).size, 10);
      const confirmed = new Set(client.named("ConfirmSelect").map(({ channel }) => channel));
      assert.deepEqual(confirmed, new Set([...onBehalf, ...outbox, ...confirming]));
    }));

  it("keep one lane on one channel", () =>
    withScript({ onMessage: confirmAll }, async ({ mq, client }) => {
      for (let round = 0; round < 5; round++) await publish(mq, {}, 7);
      assert.equal(new Set(client.messages.map(({ channel }) => channel)).size, 1);
    }));

  it("confirm a message on somebody's behalf even where no confirm was asked for", () =>
    withScript({ onMessage: confirmAll }, async ({ mq }) => {
      assert.deepEqual(await mq.publish(messageFor("q"), { lane: 0, confirm: false }), CONFIRMED);
    }));
});

describe("a publish without a confirm", () => {
  it("is published when it was written, whether or not it comes back", () =>
    withScript({ onMessage: returnAndConfirm }, async ({ mq, client }) => {
      const receipts = await Promise.all(
        Array.from({ length: 20 }, () => mq.publish(messageFor("q"), { lane: 1, confirm: false })),
      );
      assert.deepEqual(receipts, Array(20).fill({ outcome: "published" }));
      await until("the messages", () => client.messages.length === 20);
    }));

  it("says nothing of the broker's refusal of another, which it cannot know", () =>
    withScript({}, async ({ mq, client }) => {
      const send = () => mq.publish(messageFor("q"), { lane: 1, confirm: false });
      assert.deepEqual(await send(), { outcome: "published" });
      await until("the message", () => client.messages.length === 1);
      const fields = { replyCode: 404, replyText: "NOT_FOUND", classId: 60, methodId: 40 };
      client.send(methodFrame("ChannelClose", client.messages[0]?.channel ?? 0, fields));
      await client.received("ChannelCloseOk");
      assert.deepEqual(await send(), { outcome: "published" });
      await until("the message", () => client.messages.length === 2);
    }));

  it("is unknown when the link breaks while the socket still has some of it to write", () =>
    withScript({}, async ({ mq, client }) => {
      const send = (bytes: number): Promise<PublishReceipt> =>
        mq.publish(messageFor("q", { body: new Uint8Array(bytes) }), { lane: 1, confirm: false });
      assert.deepEqual(await send(1), { outcome: "published" });
      client.socket.pause();
      const sending = send(32_000_000);
      setImmediate(() => client.socket.destroy());
      assert.equal((await sending).outcome, "unknown");
    }));

  it("is published with a body of many frames", () =>
    withScript({}, async ({ mq, client }) => {
      const body = new Uint8Array(1_000_000).fill(7);
      assert.deepEqual(await mq.publish(messageFor("q", { body }), { lane: 1, confirm: false }), {
        outcome: "published",
      });
      await until("the message", () => client.messages.length === 1);
      assert.deepEqual(client.messages[0]?.body, body);
    }));
});

function returnAndConfirm(message: PublishedMessage, client: ScriptedClient): void {
  client.send(returned(message));
  confirmAll(message, client);
}

function returnEveryOther(message: PublishedMessage, client: ScriptedClient): void {
  if (message.routingKey === "none") client.send(returned(message));
  confirmAll(message, client);
}

function selfReferring(): Outbound["headers"] {
  const table: Record<string, never> = {};
  table["self"] = table as never;
  return table;
}
