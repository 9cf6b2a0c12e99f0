/**
 * A program of its own: places orders, announces them through an outbox, and relays what is in it.
 *
 * It places two orders, takes one back, and waits until the outbox is empty. At the point it is told it then prints a line and does
 * nothing more. At none it places orders and takes some back until its input ends, at "nowhere" twenty, at "heir" none at all.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { openConnection } from "../../../src/connection.ts";
import type { Broker, PublishReceipt } from "../../../src/ports/broker.ts";
import type { OutboxClaim, OutboxClaimOptions } from "../../../src/ports/outbox_store.ts";
import { FaultyOutbox } from "../faulty_outbox.ts";
import { instead } from "../instead.ts";
import { announcement, openSharedOutbox } from "../shared_outbox.ts";
import { deferred, until } from "../until.ts";

const [url = "", queue = "", address = "", point = "", pollIntervalMs = "", leaseMs = ""] = process.argv.slice(2);
const over = deferred();
let isOver = false;
createInterface({ input: process.stdin }).on("close", () => {
  isOver = true;
  over.resolve();
});

const say = (what: string, ids: readonly string[] = []): void =>
  console.log(JSON.stringify({ what, ids, at: Date.now() }));

/** Publishes of the last batch that go before the point in its middle. */
const BEFORE_THE_MIDDLE = 7;

let isArmed = false;

/** At the point nothing goes on, whoever comes here. */
async function passes(here: string): Promise<void> {
  if (here !== point || !isArmed) return;
  say("point");
  await new Promise(() => {});
}

const { session, store, order, close } = openSharedOutbox(address);

/** Knows whether a claim is on its way. */
class WatchedOutbox extends FaultyOutbox {
  claiming = 0;

  override async claim(options: OutboxClaimOptions): Promise<OutboxClaim> {
    this.claiming++;
    try {
      return await super.claim(options);
    } finally {
      this.claiming--;
    }
  }
}

const relayed = new WatchedOutbox(store);
let hasClaimed = false;
relayed.done = (call, ids) => {
  hasClaimed = call === "claim" && ids.length > 0;
  if (hasClaimed) say("claimed", ids);
};
relayed.before = async (call) => {
  // What is placed at this point its own relay does not see any more.
  if (call === "claim" && point === "after the commit" && isArmed) await new Promise(() => {});
  if (call === "markPublished") await passes("between publish and mark");
};
relayed.after = async () => {
  if (hasClaimed) await passes("between claim and publish");
};

/** Hands over some of a batch, and no more until they are answered and then nothing at all. */
function stoppingInTheMiddle(broker: Broker): Broker {
  const answers: Promise<PublishReceipt>[] = [];
  return {
    open: async (options) => {
      const connection = await broker.open(options);
      return instead(connection, {
        publish: async (outbound, how) => {
          if (!isArmed || point !== "in the middle of a batch") return await connection.publish(outbound, how);
          if (answers.length === BEFORE_THE_MIDDLE) {
            await Promise.all(answers);
            await passes("in the middle of a batch");
          }
          const answer = connection.publish(outbound, how);
          answers.push(answer);
          return await answer;
        },
      });
    },
  };
}

/** Orders of one transaction. */
async function place(ids: readonly string[]): Promise<void> {
  await session.transaction(async (tx) => {
    await store.addAll(tx, ids.map((id) => announcement(id, queue)));
    await passes("after the insert");
    for (const id of ids) await order(tx, id);
    await passes("before the commit");
  });
  await passes("after the commit");
}

async function takeBack(ids: readonly string[]): Promise<void> {
  const changed = new Error("The customer has changed their mind");
  const placing = session.transaction(async (tx) => {
    await store.addAll(tx, ids.map((id) => announcement(id, queue)));
    for (const id of ids) await order(tx, id);
    throw changed;
  });
  await placing.catch((error) => {
    if (error !== changed) throw error;
  });
}

async function relayedAll(): Promise<void> {
  await until("an empty outbox", async () => (await store.stats()).pending === 0);
}

function idsOf(what: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `${what}-${process.pid}-${number}`);
}

async function placeSome(): Promise<void> {
  for (const id of idsOf("early", 2)) await place([id]);
  await takeBack(idsOf("back", 1));
  await relayedAll();
  // One that has begun would see what is placed now.
  await until("no claim", () => relayed.claiming === 0);
  isArmed = true;
  await place(idsOf("late", 20));
}

async function placeMany(): Promise<void> {
  for (let round = 0; !isOver; round++) {
    await place(idsOf(`round-${round}`, 1 + round % 7));
    if (round % 3 === 0) await takeBack(idsOf(`back-${round}`, 2));
  }
}

const mq = await openConnection(stoppingInTheMiddle(amqpBroker(url)));
const relay = mq.relay(relayed, { pollIntervalMs: Number(pollIntervalMs), leaseMs: Number(leaseMs) });
await relay.start();
if (point === "none") await placeMany();
else if (point !== "heir") await placeSome();
await over.promise;
await mq.close();
await close();
