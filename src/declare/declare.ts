/**
 * Declaring: creates what is missing, and refuses a difference before it touches anything (contract core 5.5).
 *
 * @module
 */

import { TopologyError, type TopologyErrorCode } from "../errors.ts";
import type { BrokerConnection, DeclareResult } from "../ports/broker.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec, TopologySpec } from "../topology/specs.ts";

/**
 * Declares exchanges, then queues, then bindings.
 *
 * What exists already is asked about first: a passive question, then the same declaration on a channel of its own, so that the
 * broker itself judges whether it differs. Only when nothing differs is anything created.
 *
 * @throws {TopologyError} `ACEMQ_TOPOLOGY_DRIFT` with the broker's words for every difference, before anything was created;
 * `ACEMQ_TOPOLOGY_REFUSED` when the broker refuses a declaration: of something that exists, before anything was created
 */
export async function declareTopology(broker: BrokerConnection, spec: TopologySpec): Promise<void> {
  const missing = await missingFrom(broker, spec);
  for (const exchange of missing.exchanges) {
    assertDeclared(nameOf(exchange, "exchange"), await broker.declareExchange(exchange));
  }
  for (const queue of missing.queues) assertDeclared(nameOf(queue, "queue"), await broker.declareQueue(queue));
  for (const binding of spec.bindings) assertDeclared(describeBinding(binding), await broker.bindQueue(binding));
}

/** What does not exist yet. Throws when something that exists differs. */
async function missingFrom(
  broker: BrokerConnection,
  spec: TopologySpec,
): Promise<{ exchanges: ExchangeSpec[]; queues: QueueSpec[] }> {
  const exchanges: ExchangeSpec[] = [];
  const queues: QueueSpec[] = [];
  const findings: string[] = [];
  let code: TopologyErrorCode = "ACEMQ_TOPOLOGY_REFUSED";
  const judge = (name: string, result: DeclareResult): void => {
    if (result.status === "declared") return;
    if (result.status === "differs") code = "ACEMQ_TOPOLOGY_DRIFT";
    findings.push(`${name}: ${result.reason}`);
  };
  for (const exchange of spec.exchanges) {
    if (await broker.checkExchange(exchange.name) === "absent") exchanges.push(exchange);
    else judge(nameOf(exchange, "exchange"), await broker.declareExchange(exchange));
  }
  for (const queue of spec.queues) {
    if ((await broker.checkQueue(queue.name)).status === "absent") queues.push(queue);
    else judge(nameOf(queue, "queue"), await broker.declareQueue(queue));
  }
  if (findings.length === 0) return { exchanges, queues };
  throw new TopologyError(
    code,
    `Cannot declare the topology: the broker refused what exists already, and nothing was created: ${
      findings.join("; ")
    }`,
    { findings },
  );
}

function assertDeclared(name: string, result: DeclareResult): void {
  if (result.status === "declared") return;
  const findings = [`${name}: ${result.reason}`];
  const code = result.status === "differs" ? "ACEMQ_TOPOLOGY_DRIFT" : "ACEMQ_TOPOLOGY_REFUSED";
  throw new TopologyError(code, `Cannot declare ${name}: ${result.reason}`, { findings });
}

function nameOf(spec: { readonly name: string }, kind: "exchange" | "queue"): string {
  return `${kind} "${spec.name}"`;
}

function describeBinding({ queue, exchange, routingKey }: BindingSpec): string {
  return `the binding of queue "${queue}" to exchange "${exchange}" with key "${routingKey}"`;
}
