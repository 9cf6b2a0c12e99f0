/**
 * A broker of one's own: a thread has the broker, and this one reaches it over `MessagePort`s. The library does not notice.
 *
 * The adapter is in `port_broker/`: `port_broker.ts` is this end of a port, `serve.ts` the broker's. It keeps the same contract as
 * the adapters of the library (`tests/examples/port_broker_test.ts`).
 *
 *     deno run --allow-read examples/custom_broker.ts
 *
 * @module
 */
import { Worker } from "node:worker_threads";
import { connect, fixedRetry, topology } from "@acemq/amqp/core";
import { portBroker } from "./port_broker/port_broker.ts";

const worker = new Worker(new URL("./port_broker/worker.ts", import.meta.url));
const broker = portBroker(() => {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(port2, [port2 as never]);
  return port1;
});

const mq = await connect(broker, { name: "front" });
await mq.declare(topology().queue("orders.new", { deadLetter: true }));
let handled = (): void => {};
const isHandled = new Promise<void>((resolve) => handled = resolve);
await mq.consume<{ id: string }>("orders.new", ({ payload, envelope }) => {
  console.log(`${payload.id}, attempt ${envelope.attempt}`);
  if (envelope.attempt === 1) throw new Error("The ledger is closed");
  handled();
}, { retry: fixedRetry(2, { delayMs: 20 }) });

const { outcome } = await mq.publisher("", "orders.new").send({ id: "A-19" });
console.log(outcome);
await isHandled;
await mq.close();
await worker.terminate();
