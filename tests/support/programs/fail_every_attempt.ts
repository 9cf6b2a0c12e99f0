/**
 * A program of its own: fails every attempt of every message on the queue it is told, a second apart on a rung, and prints the
 * number of each, and what became of it once the broker has read how it was settled.
 *
 * @module
 */
import process from "node:process";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { openConnection } from "../../../src/connection.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";

const [url = "", queue = ""] = process.argv.slice(2);
const mq = await openConnection(amqpBroker(url), {
  telemetry: {
    metric: ({ name, labels }) => {
      // A settlement is on its way when it is counted; an answer on the same socket comes behind it.
      if (name === "acemq.consume.total") void mq.health().then(() => console.log(labels["outcome"]));
    },
  },
});
await mq.consume(queue, ({ envelope }) => {
  console.log(envelope.attempt);
  throw new Error("no");
}, { retry: fixedRetry(3, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 }) });
console.log("consuming");
