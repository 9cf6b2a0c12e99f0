/**
 * Declaring: creates what is missing, and refuses a difference before it touches anything (contract core 5.5).
 *
 * @module
 */

import { TopologyError, type TopologyErrorCode } from "../errors.ts";
import type { BrokerConnection, DeclareResult } from "../ports/broker.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec, TopologySpec } from "../topology/specs.ts";
import { answered, type AskOptions } from "./answered.ts";

/** Options of a declaration. */
export interface DeclareOptions {
  /** Ends the declaration. What was created until then stays, and a declaration that is out already is not taken back. */
  readonly signal?: AbortSignal;
}

/**
 * Declares exchanges, then queues, then bindings.
 *
 * What exists already is asked about first: a passive question, then the same declaration on a channel of its own, so that the
 * broker itself judges whether it differs. Only when nothing differs is anything created.
 *
 * @throws {TopologyError} `ACEMQ_TOPOLOGY_DRIFT` with the broker's words for every difference, before anything was created;
 * `ACEMQ_TOPOLOGY_REFUSED` when the broker refuses a declaration: of something that exists, before anything was created
 * @throws the signal's reason, when it aborts first
 */
export async function declareTopology(
  broker: BrokerConnection,
  spec: TopologySpec,
  options: AskOptions = {},
): Promise<void> {
  const missing = await missingFrom(broker, spec, options);
  const declare = async (name: string, ask: () => Promise<DeclareResult>): Promise<void> =>
    assertDeclared(name, await answered(ask, options));
  for (const one of missing.exchanges) await declare(nameOf(one, "exchange"), () => broker.declareExchange(one));
  for (const one of missing.queues) await declare(nameOf(one, "queue"), () => broker.declareQueue(one));
  for (const one of spec.bindings) await declare(describeBinding(one), () => broker.bindQueue(one));
}

/** What does not exist yet. Throws when something that exists differs. */
async function missingFrom(
  broker: BrokerConnection,
  spec: TopologySpec,
  options: AskOptions,
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
    if (await answered(() => broker.checkExchange(exchange.name), options) === "absent") exchanges.push(exchange);
    else judge(nameOf(exchange, "exchange"), await answered(() => broker.declareExchange(exchange), options));
  }
  for (const queue of spec.queues) {
    const { status } = await answered(() => broker.checkQueue(queue.name), options);
    if (status === "absent") queues.push(queue);
    else judge(nameOf(queue, "queue"), await answered(() => broker.declareQueue(queue), options));
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
