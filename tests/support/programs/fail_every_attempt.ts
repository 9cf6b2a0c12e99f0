/**
 * A program of its own: fails every attempt of every message on the queue it is told, a second apart on a rung, and prints the
 * number of each, and what became of it once that is settled.
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
    metric: ({ name, labels }) => name === "acemq.consume.total" ? console.log(labels["outcome"]) : undefined,
  },
});
await mq.consume(queue, ({ envelope }) => {
  console.log(envelope.attempt);
  throw new Error("no");
}, { retry: fixedRetry(3, { delayMs: 1_000, brokerWaitThresholdMs: 1_000 }) });
console.log("consuming");
