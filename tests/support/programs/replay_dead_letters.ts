/**
 * A program of its own: replays the dead letters of the queue it is told, and prints how many it has moved after each.
 *
 * @module
 */
import process from "node:process";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { openConnection } from "../../../src/connection.ts";

const [url = "", queue = ""] = process.argv.slice(2);
const mq = await openConnection(amqpBroker(url));
const { reason } = await mq.replay(queue, { onProgress: ({ moved }) => console.log(moved) });
console.log(reason);
await mq.close();
