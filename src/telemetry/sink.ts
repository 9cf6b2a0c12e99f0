/**
 * Where measurements and log records go.
 *
 * @module
 */

/** Labels of one measurement; a metric always carries the same set of names. */
export interface MetricLabels {
  /** One label. */
  readonly [name: string]: string;
}

/** One measurement. Names, labels and units are those of contract core 7.1. */
export interface Metric {
  /** One of the names in `METRICS`. */
  readonly name: string;
  /** `counter` adds, `gauge` replaces, `histogram` is one observation (seconds, or attempts). */
  readonly kind: "counter" | "gauge" | "histogram";
  /** An increment, a level or an observation, by kind. */
  readonly value: number;
  /** The label set of its name. */
  readonly labels: MetricLabels;
}

/** One thing worth a line in a log. Never carries a body, a key or a credential. */
export interface LogRecord {
  /** How much it matters. */
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
  /** Takes one measurement. */
  metric?(metric: Metric): void;
  /** Takes one log record. */
  log?(record: LogRecord): void;
}
