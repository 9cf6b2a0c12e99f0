/**
 * A program of its own: relays an outbox, and prints how many rows it has published.
 *
 * It prints a line when it is ready, begins with a line of input, and ends when its input does.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { openConnection } from "../../../src/connection.ts";
import { FaultyOutbox } from "../faulty_outbox.ts";
import { openSharedOutbox } from "../shared_outbox.ts";
import { deferred } from "../until.ts";

const [url = "", address = "", leaseMs = ""] = process.argv.slice(2);
const [begin, over] = [deferred(), deferred()];
createInterface({ input: process.stdin }).on("line", () => begin.resolve()).on("close", () => over.resolve());

const { store, close } = openSharedOutbox(address);
const relayed = new FaultyOutbox(store);
let published = 0;
relayed.done = (call, ids) => {
  if (call === "markPublished") published += ids.length;
};
const mq = await openConnection(amqpBroker(url));
await store.check();
console.log("ready");
await begin.promise;
const relay = await mq.relay(relayed, { leaseMs: Number(leaseMs), pollIntervalMs: 100 }).start();
await over.promise;
await relay.close();
await mq.close();
await close();
console.log(JSON.stringify({ published }));
