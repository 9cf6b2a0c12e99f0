/**
 * A program of its own: takes one message off the queue it is told, and prints what its handler saw as one line of JSON.
 *
 * @module
 */
import process from "node:process";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { openConnection } from "../../../src/connection.ts";
import { accept } from "../../../src/consume/ack.ts";

const [url = "", queue = ""] = process.argv.slice(2);
const mq = await openConnection(amqpBroker(url));
for await (const delivery of mq.deliveries(queue, { declare: false })) {
  const { headers, envelope } = delivery;
  console.log(JSON.stringify({ headers, correlationId: envelope.correlationId, causationId: envelope.causationId }));
  await delivery.settle(accept());
  break;
}
await mq.close();
