/**
 * How a connection is: its broker, its consumers, and the outboxes it relays from.
 *
 * @module
 */

import type { Consumer } from "../consume/consumer.ts";
import type { RelayRun } from "../patterns/outbox/relay_run.ts";
import type { BrokerConnection } from "../ports/broker.ts";
import type { Environment } from "../ports/environment.ts";
import { checkBroker } from "./broker_check.ts";
import { reportConsumers } from "./consumer_check.ts";
import { reportOutbox } from "./outbox_check.ts";
import { aggregateHealth, type HealthReport } from "./report.ts";

/** What there is to look at. */
export interface CheckedConnection {
  readonly broker: BrokerConnection;
  readonly environment: Environment;
  readonly consumers: readonly Consumer[];
  readonly relays: readonly RelayRun[];
}

/** Looks at all of it at once. */
export function checkConnection(
  { broker, environment, consumers, relays }: CheckedConnection,
  signal: AbortSignal | undefined,
): Promise<HealthReport> {
  const { clock } = environment;
  const checked = (): string => new Date(clock.now()).toISOString();
  return aggregateHealth({
    broker: () => checkBroker(broker, environment, consumers.length),
    consumers: () => reportConsumers(consumers.map(({ state }) => state), checked()),
    ...(relays.length === 0
      ? {}
      : { outbox: (ends: AbortSignal) => reportOutbox(relays, { checked: checked(), signal: ends }) }),
  }, { clock, signal });
}
