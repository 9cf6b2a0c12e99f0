/**
 * A telemetry sink that keeps what it gets.
 *
 * @module
 */
import type { LogRecord, Metric, TelemetrySink } from "../../src/telemetry/sink.ts";

/** Measurements and log records, in the order they came. */
export class RecordingSink implements TelemetrySink {
  readonly metrics: Metric[] = [];
  readonly logs: LogRecord[] = [];

  metric(metric: Metric): void {
    this.metrics.push(metric);
  }

  log(record: LogRecord): void {
    this.logs.push(record);
  }

  /** The sum of a counter over every measurement that has all of `labels`. */
  count(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.#of(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  /** The values of a metric, in order. */
  values(name: string, labels: Readonly<Record<string, string>> = {}): readonly number[] {
    return this.#of(name, labels).map(({ value }) => value);
  }

  /** The log records of an event. */
  events(event: string): readonly LogRecord[] {
    return this.logs.filter((record) => record.event === event);
  }

  #of(name: string, labels: Readonly<Record<string, string>>): readonly Metric[] {
    return this.metrics.filter((metric) =>
      metric.name === name && Object.entries(labels).every(([label, value]) => metric.labels[label] === value)
    );
  }
}
