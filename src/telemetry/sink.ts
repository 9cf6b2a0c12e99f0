/**
 * Where measurements and log records go.
 *
 * @module
 */

/** Labels of one measurement; a metric always carries the same set of names. */
export interface MetricLabels {
  readonly [name: string]: string;
}

/** One measurement. Names, labels and units are those of contract core 7.1. */
export interface Metric {
  readonly name: string;
  /** `counter` adds, `gauge` replaces, `histogram` is one observation (seconds, or attempts). */
  readonly kind: "counter" | "gauge" | "histogram";
  readonly value: number;
  readonly labels: MetricLabels;
}

/** One thing worth a line in a log. Never carries a body, a key or a credential. */
export interface LogRecord {
  readonly level: "info" | "warn" | "error";
  /** A stable name, such as `acemq.message.dead_lettered`. */
  readonly event: string;
  /** Facts of the event. */
  readonly fields: { readonly [name: string]: string | number | boolean };
}

/**
 * A receiver of telemetry. Every member is optional: a sink takes what it wants.
 *
 * Called synchronously on the message path, so it should be quick; what it throws is dropped, since a measurement must never
 * cost a message.
 */
export interface TelemetrySink {
  metric?(metric: Metric): void;
  log?(record: LogRecord): void;
}
