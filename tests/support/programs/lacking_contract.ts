/** The contract of a broker that has plain classic queues alone, and says so, as somebody's own test file has it. */
import { brokerContract } from "@acemq/amqp/contracts";
import type { Broker, BrokerConnection, DeclareResult, QueueSpec } from "@acemq/amqp/core";
import { memoryBroker, virtualClock } from "@acemq/amqp/memory";

const LACKING: readonly string[] = ["x-expires", "x-single-active-consumer", "x-max-priority"];

/** Refuses every queue that is more than a plain classic one. */
function plain(inner: Broker): Broker {
  return { open: async (options) => plainConnection(await inner.open(options)) };
}

function plainConnection(inner: BrokerConnection): BrokerConnection {
  const declareQueue = (spec: QueueSpec): Promise<DeclareResult> => {
    const { "x-queue-type": type = "classic" } = spec.arguments;
    const isPlain = type !== "quorum" && type !== "stream";
    if (isPlain && !LACKING.some((name) => name in spec.arguments)) return inner.declareQueue(spec);
    return Promise.resolve({ status: "refused", reason: "there are plain queues only" });
  };
  return new Proxy(inner, {
    get: (target, name) => {
      if (name === "declareQueue") return declareQueue;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

brokerContract("a plain broker", async () => {
  const clock = virtualClock();
  return { broker: plain(memoryBroker({ clock })), clock, pass: (ms) => clock.advance(ms) };
}, {
  lacks: [
    "at_least_once_dead_letters",
    "priorities",
    "queue_expiry",
    "quorum_queues",
    "single_active_consumer",
    "streams",
  ],
  except: ["says what it is connected to"],
});
