/**
 * Every metric the library writes: name, kind, unit and label set (contract core 7.1).
 *
 * The names are shared by the AceMQ libraries, so one dashboard serves a mixed fleet.
 *
 * @module
 */

/** The table of metrics. Units: `s` seconds, `1` a plain number. */
export const METRICS = {
  "acemq.publish.duration": {
    kind: "histogram",
    unit: "s",
    labels: ["exchange", "routing.key", "message.type", "transport", "outcome"],
  },
  "acemq.publish.total": {
    kind: "counter",
    unit: "1",
    labels: ["exchange", "routing.key", "message.type", "transport", "outcome"],
  },
  "acemq.consume.duration": { kind: "histogram", unit: "s", labels: ["queue", "message.type", "transport", "outcome"] },
  "acemq.consume.total": { kind: "counter", unit: "1", labels: ["queue", "message.type", "transport", "outcome"] },
  "acemq.consume.attempts": { kind: "histogram", unit: "1", labels: ["queue", "message.type", "outcome"] },
  "acemq.consume.in.flight": { kind: "gauge", unit: "1", labels: ["queue"] },
  "acemq.messages.retried.total": { kind: "counter", unit: "1", labels: ["queue"] },
  "acemq.messages.dead.lettered.total": { kind: "counter", unit: "1", labels: ["queue", "outcome"] },
  "acemq.messages.set.aside.failed": { kind: "counter", unit: "1", labels: ["queue", "target"] },
  "acemq.retry.rung.missing": { kind: "counter", unit: "1", labels: ["queue", "rung"] },
  "acemq.idempotency.claims.total": { kind: "counter", unit: "1", labels: ["queue", "outcome"] },
  "acemq.idempotency.takeovers.total": { kind: "counter", unit: "1", labels: ["queue"] },
  "acemq.idempotency.rows": { kind: "gauge", unit: "1", labels: [] },
  "acemq.outbox.lag": { kind: "histogram", unit: "s", labels: ["exchange", "routing.key", "outcome"] },
  "acemq.outbox.total": { kind: "counter", unit: "1", labels: ["exchange", "routing.key", "outcome"] },
  "acemq.outbox.pending": { kind: "gauge", unit: "1", labels: [] },
  "acemq.outbox.retired": { kind: "gauge", unit: "1", labels: [] },
  "acemq.outbox.oldest.age": { kind: "gauge", unit: "s", labels: [] },
} as const;

/** The name of a metric. */
export type MetricName = keyof typeof METRICS;

/** The label names a metric carries. */
export type LabelsOf<Name extends MetricName> = Readonly<Record<typeof METRICS[Name]["labels"][number], string>>;
