import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { systemClock } from "../../../src/clock.ts";
import { brokerContract } from "../../contract/mod.ts";
import { AMQP_URL, missing } from "../../support/services.ts";

const skip = await missing("rabbitmq");

brokerContract("RabbitMQ", async () => {
  const clock = systemClock();
  return { broker: amqpBroker(AMQP_URL), clock, pass: (ms) => clock.delay(ms) };
}, { skip });
