import { memoryBroker, virtualClock } from "../../../adapters/memory/mod.ts";
import { brokerContract } from "../../contract/mod.ts";

brokerContract("the memory broker", async () => {
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  return {
    broker,
    clock,
    pass: (ms) => clock.advance(ms),
    block: async (reason) => broker.block(reason),
    unblock: async () => broker.unblock(),
  };
}, { canBlock: true });
