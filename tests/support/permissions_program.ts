/** Publishes one message under whatever permissions the process has, and says what came of it. */
import process from "node:process";
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import { randomUuid, systemClock } from "../../src/clock.ts";

const broker = amqpBroker(process.argv[2] ?? "");
const mq = await broker.open({ name: "permissions", clock: systemClock(), onEvent: () => {} });
const name = `acemq-permissions-${randomUuid()}`;
await mq.declareQueue({ name, durable: false, exclusive: true, autoDelete: false, arguments: {} });
const receipt = await mq.publish(
  { exchange: "", routingKey: name, body: new Uint8Array(), headers: {}, persistent: false, mandatory: true },
  { lane: 1, confirm: true },
);
console.log(receipt.outcome, mq.transport, mq.hostName);
await mq.close();
