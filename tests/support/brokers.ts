/**
 * A connection to a real broker for one test, and the removal of all that the test made there.
 *
 * @module
 */
import { amqpBroker, type AmqpOptions, connect } from "../../connect.ts";
import { randomUuid, systemClock } from "../../src/clock.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import type { Connection } from "../../src/connection.ts";
import type { Topology } from "../../src/topology/topology.ts";

/** What a test has to work with. */
export interface OnBroker {
  readonly mq: Connection;
  /** A prefix nobody else uses. */
  readonly prefix: string;
  /** Says what to remove at the end: whatever the topology names, but for the library's own exchanges, which are shared. */
  readonly removes: (topology: Topology) => Topology;
}

/** Connects as an application does, runs the test, and removes what it made by another connection. */
export async function onBroker(
  url: string,
  body: (on: OnBroker) => Promise<void>,
  options: ConnectOptions & AmqpOptions & { readonly cleanUrl?: string } = {},
): Promise<void> {
  const { cleanUrl = url, ...rest } = options;
  const [queues, exchanges] = [new Set<string>(), new Set<string>()];
  const removes = (topology: Topology): Topology => {
    for (const { name } of topology.spec.queues) queues.add(name);
    for (const { name } of topology.spec.exchanges) if (!name.startsWith("acemq.")) exchanges.add(name);
    return topology;
  };
  const mq = await connect(url, { name: "acemq-test", ...rest });
  try {
    await body({ mq, prefix: `acemq-test-${randomUuid().slice(0, 8)}`, removes });
  } finally {
    await mq.close();
    const cleaner = await amqpBroker(cleanUrl).open({ name: "acemq-test", clock: systemClock(), onEvent: () => {} });
    for (const name of queues) await cleaner.deleteQueue(name);
    for (const name of exchanges) await cleaner.deleteExchange(name);
    await cleaner.close();
  }
}
