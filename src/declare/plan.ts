/**
 * Planning: asks the broker for every object of a topology, and creates none (contract core 5.5).
 *
 * @module
 */

import type { BrokerConnection, CompareResult } from "../ports/broker.ts";
import { type PlanItem, type PlanStatus, TopologyPlan } from "../topology/plan.ts";
import type { BindingSpec, TopologySpec } from "../topology/specs.ts";
import { answered, type AskOptions } from "./answered.ts";

/** Options of a plan and of a validation. */
export interface PlanOptions {
  /** Ends the wait; a question that is out already is not taken back. */
  readonly signal?: AbortSignal;
}

/**
 * Asks for one object after the other. What the broker cannot be asked is `unknown`, and so is what it refuses to say.
 *
 * @throws {ConnectionError} the connection is closed, or was lost on the way: half a plan is none
 * @throws the signal's reason, when it aborts first
 */
export async function planTopology(
  broker: BrokerConnection,
  spec: TopologySpec,
  options: AskOptions = {},
): Promise<TopologyPlan> {
  const items: PlanItem[] = [];
  for (const exchange of spec.exchanges) {
    const found = await answered(() => broker.compareExchange(exchange), options);
    items.push(itemOf("exchange", exchange.name, found));
  }
  for (const queue of spec.queues) {
    const found = await answered(() => broker.compareQueue(queue), options);
    items.push(itemOf("queue", queue.name, found));
  }
  return new TopologyPlan([...items, ...spec.bindings.map(unknownBinding)]);
}

const MEANING: Readonly<Record<CompareResult["status"], PlanStatus>> = {
  absent: "would_create",
  same: "present",
  differs: "differs",
  refused: "unknown",
};

function itemOf(kind: PlanItem["kind"], name: string, found: CompareResult): PlanItem {
  const status = MEANING[found.status];
  return found.status === "same" ? { kind, name, status } : { kind, name, status, reason: found.reason };
}

/** Also where one of its ends is not there: a broker answers 404 for a queue whose node is down, and its bindings are kept. */
function unknownBinding({ queue, exchange, routingKey }: BindingSpec): PlanItem {
  const ends = `${queue} from ${exchange}`;
  return {
    kind: "binding",
    name: routingKey === "" ? ends : `${ends}, key ${routingKey}`,
    status: "unknown",
    reason: "AMQP has no question for bindings",
  };
}
