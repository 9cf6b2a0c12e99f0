/** The cases of the broker contract that nobody else's broker should be put through. */
import { after, before, describe } from "node:test";
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import { systemClock } from "../../src/clock.ts";
import {
  acknowledgementTimeoutContract,
  blockedBrokerContract,
  type BrokerUnderTest,
  deadLetterRetryContract,
} from "../contract/mod.ts";
import { FaultNode } from "../support/fault_node.ts";
import { FAULT_AMQP_URL, missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("fault_node");
const TIMEOUT_MS = 400;
const RETRY_MS = 200;

describe("RabbitMQ on the fault node", () => {
  let node: FaultNode;
  before(async () => {
    if (skip === false) node = await FaultNode.take();
  });
  after(async () => {
    if (skip === false) await node.giveBack();
  });

  blockedBrokerContract("RabbitMQ", async () => ({
    ...open(),
    block: async () => {
      await node.raiseAlarm("memory");
      // A connection that has not heard of it yet would take the publish that is to run into it.
      await until("every connection has heard of it", () => node.isBlocking());
    },
    unblock: () => node.reset(),
  }), { skip });

  acknowledgementTimeoutContract("RabbitMQ", async () => {
    await node.configure({ consumer_timeout: TIMEOUT_MS, channel_tick_interval: 50 });
    return { ...open(), acknowledgementTimeoutMs: TIMEOUT_MS };
  }, { skip });

  deadLetterRetryContract("RabbitMQ", async () => {
    await node.configure({ dead_letter_worker_publisher_confirm_timeout: RETRY_MS });
    return { ...open(), deadLetterRetryMs: RETRY_MS };
  }, { skip });
});

function open(): BrokerUnderTest {
  const clock = systemClock();
  return { broker: amqpBroker(FAULT_AMQP_URL), clock, pass: (ms) => clock.delay(ms) };
}
