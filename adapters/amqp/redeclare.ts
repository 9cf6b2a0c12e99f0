/**
 * Declaring again what was declared, on a link that came back.
 *
 * @module
 */

import { describeError } from "../../src/errors.ts";
import type { BrokerEvent, DeclareResult } from "../../src/ports/broker.ts";
import { bindQueue, declareExchange, declareQueue } from "./admin.ts";
import type { Declared } from "./declared.ts";
import type { Link } from "./link.ts";

/** Declares exchanges, then queues, then bindings; what is refused is reported and does not keep the others from coming back. */
export async function redeclare(link: Link, declared: Declared, report: (event: BrokerEvent) => void): Promise<void> {
  const steps = [
    ...declared.exchanges.map((spec) => step(`exchange "${spec.name}"`, () => declareExchange(link, spec))),
    ...declared.queues.map((spec) => step(`queue "${spec.name}"`, () => declareQueue(link, spec))),
    ...declared.bindings.map((spec) =>
      step(`binding of "${spec.queue}" to "${spec.exchange}"`, () => bindQueue(link, spec))
    ),
  ];
  for (const { object, declare } of steps) {
    const reason = await failureOf(declare);
    // What fails with the link is declared on the next one.
    if (!link.isUsable) return;
    if (reason !== undefined) report({ type: "redeclare_failed", object, reason });
  }
}

interface Step {
  readonly object: string;
  readonly declare: () => Promise<DeclareResult>;
}

function step(object: string, declare: () => Promise<DeclareResult>): Step {
  return { object, declare };
}

async function failureOf(declare: () => Promise<DeclareResult>): Promise<string | undefined> {
  try {
    const result = await declare();
    return result.status === "declared" ? undefined : result.reason;
  } catch (error) {
    return describeError(error);
  }
}
