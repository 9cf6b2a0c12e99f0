/**
 * One telemetry record a publish (contract core 7.1).
 *
 * @module
 */

import { type Outbound, outboundType } from "../message/outbound.ts";
import type { PublishReceipt } from "../ports/broker.ts";
import type { PublishOutcome } from "../telemetry/outcomes.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import { publishOutcome } from "./outcome.ts";

/** Counts and times the publishes of applications. */
export class PublishMeter {
  readonly #recorder: Recorder;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /** The broker answered, or nothing was written and the gate said why. */
  answered(outbound: Outbound, receipt: PublishReceipt, latencyMs: number): void {
    if (!this.#recorder.measures) return;
    this.#record(outbound, outboundType(outbound), publishOutcome(receipt), latencyMs);
  }

  /** The message never reached the gate: it could not be made, or its signal had aborted. */
  declined(target: { exchange: string; routingKey: string }, type: string | undefined, latencyMs: number): void {
    if (!this.#recorder.measures) return;
    this.#record(target, type ?? target.routingKey, "refused", latencyMs);
  }

  #record(
    { exchange, routingKey }: { readonly exchange: string; readonly routingKey: string },
    type: string,
    outcome: PublishOutcome,
    latencyMs: number,
  ): void {
    const labels = {
      exchange,
      "routing.key": routingKey,
      "message.type": this.#recorder.typeLabel(type),
      transport: this.#recorder.transport,
      outcome,
    };
    this.#recorder.metric("acemq.publish.total", 1, labels);
    this.#recorder.metric("acemq.publish.duration", latencyMs / 1_000, labels);
  }
}
