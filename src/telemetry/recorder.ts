/**
 * Hands measurements and log records to the sink, if there is one.
 *
 * @module
 */

import { type LabelsOf, type MetricName, METRICS } from "./names.ts";
import { TypeLabels } from "./outcomes.ts";
import type { LogRecord, TelemetrySink } from "./sink.ts";

/** What one connection measures with. */
export class Recorder {
  /** Whether measurements go anywhere: false spares the message path the work of making them. */
  readonly measures: boolean;
  readonly transport: string;
  readonly #sink: TelemetrySink | undefined;
  readonly #types = new TypeLabels();
  readonly #inFlight = new Map<string, number>();

  constructor(sink: TelemetrySink | undefined, transport: string) {
    this.#sink = sink;
    this.transport = transport;
    this.measures = sink?.metric !== undefined;
  }

  /** Writes one measurement; its labels are checked against the table of names by the compiler. */
  metric<Name extends MetricName>(name: Name, value: number, labels: LabelsOf<Name>): void {
    if (this.#sink?.metric === undefined) return;
    try {
      ignoreRejection(this.#sink.metric({ name, kind: METRICS[name].kind, value, labels }));
    } catch {
      // A sink's fault must never cost a message.
    }
  }

  /** Writes one log record. */
  log(level: LogRecord["level"], event: string, fields: LogRecord["fields"]): void {
    if (this.#sink?.log === undefined) return;
    try {
      ignoreRejection(this.#sink.log({ level, event, fields }));
    } catch {
      // As above.
    }
  }

  /** More or fewer deliveries of a queue are in a handler. */
  inFlight(queue: string, change: number): void {
    const level = (this.#inFlight.get(queue) ?? 0) + change;
    if (level === 0) this.#inFlight.delete(queue);
    else this.#inFlight.set(queue, level);
    this.metric("acemq.consume.in.flight", level, { queue });
  }

  /** The `message.type` label of a type. */
  typeLabel(type: string): string {
    return this.#types.of(type);
  }
}

/** A sink that is an async function after all: unheard, its rejection would end the process. */
function ignoreRejection(returned: unknown): void {
  if (returned instanceof Promise) returned.catch(() => {});
}
