import { memoryBroker, virtualClock } from "../../../adapters/memory/mod.ts";
import {
  acknowledgementTimeoutContract,
  blockedBrokerContract,
  brokerContract,
  type BrokerUnderTest,
  deadLetterRetryContract,
} from "../../contract/mod.ts";

const TIMEOUT_MS = 1_800_000;
const RETRY_MS = 180_000;

async function open(): Promise<BrokerUnderTest> {
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  return {
    broker,
    clock,
    pass: (ms) => clock.advance(ms),
    block: async () => broker.block("low on memory"),
    unblock: async () => broker.unblock(),
  };
}

brokerContract("the memory broker", open);
blockedBrokerContract("the memory broker", open);
acknowledgementTimeoutContract("the memory broker", async () => ({
  ...await open(),
  acknowledgementTimeoutMs: TIMEOUT_MS,
}));
deadLetterRetryContract("the memory broker", async () => ({ ...await open(), deadLetterRetryMs: RETRY_MS }));
