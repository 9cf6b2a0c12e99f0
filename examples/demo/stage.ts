/**
 * Where the flow runs.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { connect, type Connection, type TelemetrySink } from "@acemq/amqp";
import { memoryBroker } from "@acemq/amqp/memory";
import { amqpPublish } from "./command_orders.ts";
import type { DemoDatabase } from "./database.ts";
import { type FlowNames, flowNames, flowQueues } from "./flow.ts";
import { ownOrders } from "./own_orders.ts";
import { RawClient } from "./raw_client.ts";
import { putRecordings, replayRecordings } from "./recorded_orders.ts";
import type { Source } from "./source.ts";

/** A broker with a connection to it, and what places orders there. */
export interface Stage {
  readonly title: string;
  readonly mq: Connection;
  readonly names: FlowNames;
  readonly sources: readonly Source[];
  /** Whether the broker ends with the process. */
  readonly forgets: boolean;
  /** Closes the connection. */
  leave(): Promise<void>;
  /** Removes what the run declared, and says how many messages its queues still held. */
  clear(): Promise<number>;
}

/** What names on RabbitMQ begin with: those of a run are its own. */
export function newPrefix(): string {
  return `demo-${randomUUID().slice(0, 8)}.`;
}

const CONNECTION_NAME = "acemq-demo";

/** The broker in memory: no service, no network. */
export async function memoryStage(telemetry: TelemetrySink, database: DemoDatabase): Promise<Stage> {
  const broker = memoryBroker();
  const mq = await connect(broker, { name: CONNECTION_NAME, telemetry });
  const names = flowNames("");
  return {
    title: "the in-memory broker",
    mq,
    names,
    sources: [ownOrders(mq, names, database), putRecordings(broker, names)],
    forgets: true,
    leave: async () => void await mq.close(),
    clear: () =>
      Promise.resolve(broker.queues.reduce((left, queue) => left + (broker.inspect(queue)?.waiting.length ?? 0), 0)),
  };
}

/**
 * RabbitMQ. The names of a run are gone when it is over; what stays are `acemq.dlx` and `acemq.retry`, which every service of a fleet
 * shares.
 */
export async function rabbitmqStage(
  url: URL,
  telemetry: TelemetrySink,
  { database, prefix }: { readonly database: DemoDatabase; readonly prefix: string },
): Promise<Stage> {
  const names = flowNames(prefix);
  const mq = await connect(url.href, { name: CONNECTION_NAME, telemetry });
  return {
    title: `RabbitMQ at ${url.host}, in queues whose names begin with ${prefix}`,
    mq,
    names,
    sources: [ownOrders(mq, names, database), replayRecordings(url, names), amqpPublish(url, names)],
    forgets: false,
    leave: async () => void await mq.close(),
    clear: () => removeFlow(url, names),
  };
}

async function removeFlow(url: URL, names: FlowNames): Promise<number> {
  const client = await RawClient.open(url);
  let left = 0;
  for (const queue of flowQueues(names)) left += await client.deleteQueue(queue);
  await client.deleteExchange(names.exchange);
  client.close();
  return left;
}
