/** The example of a broker of one's own keeps the contract, as anybody's would be asked to: everything comes by the package's name. */
import assert from "node:assert/strict";
import { it } from "node:test";
import {
  acknowledgementTimeoutContract,
  blockedBrokerContract,
  brokerContract,
  type BrokerUnderTest,
  deadLetterRetryContract,
} from "@acemq/amqp/contracts";
import { memoryBroker, virtualClock } from "@acemq/amqp/memory";
import { portBroker } from "../../examples/port_broker/port_broker.ts";
import { serveBroker } from "../../examples/port_broker/serve.ts";
import { pulled } from "../support/pulling.ts";

const NAME = "a broker behind a port";
const TIMEOUT_MS = 1_800_000;

/** One turn for a question to arrive, one for its answer. */
async function carried(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve));
}

async function open(): Promise<BrokerUnderTest> {
  const clock = virtualClock();
  const memory = memoryBroker({ clock });
  const broker = portBroker(() => {
    const { port1, port2 } = new MessageChannel();
    serveBroker(memory, port2);
    return port1;
  });
  return {
    broker,
    clock,
    pass: async (ms) => {
      await carried();
      await clock.advance(ms);
      await carried();
    },
    block: async () => memory.block("low on memory"),
    unblock: async () => memory.unblock(),
    acknowledgementTimeoutMs: TIMEOUT_MS,
    deadLetterRetryMs: 180_000,
  };
}

brokerContract(NAME, open);
blockedBrokerContract(NAME, open);
deadLetterRetryContract(NAME, open);
acknowledgementTimeoutContract(NAME, open, { except: ["takes back what was pulled and not settled in time"] });

it("A port is told nothing of a pulled message that its broker took back: a settlement of it does nothing", async () => {
  const { broker, clock, pass } = await open();
  const mq = await broker.open({ name: "test", clock, onEvent: () => {} });
  await mq.declareQueue({ name: "q", durable: true, exclusive: false, autoDelete: false, arguments: {} });
  const outbound = { exchange: "", routingKey: "q", headers: {}, persistent: true, mandatory: true };
  await mq.publish({ ...outbound, body: Uint8Array.of(1) }, { lane: 1, confirm: true });
  const taken = await pulled(mq, "q");
  await pass(TIMEOUT_MS + 60_000);
  assert.deepEqual([taken?.isLive, taken?.settle("ack")], [true, "sent"]);
  assert.deepEqual(await mq.checkQueue("q"), { status: "present", messages: 1, consumers: 0 });
  await mq.close();
});
