/**
 * Validating: a topology that is not there as it says is an error, and nothing is done about it (contract core 5.5).
 *
 * @module
 */

import { TopologyError, type TopologyErrorCode } from "../errors.ts";
import type { BrokerConnection } from "../ports/broker.ts";
import { describeItem, type PlanItem, type PlanStatus } from "../topology/plan.ts";
import type { TopologySpec } from "../topology/specs.ts";
import type { AskOptions } from "./answered.ts";
import { planTopology } from "./plan.ts";

/**
 * Asks for every object of a topology, and throws unless each that can be asked for is present. Bindings cannot be asked for.
 *
 * @throws {TopologyError} every finding: `ACEMQ_TOPOLOGY_DRIFT` when something differs, else `ACEMQ_TOPOLOGY_REFUSED` when the
 * broker refused to compare something, else `ACEMQ_TOPOLOGY_MISSING`, which a declaration mends
 * @throws {ConnectionError} the connection is closed, or was lost on the way
 * @throws the signal's reason, when it aborts first
 */
export async function validateTopology(
  broker: BrokerConnection,
  spec: TopologySpec,
  options: AskOptions = {},
): Promise<void> {
  const { items } = await planTopology(broker, spec, options);
  const amiss = items.filter(({ kind, status }) => kind !== "binding" && status !== "present");
  if (amiss.length === 0) return;
  const findings = amiss.map(findingOf);
  throw new TopologyError(
    codeOf(amiss),
    `Cannot validate the topology: not everything is there as it says: ${findings.join("; ")}`,
    { findings },
  );
}

const VERBS: Readonly<Record<PlanStatus, string>> = {
  would_create: "is missing",
  present: "is there",
  differs: "differs",
  unknown: "cannot be compared",
};

function findingOf(item: PlanItem): string {
  return `${describeItem(item)} ${VERBS[item.status]}: ${item.reason}`;
}

/** What takes a person to mend comes before what a declaration mends. */
function codeOf(amiss: readonly PlanItem[]): TopologyErrorCode {
  if (amiss.some(({ status }) => status === "differs")) return "ACEMQ_TOPOLOGY_DRIFT";
  return amiss.some(({ status }) => status === "unknown") ? "ACEMQ_TOPOLOGY_REFUSED" : "ACEMQ_TOPOLOGY_MISSING";
}
