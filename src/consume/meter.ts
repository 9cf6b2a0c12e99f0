/**
 * One telemetry record a delivery, and a log line for everything that did not go well (contract core 7.1, 7.3).
 *
 * @module
 */

import type { Envelope } from "../message/envelope.ts";
import type { ConsumeOutcome } from "../telemetry/outcomes.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import type { SetAside, TryAgain } from "./settlement.ts";

/** A handler that computes its waits would otherwise fill the log with them. */
const MOST_UNDECLARED = 100;

/** Counts, times and logs the deliveries of one queue. */
export class ConsumeMeter {
  readonly #recorder: Recorder;
  readonly #queue: string;
  #inFlight = 0;
  /** Waits that were told of already. */
  readonly #undeclared = new Set<number>();

  constructor(recorder: Recorder, queue: string) {
    this.#recorder = recorder;
    this.#queue = queue;
  }

  /** A delivery was settled. `handlerMs` is undefined when it never reached the handler. */
  settled(envelope: Envelope, outcome: ConsumeOutcome, handlerMs: number | undefined): void {
    if (!this.#recorder.measures) return;
    const type = this.#recorder.typeLabel(envelope.type);
    const labels = { queue: this.#queue, "message.type": type, transport: this.#recorder.transport, outcome };
    this.#recorder.metric("acemq.consume.total", 1, labels);
    if (handlerMs === undefined) return;
    this.#recorder.metric("acemq.consume.duration", handlerMs / 1_000, labels);
    this.#recorder.metric("acemq.consume.attempts", envelope.attempt, {
      queue: this.#queue,
      "message.type": type,
      outcome,
    });
  }

  /** How many deliveries of this consumer are in a handler; the gauge is of all consumers of the queue together. */
  inFlight(count: number): void {
    const change = count - this.#inFlight;
    this.#inFlight = count;
    if (this.#recorder.measures) this.#recorder.inFlight(this.#queue, change);
  }

  /** The copy for the next attempt is where it should be. */
  retried(envelope: Envelope, { delayMs, reason }: TryAgain, rung: string | undefined): void {
    this.#recorder.metric("acemq.messages.retried.total", 1, { queue: this.#queue });
    this.#recorder.log("info", "acemq.message.retried", {
      ...this.#facts(envelope),
      delayMs: Math.round(delayMs),
      ...(rung === undefined ? {} : { rung }),
      reason,
    });
  }

  /** The copy is in `.dlq` or `.parked`. A rejection counts as a dead letter (contract core 11, row 23). */
  setAside(envelope: Envelope, settlement: SetAside, target: string): void {
    const outcome = settlement.target === "parked" ? "parked" : "dead_lettered";
    this.#recorder.metric("acemq.messages.dead.lettered.total", 1, { queue: this.#queue, outcome });
    const reason = loggable(settlement.reason);
    this.#recorder.log("warn", `acemq.message.${outcome}`, { ...this.#facts(envelope), target, reason });
  }

  /** A message could not be set aside; it stays on its queue. */
  setAsideFailed(envelope: Envelope, target: string, reason: string): void {
    this.#recorder.metric("acemq.messages.set.aside.failed", 1, { queue: this.#queue, target });
    this.#recorder.log("error", "acemq.set_aside.failed", { ...this.#facts(envelope), target, reason });
  }

  /** A rung is not there; the wait is taken in the consumer. */
  rungMissing(envelope: Envelope, rung: string): void {
    this.#recorder.metric("acemq.retry.rung.missing", 1, { queue: this.#queue, rung });
    this.#recorder.log("error", "acemq.retry.rung_missing", { ...this.#facts(envelope), rung });
  }

  /** A copy for the next attempt could not be published; the message stays on its queue. */
  republishFailed(envelope: Envelope, reason: string): void {
    this.#recorder.log("error", "acemq.republish.failed", { ...this.#facts(envelope), reason });
  }

  /** A delivery could not be settled at all; the broker still has it. */
  settleFailed(envelope: Envelope, reason: string): void {
    this.#recorder.log("error", "acemq.settle.failed", { ...this.#facts(envelope), reason });
  }

  /** A handler asked for a wait no rung holds exactly: told once, and of a hundred different waits at most. */
  rungUndeclared(wantedMs: number, usedMs: number): void {
    if (this.#undeclared.has(wantedMs) || this.#undeclared.size >= MOST_UNDECLARED) return;
    this.#undeclared.add(wantedMs);
    this.#recorder.log("warn", "acemq.retry.rung_undeclared", {
      queue: this.#queue,
      wantedMs,
      usedMs,
      remedy: `add ${wantedMs} to the consumer's option 'rungsMs'`,
    });
  }

  /** Something about the consumer itself. */
  consumer(event: "started" | "stopped" | "drain_timeout", fields: Record<string, number> = {}): void {
    const level = event === "drain_timeout" ? "warn" : "info";
    this.#recorder.log(level, `acemq.consumer.${event}`, { queue: this.#queue, ...fields });
  }

  #facts(envelope: Envelope): { id: string; queue: string; attempt: number } {
    return { id: envelope.id, queue: this.#queue, attempt: envelope.attempt };
  }
}

/** What a codec says of a body may quote it, so a log has only the name of the error. */
function loggable(reason: string): string {
  const [prefix, name] = reason.split(": ", 2);
  return prefix === "could not be decoded" ? `${prefix}: ${name ?? ""}` : reason;
}
