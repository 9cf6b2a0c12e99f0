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

/** Where a message goes. */
export interface PublishTarget {
  readonly exchange: string;
  readonly routingKey: string;
}

/** Counts and times the publishes of applications; copies the library makes are not publishes. */
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

  /** Nothing was written and no receipt says why: the message could not be made, or its signal had aborted. */
  declined(target: PublishTarget, type: string, latencyMs: number): void {
    if (this.#recorder.measures) this.#record(target, type, "refused", latencyMs);
  }

  #record(
    { exchange, routingKey }: PublishTarget,
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
